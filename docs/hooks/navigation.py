# SPDX-License-Identifier: GPL-2.0-or-later
"""Expands folders in the navigation, and generates a page for each module of the API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """``FOLDER/*`` becomes the folder's pages, README first."""
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def _expanded(entry: Any, docs: Path) -> Any:
    if isinstance(entry, list):
        parts = (_expanded(part, docs) for part in entry)
        return [one for part in parts for one in (part if isinstance(part, list) else [part])]
    if isinstance(entry, dict):
        return {title: _expanded(part, docs) for title, part in entry.items()}
    if not entry.endswith("/*"):
        return entry
    pages = sorted((docs / entry[:-2]).glob("*.md"), key=lambda page: (page.stem != "README", page.name))
    return [page.relative_to(docs).as_posix() for page in pages]


def _uris(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _uris(part)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """A page for each module that the navigation names as ``api/MODULE.md``."""
    for uri in _uris(config.nav):
        if uri.startswith("api/"):
            module = uri.removeprefix("api/").removesuffix(".md")
            files.append(File.generated(config, uri, content=f"# {module}\n\n::: {module}\n"))
    return files

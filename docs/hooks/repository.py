# SPDX-License-Identifier: GPL-2.0-or-later
"""Resolves links to the repository's files and adds those files to the site.

Pages link as the repository's own pages do: ``../examples/ddpg.py``. A file outside of ``docs/`` that is
linked to is on the site below ``repository/``: Markdown as a page, source code as a page with its text,
anything else as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
#: Fenced blocks and code in a line are no links.
_CODE_OR_LINK = re.compile(
    r"^( *)(```|~~~).*?^\1\2|`[^`\n]*`|\]\((?P<target>[^)\s]+)\)", re.MULTILINE | re.DOTALL
)
_LANGUAGES = {".py": "python", ".cc": "cpp", ".h": "cpp", ".yaml": "yaml", ".toml": "toml", ".txt": "text"}


def targets(text: str) -> Iterator[str]:
    """What a page links to, but for other hosts."""
    for found in _CODE_OR_LINK.finditer(text):
        if found["target"] and "://" not in found["target"]:
            yield found["target"]


def path_of(uri: str) -> str:
    """A page of the site as a path in the repository."""
    if uri.startswith("repository/"):
        path = uri.removeprefix("repository/")
        return path if (ROOT / path).exists() else path.removesuffix(".md")
    return f"docs/{uri}"


def uri_of(path: str) -> str:
    """A path in the repository as a page or file of the site."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    rendered = (ROOT / path).is_dir() or PurePosixPath(path).suffix in _LANGUAGES
    return f"repository/{path}.md" if rendered else f"repository/{path}"


def resolved(page: str, target: str) -> tuple[str, str]:
    """Path in the repository, and anchor ("#..." or ""), of a link on the page (a path in the repository).

    Raises PluginError where there is nothing.
    """
    before, hash_sign, anchor = target.partition("#")
    path = os.path.normpath(PurePosixPath(page).parent / before) if before else page
    if path.startswith("..") or not (ROOT / path).exists():
        raise PluginError(f"{page}: links to {target}, and there is no {path} in the repository")
    return path, hash_sign + anchor


def made(path: str, config: MkDocsConfig) -> File:
    """The site's page or file of a path outside of ``docs/``."""
    uri, file = uri_of(path), ROOT / path
    if file.is_dir():
        entries = sorted(p.name + "/" * p.is_dir() for p in file.iterdir() if p.name[0] not in "._")
        return File.generated(config, uri, content=f"# {path}/\n\n" + "".join(f"- `{e}`\n" for e in entries))
    language = _LANGUAGES.get(file.suffix)
    if language is None:
        return File.generated(config, uri, abs_src_path=str(file))
    text = file.read_text(encoding="utf-8")
    return File.generated(config, uri, content=f"# {path}\n\n~~~~{language}\n{text}~~~~\n")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what is linked to, and what that links to."""
    waiting = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    while waiting:
        page = waiting.pop()
        for target in targets((ROOT / page).read_text(encoding="utf-8")):
            path, _ = resolved(page, target)
            if path.startswith("docs/") or uri_of(path) in files.src_uris:
                continue
            files.append(made(path, config))
            if path.endswith(".md"):
                waiting.append(path)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links between the repository's files into links between the site's."""
    here = page.file.src_uri
    if here.startswith("api/") or not path_of(here).endswith(".md"):
        return markdown

    def rewritten(found: re.Match[str]) -> str:
        target = found["target"]
        if not target or "://" in target or target.startswith("#"):
            return found[0]
        path, anchor = resolved(path_of(here), target)
        uri = uri_of(path)
        if (ROOT / path).is_dir() and path.startswith("docs/"):  # a folder of pages: the first of them
            uri = min(
                file.src_uri for file in files.documentation_pages() if file.src_uri.startswith(f"{uri}/")
            )
        return f"]({os.path.relpath(uri, PurePosixPath(here).parent)}{anchor})"

    return _CODE_OR_LINK.sub(rewritten, markdown)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds the page of all tasks to the site, made from their declarations."""

from __future__ import annotations

import runpy
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

MAKER = Path(__file__).parents[1] / "make" / "task_pages.py"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """``each-task.md`` is made by docs/make/task_pages.py."""
    files.append(File.generated(config, "each-task.md", content=runpy.run_path(str(MAKER))["page"]()))
    return files

# SPDX-License-Identifier: GPL-2.0-or-later
"""One HTML file out of the page's parts: nothing is fetched when it is opened."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

_PAGE = Path(__file__).parent / "page"
_VENDOR = Path(__file__).parent / "vendor" / "dygraphs-2.2.1"

#: First line of each film: what has it may be replaced.
MARK = "<!-- film of ns3-env -->"
#: The page's script, in the order of reading.
_SCRIPTS = (
    "unpack.js",
    "units.js",
    "colours.js",
    "run.js",
    "selection.js",
    "clock.js",
    "picture.js",
    "picture-draw.js",
    "pointing.js",
    "charts.js",
    "panels.js",
    "table.js",
    "keys.js",
    "film.js",
)


def render(content: Mapping[str, Any]) -> str:
    """The page's text; ``content``: of ``ns3_env.eval.film.content``."""
    scripts = "\n".join(_read(_PAGE / name) for name in _SCRIPTS)
    parts = {
        "title": escape(str(content["title"])),
        "style": _read(_VENDOR / "dygraph.min.css") + _read(_PAGE / "film.css"),
        "library": f"/* {_read(_VENDOR / 'LICENSE.txt')} */\n{_read(_VENDOR / 'dygraph.min.js')}",
        "content": json.dumps(content, separators=(",", ":")).replace("</", "<\\/"),
        "script": f'(() => {{\n"use strict";\n{scripts}\n}})();',
    }
    text = _read(_PAGE / "film.html")
    for name, part in parts.items():
        head, tail = text.split(f"[[{name}]]")
        text = head + part + tail
    return f"{MARK}\n{text}"


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")

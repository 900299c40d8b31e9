# SPDX-License-Identifier: GPL-2.0-or-later
"""One HTML file out of the page's parts: nothing is fetched when it is opened."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

_PAGE = Path(__file__).parent / "page"
#: Scripts that other pages share.
UNITS, COLOURS = _PAGE / "units.js", _PAGE / "colours.js"
_VENDOR = Path(__file__).parent / "vendor" / "dygraphs-2.2.1"

#: Place of a part in a page.
_PLACE = re.compile(r"\[\[(\w+)\]\]")
#: First line of each film: only files with it may be replaced.
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
    parts = {
        **look([], [_PAGE / name for name in _SCRIPTS]),
        "title": escape(str(content["title"])),
        "content": json.dumps(content, separators=(",", ":")).replace("<", "\\u003c"),
    }
    return f"{MARK}\n{fill(_PAGE / 'film.html', parts)}"


def look(styles: Sequence[Path], scripts: Sequence[Path]) -> dict[str, str]:
    """The parts "style", "library" and "script" of a page that looks like a film; its own come last."""
    script = "\n".join(_read(file) for file in scripts)
    return {
        "style": "".join(map(_read, (_VENDOR / "dygraph.min.css", _PAGE / "film.css", *styles))),
        "library": f"/* {_read(_VENDOR / 'LICENSE.txt')} */\n{_read(_VENDOR / 'dygraph.min.js')}",
        "script": f'(() => {{\n"use strict";\n{script}\n}})();',
    }


def fill(page: Path, parts: Mapping[str, str]) -> str:
    """A page's file with its parts instead of their names, [[name]]; parts are inserted unchanged."""
    return _PLACE.sub(lambda place: parts[place[1]], _read(page))


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")

# SPDX-License-Identifier: GPL-2.0-or-later
"""The dashboard's page: the look of films, and scripts of its own."""

from __future__ import annotations

from pathlib import Path

from ns3_env.eval.film.page import COLOURS, UNITS, fill, look

_PAGE = Path(__file__).parent / "page"
_SCRIPTS = ("log.js", "panels.js", "cards.js", "dashboard.js")


def render() -> str:
    """The page's text; it asks for ``data`` where it came from."""
    scripts = [UNITS, COLOURS, *(_PAGE / name for name in _SCRIPTS)]
    return fill(_PAGE / "dashboard.html", look([_PAGE / "dashboard.css"], scripts))

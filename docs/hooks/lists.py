# SPDX-License-Identifier: GPL-2.0-or-later
"""Indents lists by four, so that the site shows them as the repository's pages do.

CommonMark takes what stands below an item's text for a part of it (two spaces after ``- ``, three after
``1. ``); Python-Markdown, which builds the site, asks for four, and for an empty line before a list. A number
but 1 in the midst of a paragraph begins no list.
"""

from __future__ import annotations

import re
from typing import Any

_ITEM = re.compile(r"(?:[-*]|\d+\.) +(?=\S)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page with its lists as Python-Markdown has them; fenced blocks stay as they are."""
    lines: list[str] = []
    width, fenced = 0, False  # of the item's marker, 0 outside of lists
    for line in markdown.split("\n"):
        if line.startswith(("```", "~~~")):
            fenced, width = not fenced, 0
        elif not fenced:
            after_text = bool(lines and lines[-1].strip())
            item = _ITEM.match(line)
            if item and (width or not after_text or item[0].startswith(("-", "*", "1."))):
                if not width and after_text:
                    lines.append("")
                width = len(item[0])
            elif width and line.startswith(" " * width):
                line = " " * 4 + line[width:]
            elif line.strip() and not after_text:
                width = 0
        lines.append(line)
    return "\n".join(lines)

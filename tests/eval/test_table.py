# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and progress lines fit a terminal of 80 columns, and no number is truncated."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from ns3_env.eval.output.table import new_table, print_table

NUMBERS = [f"{10**7 * i + i:,}" for i in range(1, 12)]


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", console.file.getvalue())


@pytest.mark.parametrize("width", [40, 80, 300])
@pytest.mark.parametrize("count", [3, 11])
def test_a_table_shows_every_number_whole_in_any_width(width: int, count: int) -> None:
    console = Console(width=width, file=io.StringIO())
    headings = [f"a heading\nof {i}" for i in range(count)]
    table = new_table("title", "controller", headings, words=("what happened",))
    table.add_row("a-controller-of-a-long-name", "words " * 12, *NUMBERS[:count])
    table.add_section()
    table.add_row("[bold]b[/]", "–", *NUMBERS[:count])
    print_table(table, console)
    lines = shown(console).splitlines()
    assert max(map(len, lines)) <= width
    for number in NUMBERS[:count]:
        assert sum(number in line for line in lines) == 2
    assert "…" not in shown(console)
    assert "title" in lines[0]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and progress lines fit a terminal of 80 columns, and no number is truncated."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from ns3_env.agents.training.progress import LiveLine
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


@pytest.mark.parametrize("width", [50, 80, 140])
def test_the_live_line_keeps_count_and_time_left_and_drops_what_matters_less(width: int) -> None:
    console = Console(width=width, file=io.StringIO(), force_terminal=True, force_interactive=True)
    live = LiveLine(console, "decisions", 200_000)
    live._at = -1e9
    live.start()
    parts = ["16-to-1", "1,234/s", "validated -0.123", "reward -0.123", "slowdown 2.34", "queue kB 123.4"]
    live.show(120_000, lambda: parts)
    live.close()
    last = shown(console).splitlines()[-1].strip()
    assert "120000/200000" in last
    assert re.search(r"[\d-]:[\d-]{2}:[\d-]{2}", last)
    assert "16-to-1" in last
    assert ("1,234/s" in last) == (width >= 80)
    assert ("queue kB" in last) == (width >= 140)
    assert "…" not in last
    assert len(last) <= width

# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the claims of a page's experiments and their verdicts from the page itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ns3_env.eval.paper.show import CLAIMS, VERDICTS

_CELLS = re.compile(r"(?<!\\) \| ")


def verdicts(block: str) -> list[tuple[str, str, str]]:
    """(claim, verdict, evidence up to its first semicolon) of each row of the claims' table in an
    experiment's Markdown, as they stand there."""
    _, _, table = block.partition(f"**{CLAIMS}**\n")
    rows = (_CELLS.split(line.strip("| ")) for line in table.splitlines())
    return [
        (row[0], row[1], row[2].split(";")[0])
        for row in rows
        if len(row) == 3 and row[1] in VERDICTS.values()
    ]


def summary(blocks: Mapping[str, str]) -> str:
    """A table of all claims, from each experiment's Markdown by its name."""
    lines = ["| claim (section) | verdict | evidence | experiment |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {claim} | {verdict} | {evidence} | {name} |"
        for name, block in blocks.items()
        for claim, verdict, evidence in verdicts(block)
    ]
    return "\n".join(lines) + "\n"

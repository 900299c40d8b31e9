# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts measured tables between two marks of a page, from the experiments' JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from ns3_env.config.files import write_file
from ns3_env.errors import ScenarioError
from ns3_env.eval.papers.show import CLAIMS, VERDICTS, markdown

#: An experiment's numbers; it marks a folder as one's.
RESULT = "result.json"
#: The block that sums up the others.
_CLAIMS = "claims"
_CELLS = re.compile(r"(?<!\\) \| ")
_BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


def refresh(page: Path, runs: Path, pictures: Path) -> list[str]:
    """Puts tables and pictures of the experiments in ``runs`` between the page's marks.

    A block is ``<!-- begin NAME -->`` ... ``<!-- end NAME -->``; one whose experiment was not run stays. The
    block ``claims`` gets the claims of all others, with their verdicts.

    Args:
        page: Markdown.
        runs: holds a folder NAME for each experiment.
        pictures: gets their PNGs.

    Returns:
        Names of the experiments whose block was written.

    Raises:
        ScenarioError: the page has no blocks, or an experiment's JSON cannot be read.
    """
    text = page.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise ScenarioError(f"--page: {page} has no <!-- begin NAME --> ... <!-- end NAME -->")
    done: list[str] = []

    def block(found: re.Match[str]) -> str:
        folder = runs / found[2]
        if not (folder / RESULT).exists():
            return found[0]
        try:
            result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{folder / RESULT}: no experiment's JSON: {error}") from None
        pictures.mkdir(parents=True, exist_ok=True)
        for name in result["pictures"]:
            shutil.copyfile(folder / name, pictures / name)
        done.append(found[2])
        return found[1] + markdown(result, os.path.relpath(pictures, page.parent) + "/") + found[3]

    text = _BLOCK.sub(block, text)
    write_file(page, _BLOCK.sub(_with_claims(text), text))
    return done


def _verdicts(block: str) -> list[tuple[str, str, str]]:
    """(claim, verdict, evidence up to its first semicolon) of each row of the claims' table in an
    experiment's Markdown, as they stand there."""
    _, _, table = block.partition(f"**{CLAIMS}**\n")
    rows = (_CELLS.split(line.strip("| ")) for line in table.splitlines())
    return [
        (row[0], row[1], row[2].split(";")[0])
        for row in rows
        if len(row) == 3 and row[1] in VERDICTS.values()
    ]


def _summary(blocks: Mapping[str, str]) -> str:
    """A table of all claims, from each experiment's Markdown by its name."""
    lines = ["| claim (section) | verdict | evidence | experiment |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {claim} | {verdict} | {evidence} | {name} |"
        for name, block in blocks.items()
        for claim, verdict, evidence in _verdicts(block)
    ]
    return "\n".join(lines) + "\n"


def _with_claims(text: str) -> Callable[[re.Match[str]], str]:
    """Puts the summary of all blocks into the block of claims, and leaves others as they are."""
    blocks = {found[2]: found[0] for found in _BLOCK.finditer(text)}
    return lambda found: found[1] + _summary(blocks) + found[3] if found[2] == _CLAIMS else found[0]

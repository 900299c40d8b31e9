# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows an experiment's outcome from its JSON: on the terminal, and as Markdown on a page."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.table import Table

from ns3_env.config.files import write_file
from ns3_env.errors import ScenarioError

#: A verdict in words, by whether the claim holds.
VERDICTS: dict[bool | None, str] = {True: "holds", False: "does not hold", None: "cannot be told"}
#: Cells no wider than this are not folded.
_NARROW = 16
#: An experiment's numbers; it marks a folder as one's.
RESULT = "result.json"
#: The block of a page that sums up the others.
_CLAIMS = "claims"
_BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)


@dataclass(frozen=True)
class TextTable:
    """A table ready to be read: cells are texts; ``words`` of its columns are words, the rest numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def number(value: float | str | Mapping[str, float] | None, digits: int = 4) -> str:
    """So many digits that count, in groups of three; "–" for what is not defined; text as it is.

    A number over several seeds is "mean [low, high]".
    """
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    if isinstance(value, Mapping):
        mean, *interval = (number(value[name], digits) for name in ("mean", "low", "high"))
        return mean if interval == [mean, mean] else f"{mean} [{', '.join(interval)}]"
    if value == round(value) or abs(value) >= 1000:
        return f"{round(value):,}"
    return f"{value:.{digits}g}"


def tables(result: Mapping[str, Any]) -> list[TextTable]:
    """The tables of an experiment's JSON: published against ours, what is only drawn, verdicts."""
    several = []
    if result["rows"]:
        rows = [_compared(row) for row in result["rows"]]
        heads = ("quantity", "source", "published", "ours", "deviation")
        several.append(TextTable("Published and ours", heads, rows, 2))
    several += [
        TextTable(
            grid["title"],
            grid["columns"],
            [[number(x, 3) for x in row] for row in grid["rows"]],
            sum(isinstance(x, str) for x in grid["rows"][0]) if grid["rows"] else 1,
        )
        for grid in result["grids"]
    ]
    if result["claims"]:
        rows = [(x["text"], VERDICTS[x["holds"]], x["evidence"]) for x in result["claims"]]
        several.append(TextTable("Claims", ("claim", "verdict", "evidence"), rows, 3))
    return several


def _compared(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = f"{row['what']} ({row['unit']})" if row["unit"] else row["what"]
    deviation = "–" if row["deviation"] is None else f"{round(100 * row['deviation'], 1) + 0.0:+.1f} %"
    return what, row["where"], number(row["published"]), number(row["ours"]), deviation


def show(result: Mapping[str, Any], console: Console) -> None:
    """Prints tables and notes."""
    for table in tables(result):
        shape = Table(
            title=table.title, title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False
        )
        for i, heading in enumerate(table.columns):
            widest = max((len(row[i]) for row in table.rows), default=0)
            side: Literal["left", "right"] = "left" if i < table.words else "right"
            shape.add_column(heading, justify=side, min_width=min(widest, _NARROW), overflow="fold")
        for row in table.rows:
            shape.add_row(*row)
        console.print(shape)
    for note in result["notes"]:
        console.print(f"- {note}", highlight=False)


def markdown(result: Mapping[str, Any], pictures: str = "") -> str:
    """Pictures, tables and notes of an experiment's JSON as Markdown.

    Args:
        result: the JSON.
        pictures: the folder they are in, seen from the page.
    """
    blocks = [
        "\n".join(f"![{name.removesuffix('.png')}]({pictures}{name})" for name in result["pictures"]),
        f"*{result['size'][0].upper()}{result['size'][1:]}.*",
    ]
    for table in tables(result):
        lines = [f"**{table.title}**", "", _line(table.columns)]
        lines.append("".join("|---" if i < table.words else "|---:" for i in range(len(table.columns))) + "|")
        lines += [_line(row) for row in table.rows]
        blocks.append("\n".join(lines))
    blocks.append("\n".join(f"- {note}" for note in result["notes"]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def refresh(page: Path, runs: Path, pictures: Path) -> list[str]:
    """Puts tables and pictures of the experiments in ``runs`` between the page's marks.

    A block is ``<!-- begin NAME -->`` ... ``<!-- end NAME -->``; one whose experiment was not run stays. The
    block ``claims`` counts the verdicts of all others.

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
    names: list[str] = []

    def block(match: re.Match[str]) -> str:
        folder = runs / match[2]
        if not (folder / RESULT).exists():
            return match[0]
        try:
            result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{folder / RESULT}: no experiment's JSON: {error}") from None
        pictures.mkdir(parents=True, exist_ok=True)
        for name in result["pictures"]:
            shutil.copyfile(folder / name, pictures / name)
        names.append(match[2])
        return match[1] + markdown(result, os.path.relpath(pictures, page.parent) + "/") + match[3]

    text = _BLOCK.sub(block, text)
    summary = _summary({match[2]: match[0] for match in _BLOCK.finditer(text)})
    write_file(page, _BLOCK.sub(lambda x: x[1] + summary + x[3] if x[2] == _CLAIMS else x[0], text))
    return names


def _summary(blocks: Mapping[str, str]) -> str:
    """Counts the verdicts in each experiment's Markdown, by its name."""
    lines = [_line(("experiment", *VERDICTS.values())), "|---|---:|---:|---:|"]
    for name, block in blocks.items():
        if name == _CLAIMS:
            continue
        counts = [block.count(f" | {verdict} | ") for verdict in VERDICTS.values()]
        if any(counts):
            lines.append(_line((f"[{name}](#{name})", *map(str, counts))))
    return "\n".join(lines) + "\n"

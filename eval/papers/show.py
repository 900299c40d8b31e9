# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows an experiment's outcome from its JSON: on the terminal, as text, and as Markdown on a page."""

from __future__ import annotations

import io
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
#: Titles of the tables that pages show.
_COMPARED, _JUDGED = "Published and ours", "Claims"
#: A page shows a number that is so many percent away from the paper's.
_MENTIONED = 5
#: Columns of the text that holds all tables.
_TEXT_WIDTH = 160
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
        several.append(TextTable(_COMPARED, heads, rows, 2))
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
        several.append(TextTable(_JUDGED, ("claim", "verdict", "evidence"), rows, 3))
    return several


def _compared(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = f"{row['what']} ({row['unit']})" if row["unit"] else row["what"]
    deviation = "–" if row["deviation"] is None else f"{round(100 * row['deviation'], 1) + 0.0:+.1f} %"
    return what, row["where"], number(row["published"]), number(row["ours"]), deviation


def show(result: Mapping[str, Any], console: Console) -> None:
    """Prints tables and notes."""
    print_tables(tables(result), result["notes"], console)


def print_tables(several: Sequence[TextTable], notes: Sequence[str], console: Console) -> None:
    """Prints tables, their titles above, and notes behind."""
    for table in several:
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
    for note in notes:
        console.print(f"- {note}", highlight=False)


def write_text(path: Path, several: Sequence[TextTable], notes: Sequence[str]) -> None:
    """Writes notes and all tables but the verdicts as text, its lines up to 160 columns."""
    text = io.StringIO()
    console = Console(file=text, width=_TEXT_WIDTH)
    for table in several:
        if table.title != _JUDGED:
            print_tables([table], (), console)
            console.print()
    print_tables((), notes, console)
    write_file(path, "\n".join(line.rstrip() for line in text.getvalue().rstrip().splitlines()) + "\n")


def markdown(
    pictures: Sequence[str], size: str, several: Sequence[TextTable], text: str | None = None
) -> str:
    """Returns a page's block of an experiment: pictures, what differs from the paper, verdicts.

    Args:
        pictures: of the experiment, seen from the page.
        size: what was played.
        several: its tables.
        text: the file that has the other tables, seen from the page; None without one.
    """
    more = f" [All numbers]({text})." if text else ""
    blocks = [
        "\n".join(f"![{Path(name).stem}]({name})" for name in pictures),
        f"*{size[0].upper()}{size[1:]}.*{more}",
    ]
    for table in filter(None, map(_for_page, several)):
        lines = [f"**{table.title}**", "", _line(table.columns)]
        lines.append("".join("|---" if i < table.words else "|---:" for i in range(len(table.columns))) + "|")
        lines += [_line(row) for row in table.rows]
        blocks.append("\n".join(lines))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _for_page(table: TextTable) -> TextTable | None:
    """What a page shows of a table: all verdicts, numbers that are far from the paper's, nothing else."""
    if table.title == _JUDGED:
        return table
    if table.title != _COMPARED:
        return None
    rows = [row for row in table.rows if row[-1] != "–" and abs(float(row[-1].split()[0])) > _MENTIONED]
    title = f"More than {_MENTIONED} % from the paper's number"
    return TextTable(title, table.columns, rows, table.words) if rows else None


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def refresh(page: Path, runs: Path, pictures: Path) -> list[str]:
    """Puts pictures and verdicts of the experiments in ``runs`` between the page's marks.

    The other tables go to ``tables/NAME.txt`` beside the page.

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
        folder_of_pictures = os.path.relpath(pictures, page.parent)
        several, text = tables(result), Path("tables") / f"{match[2]}.txt"
        (page.parent / text.parent).mkdir(exist_ok=True)
        write_text(page.parent / text, several, result["notes"])
        shown = [f"{folder_of_pictures}/{name}" for name in result["pictures"]]
        return match[1] + markdown(shown, result["size"], several, str(text)) + match[3]

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

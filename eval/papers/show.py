# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows an experiment's outcome from its JSON: on the terminal, on a page, in a CSV next to it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from ns3_env.config.files import write_file, write_files
from ns3_env.errors import ScenarioError
from ns3_env.eval.output.table import csv_text, new_table, print_table

#: A verdict in words, by whether the claim holds.
VERDICTS: dict[bool | None, str] = {True: "holds", False: "does not hold", None: "cannot be told"}
#: An experiment's numbers; it marks a folder as one's.
RESULT = "result.json"
#: A page shows the numbers that deviate from the paper's by more than this; the CSV has all of them.
CLOSE = 0.1
#: Folder of the CSVs, next to the page.
TABLES = "tables"
#: The block of a page that summarizes the other blocks.
_CLAIMS = "claims"
_BLOCK = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end \2 -->)", re.DOTALL)
#: The comma of "12,960".
_GROUPS = re.compile(r"(?<=\d),(?=\d{3})")


@dataclass(frozen=True)
class TextTable:
    """A table ready to be read: cells are texts; ``words`` of its columns are words, the rest numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def number(value: float | str | Mapping[str, float] | None, digits: int = 4) -> str:
    """Formats with ``digits`` significant digits, in groups of three; "–" if undefined; text as it is.

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


def _number_tables(result: Mapping[str, Any]) -> list[TextTable]:
    """Returns tables of the published numbers next to ours, and of numbers that the paper only plots."""
    heads = ("quantity", "source", "published", "ours", "deviation")
    compared = TextTable("Published and ours", heads, [_compared(row) for row in result["rows"]], 2)
    grids = [
        TextTable(
            grid["title"],
            grid["columns"],
            [[number(x, 3) for x in row] for row in grid["rows"]],
            sum(isinstance(x, str) for x in grid["rows"][0]) if grid["rows"] else 1,
        )
        for grid in result["grids"]
    ]
    return [compared, *grids] if compared.rows else grids


def _claims_table(claims: Sequence[Mapping[str, Any]]) -> TextTable:
    rows = [(claim["text"], VERDICTS[claim["holds"]], claim["evidence"]) for claim in claims]
    return TextTable("Claims", ("claim", "verdict", "evidence"), rows, 3)


def _compared(row: Mapping[str, Any]) -> tuple[str, ...]:
    what = f"{row['what']} ({row['unit']})" if row["unit"] else row["what"]
    deviation = "–" if row["deviation"] is None else f"{round(100 * row['deviation'], 1) + 0.0:+.1f} %"
    return what, row["where"], number(row["published"]), number(row["ours"]), deviation


def show(result: Mapping[str, Any], console: Console) -> None:
    """Prints tables of numbers, verdicts and notes."""
    verdicts = [_claims_table(result["claims"])] if result["claims"] else []
    for table in (*_number_tables(result), *verdicts):
        first, *words = table.columns[: table.words] or [""]
        shape = new_table(table.title, first, table.columns[table.words :], words=words)
        for row in table.rows:
            shape.add_row(*row)
        print_table(shape, console)
    for note in result["notes"]:
        console.print(f"- {note}", highlight=False)


def markdown(result: Mapping[str, Any], pictures: str = "", numbers: str = "") -> str:
    """Returns pictures, deviations from the paper, claims and notes of an experiment's JSON as Markdown.

    ``pictures`` is their folder, ``numbers`` the CSV of all numbers, if any, relative to the page.
    """
    link = f" [All numbers]({numbers})." if numbers else ""
    blocks = [
        "\n".join(f"![{name.removesuffix('.png')}]({pictures}{name})" for name in result["pictures"]),
        f"*{result['size'][0].upper()}{result['size'][1:]}.*{link}",
        *_deviations(result["rows"]),
    ]
    if result["claims"]:
        blocks.append(_table_lines(_claims_table(_without_repetition(result["claims"]))))
    blocks.append("\n".join(f"- {note}" for note in result["notes"]))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _deviations(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns a sentence on how many of the paper's numbers are near ours, and a table of the rest."""
    pairs = [row for row in rows if row["deviation"] is not None]
    far = [row for row in pairs if abs(row["deviation"]) > CLOSE]
    if not pairs:
        return []
    sentence = f"Within {100 * CLOSE:g} % of the paper's numbers: {len(pairs) - len(far)} of {len(pairs)}"
    if not far:
        return [f"{sentence}."]
    cells = [(what, published, simulated) for what, _, published, simulated, _ in map(_compared, far)]
    return [f"{sentence}. The others:", _table_lines(TextTable("", ("quantity", "published", "ours"), cells))]


def _without_repetition(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the claims; a claim that only adds "; ..." to the one above it reads "The same, ..."."""
    short: list[dict[str, Any]] = []
    above = None
    for claim in claims:
        text = claim["text"]
        more = text.removeprefix(f"{above}; ")
        above = text if more == text else above
        short.append({**claim, "text": text if more == text else f"The same, {more}"})
    return short


def _table_lines(table: TextTable) -> str:
    """Returns a table as Markdown, without its title."""
    rule = "".join("|---" if i < table.words else "|---:" for i in range(len(table.columns)))
    return "\n".join([_line(table.columns), f"{rule}|", *map(_line, table.rows)])


def tables_csv(result: Mapping[str, Any]) -> str:
    """Returns all numbers of an experiment's JSON as CSV: of each table its title, its heads, its rows.

    An empty line separates two tables. "": the experiment has none.
    """
    texts = []
    for table in _number_tables(result):
        numbers = [[_GROUPS.sub("", cell) for cell in row[table.words :]] for row in table.rows]
        rows = [[*row[: table.words], *cells] for row, cells in zip(table.rows, numbers, strict=True)]
        texts.append(csv_text([table.title], [table.columns, *rows]))
    return "\n".join(texts)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def refresh(page: Path, runs: Path, pictures: Path) -> list[str]:
    """Puts claims and pictures of the experiments in ``runs`` between the page's marks.

    A block is ``<!-- begin NAME -->`` ... ``<!-- end NAME -->``; one whose experiment was not run stays. The
    block ``claims`` counts all other verdicts. Numbers go to ``tables/NAME.csv`` next to the page.

    Returns the names of the experiments whose block was written; ``pictures`` gets their PNGs.

    Raises:
        ScenarioError: the page has no blocks, or an experiment's JSON cannot be read.
    """
    text = page.read_text(encoding="utf-8")
    if not _BLOCK.search(text):
        raise ScenarioError(f"--page: {page} has no <!-- begin NAME --> ... <!-- end NAME -->")
    names: list[str] = []

    def block(match: re.Match[str]) -> str:
        file = runs / match[2] / RESULT
        if not file.exists():
            return match[0]
        try:
            result = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{file}: no experiment's JSON: {error}") from None
        names.append(match[2])
        pictures.mkdir(parents=True, exist_ok=True)
        for name in result["pictures"]:
            shutil.copyfile(file.parent / name, pictures / name)
        numbers = {f"{TABLES}/{match[2]}.csv": text} if (text := tables_csv(result)) else {}
        write_files(page.parent, numbers)
        folder = os.path.relpath(pictures, page.parent) + "/"
        return match[1] + markdown(result, folder, *numbers) + match[3]

    text = _BLOCK.sub(block, text)
    summary = _summary({match[2]: match[0] for match in _BLOCK.finditer(text) if match[2] != _CLAIMS})
    write_file(page, _BLOCK.sub(lambda x: x[1] + summary + x[3] if x[2] == _CLAIMS else x[0], text))
    return names


def _summary(blocks: Mapping[str, str]) -> str:
    """Counts the verdicts in each experiment's Markdown, by its name."""
    lines = [_line(("experiment", *VERDICTS.values())), "|---|---:|---:|---:|"]
    for name, block in blocks.items():
        counts = [block.count(f" | {verdict} | ") for verdict in VERDICTS.values()]
        if any(counts):
            lines.append(_line((f"[{name}](#{name})", *map(str, counts))))
    return "\n".join(lines) + "\n"

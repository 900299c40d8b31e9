# SPDX-License-Identifier: GPL-2.0-or-later
"""Result tables on the terminal, the same numbers as JSON or CSV, and CSV read back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ns3_env.config.command_line import import_extra, new_console
from ns3_env.config.files import write_atomically
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.metrics import METRICS, own_names

if TYPE_CHECKING:
    import pandas

#: (metric, heading, format) of the columns, in order.
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("fct_slowdown_avg", "slowdown\navg", ".2f"),
    ("fct_slowdown_p99", "\np99", ".2f"),
    ("queue_avg_bytes", "queue (B)\navg", ",.0f"),
    ("queue_p99_bytes", "\np99", ",.0f"),
    ("goodput", "\ngoodput", ".3f"),
    ("unfair_ratio", "unfair\nratio", ".2g"),
    ("pfc_frames", "PFC\npause", ",.0f"),
    ("unfinished_flows", "not\ndone", ",.0f"),
)
#: The column that is shown only if a controller lost packets.
LOST = ("dropped_packets", "packets\nlost", ",.0f")


#: The column that is shown only if the deployed controller and the oracle were run.
WAY = ("way", "way\n%", ".0f")
#: The column of round trips, if there are any, and the column that it replaces.
RTT = ("rtt_p99_us", "RTT µs\np99", ",.0f")
_OF_RDMA = "pfc_frames"


def cell(value: float, form: str) -> str:
    """The number as shown; "–" if it is not defined."""
    return "–" if math.isnan(value) else format(value, form)


def new_table(
    title: str,
    first: str,
    headings: Iterable[str],
    padding: int | tuple[int, int, int, int] = 0,
    edge: bool = False,
    words: Iterable[str] = (),
) -> Table:
    """Returns a table for :func:`print_table` without rows: a column of names, those of ``words``, and one of
    numbers for each heading."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=padding, show_edge=edge)
    for heading in (first, *words):
        table.add_column(heading)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


#: A column of words may be made as narrow as this.
_NARROW = 16


def print_table(table: Table, console: Console | None = None) -> None:
    """Prints a table in the available width, without truncating a number.

    Headings and columns of words (those to the left) fold; columns of numbers (those to the right) that find
    no room follow below, with the first column repeated.
    """
    console = console or new_console()

    def widest(texts: Iterable[object]) -> int:
        lines = [line for text in texts for line in console.render_str(str(text)).plain.split("\n")]
        return max(map(cell_len, lines), default=1)

    headings = [str(column.header) for column in table.columns]
    words = [column.justify == "left" for column in table.columns]
    folded = [
        max(widest(x.cells), widest(heading.split()))
        for x, heading in zip(table.columns, headings, strict=True)
    ]
    least = [min(width, _NARROW) if w else width for width, w in zip(folded, words, strict=True)]
    gap = 1 + table.padding[1] + table.padding[3]
    room = console.width + 1 - 2 * table.show_edge
    blocks: list[list[int]] = [[0]]
    for i in range(1, len(headings)):
        if len(blocks[-1]) > 1 and sum(least[x] + gap for x in (*blocks[-1], i)) > room:
            blocks.append([0])
        blocks[-1].append(i)
    for block in blocks:
        widths = {i: max(folded[i], widest([headings[i]])) for i in block}
        if sum(widths.values()) + gap * len(block) > room:
            widths = {i: folded[i] for i in block}
        while sum(widths.values()) + gap * len(block) > room:  # the widest words fold
            i = max((i for i in block if words[i]), key=lambda i: widths[i])
            if widths[i] == 1:
                break
            widths[i] -= 1
        part = Table(title=table.title if block is blocks[0] else None, title_justify="left", box=table.box)
        part.padding, part.show_edge, part.rows = table.padding, table.show_edge, table.rows
        part.columns = [
            replace(table.columns[i], width=widths[i], no_wrap=False, overflow="fold", _index=at)
            for at, i in enumerate(block)
        ]
        console.print(part)


def markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> list[str]:
    """Returns the lines of a Markdown table; the first ``names`` columns are left-aligned."""
    under = "|" + "---|" * names + "--:|" * (len(headings) - names)
    return [f"| {' | '.join(headings)} |", under, *(f"| {' | '.join(row)} |" for row in rows)]


def markdown_cell(text: str) -> str:
    """A name that ends no cell of a Markdown table and starts no tag."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;").replace("`", "'")


def show(title: str, rows: Mapping[str, Mapping[str, float]], console: Console | None = None) -> None:
    """Prints one row for each controller."""
    columns = [*COLUMNS, LOST] if any(metrics[LOST[0]] > 0 for metrics in rows.values()) else [*COLUMNS]
    if any(RTT[0] in metrics for metrics in rows.values()):
        columns = [RTT if column[0] == _OF_RDMA else column for column in columns]
    if any(WAY[0] in metrics for metrics in rows.values()):
        columns.insert(2, WAY)
    table = new_table(title, "\ncontroller", (heading for _, heading, _ in columns))
    for name, metrics in rows.items():
        table.add_row(name, *(cell(metrics.get(metric, math.nan), form) for metric, _, form in columns))
    print_table(table, console)
    if own_names():
        metric_rows = [
            (name, [metrics.get(metric, math.nan) for metric in own_names()])
            for name, metrics in rows.items()
        ]
        print_table(of_own_metrics(metric_rows), console)


def of_own_metrics(rows: Iterable[tuple[str | Text, Sequence[float]]]) -> Table:
    """A table of the metrics that the user named.

    Args:
        rows: a name, and a value for each of ``own_names()``; a name without values is a heading.
    """
    table = new_table("", "controller", own_names())
    for heading, values in rows:
        numbers = (cell(x, METRICS[metric].format) for metric, x in zip(own_names(), values, strict=False))
        table.add_row(heading, *numbers)
    return table


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Writes ``content``; the file is complete or not there."""
    write_atomically(path, json.dumps(content, indent=2, sort_keys=False, allow_nan=False) + "\n")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A header and rows as CSV; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


#: Advice about a cell's file that cannot be read.
RUN_AGAIN = "delete the cell's folder and run it again"


def read_csv(
    path: Path,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    text: Sequence[str] = (),
    hint: str = RUN_AGAIN,
) -> pandas.DataFrame:
    """Reads columns of a CSV: those of ``text`` as str, other columns as float; an empty field is NaN.

    Args:
        path: the file.
        columns: names of required columns.
        optional: names of columns that are read if present.
        text: names of columns that are no numbers.
        hint: advice on a file that cannot be read.

    Raises:
        ConfigError: pandas is not installed.
        ScenarioError: the file cannot be read, lacks a column, or has something else in it.
    """
    try:
        frame: pandas.DataFrame = import_extra("pandas").read_csv(
            path,
            usecols=lambda name: name in columns or name in optional,
            dtype=dict.fromkeys(text, str),
            keep_default_na=False,
            na_values=["", "nan"],
        )
        if lacking := [name for name in columns if name not in frame]:
            raise ValueError(f"there is no {', '.join(lacking)}")
        return frame.astype({name: "float64" for name in frame if name not in text})
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}; {hint}") from None
    except ValueError as error:
        expected = f"expected columns {', '.join(columns)} ({str(error).strip()})"
        raise ScenarioError(f"{path}: {expected}; {hint}") from None


def write_parquet(frame: pandas.DataFrame, path: Path) -> Path:
    """Writes a frame, and returns the file's path.

    Raises:
        ConfigError: pyarrow is not installed.
        ScenarioError: the file is a symbolic link.
    """
    refuse_link(path)
    import_extra("pyarrow")
    write_atomically(path, frame.to_parquet(None, index=False, engine="pyarrow"))
    return path


def lacking(*names: str) -> str | None:
    """Returns how to install the missing packages; None if none is missing."""
    try:
        for name in names:
            import_extra(name)
    except ConfigError as error:
        return str(error)
    return None

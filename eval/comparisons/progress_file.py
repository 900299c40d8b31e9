# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's progress.csv, and those with which it went on, as one table; also while it is written."""

from __future__ import annotations

import csv
import re
from contextlib import suppress
from pathlib import Path

#: What a run may count by; the first that its table has.
COUNTS = {"time/total_timesteps": "decisions", "tuning/generation": "generations"}
_FILE = re.compile(r"progress(?:-(\d+))?\.csv")


def read_progress(run: Path) -> list[dict[str, float]]:
    """Rows of numbers by column, in the order of training; a column that a row leaves empty is not in it.

    What a run had done after the checkpoint from which it went on was given up, and is not there. A file
    that is not there or has no line yet has no rows; of one that is being written, the last line counts
    once it is whole.
    """
    rows: list[dict[str, float]] = []
    for begin, file in sorted(_files(run)):
        rows = [row for row in rows if not row.get("time/total_timesteps", 0.0) > begin]
        rows += _rows(file)
    return rows


def _files(run: Path) -> list[tuple[int, Path]]:
    """The decisions or trials that a file goes on from, and the file."""
    found = [(_FILE.fullmatch(path.name), path) for path in run.glob("progress*.csv")]
    return [(int(match[1] or 0), path) for match, path in found if match is not None]


def _rows(file: Path) -> list[dict[str, float]]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    lines = csv.reader(text[: text.rfind("\n") + 1].splitlines())
    header = next(lines, [])
    # A longer line is of a file that is being written anew with more columns.
    return [row for line in lines if len(line) <= len(header) and (row := _numbers(header, line))]


def _numbers(header: list[str], line: list[str]) -> dict[str, float]:
    found = {}
    for name, cell in zip(header, line, strict=False):
        with suppress(ValueError):  # empty, or no number
            found[name] = float(cell)
    return found

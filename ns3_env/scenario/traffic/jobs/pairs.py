# SPDX-License-Identifier: GPL-2.0-or-later
"""Bytes of an all-to-all by pair of ranks, from a CSV: rows of senders, columns of receivers."""

from __future__ import annotations

import csv
from typing import TextIO

from ns3_env.config.bounds import MAX_BYTES
from ns3_env.config.files import LineFaults
from ns3_env.config.model import shown
from ns3_env.config.units import SIZE, whole


def read_pairs(wrong: LineFaults) -> list[list[int]]:
    """The rows of the file of ``wrong``, which receives its faults. Sizes may have units."""
    rows: list[list[int]] = []

    def read(text: TextIO) -> None:
        lines = csv.reader(text)
        for row in lines:
            if row:
                rows.append([_size(value.strip(), lines.line_num, wrong) for value in row])
            if row and len(row) != len(rows[0]):
                wrong.add(lines.line_num, f"{len(row)} sizes, but the first row has {len(rows[0])}")

    wrong.read("CSV of sizes", read)
    if not wrong and len(rows) != len(rows[0] if rows else "-"):
        wrong.add(0, f"{len(rows)} rows, must be as many as a row has sizes")
    return rows


def _size(text: str, line: int, wrong: LineFaults) -> int:
    try:
        size = whole(text, SIZE)
    except ValueError:
        size = -1
    if not 0 <= size <= MAX_BYTES:
        wrong.add(line, f"{shown(text)} is no size of 0 to {MAX_BYTES} B; {SIZE.takes}")
    return size

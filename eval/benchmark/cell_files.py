# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a cell's files: its flows, losses, the bottleneck's queue CDF, and its series."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import Cell
from ns3_env.eval.plots.plots import Floats

#: kind -> id -> (times in ns, values), as in series.csv.
Series = dict[str, dict[str, tuple[Floats, Floats]]]


@dataclass(frozen=True)
class Flows:
    """The flows of one cell: sizes (bytes), ends (ns) and slowdowns, (n,) each; NaN where one did not end.

    Sizes are NaN of flows that never end.

    With a measurement window, slowdowns are NaN, too, of flows that start outside.
    """

    sizes: Floats
    ends: Floats
    slowdowns: Floats


@dataclass(frozen=True)
class Lost:
    """Packets and payload bytes of one cell that one port lost by one cause."""

    node: int
    port: int
    peer: int
    cause: str
    packets: int
    payload_bytes: int


def losses(cell: Cell) -> list[Lost]:
    """The cell's losses.csv; empty where it has none. Raises ScenarioError."""
    if not (cell.folder / "losses.csv").is_file():
        return []
    columns = ("node", "port", "peer", "cause", "packets", "payload_bytes")
    return [
        Lost(int(node), int(port), int(peer), cause, int(packets), int(payload))
        for node, port, peer, cause, packets, payload in _rows(cell, "losses.csv", columns)
    ]


def flows(cell: Cell) -> Flows:
    """The cell's flows.csv. Raises ScenarioError."""
    columns = ("size_bytes", "fct_ns", "standalone_ns", "end_ns")
    rows = np.array([[float(x) for x in row] for row in _rows(cell, "flows.csv", columns)]).reshape(-1, 4)
    size, fct, standalone, end = rows.T
    counts = fct >= 0
    if _has(cell, "flows.csv", "counted"):
        counts &= np.array([int(x) > 0 for (x,) in _rows(cell, "flows.csv", ("counted",))], dtype=bool)
    if _has(cell, "flows.csv", "endless"):
        goes_on = np.array([int(x) > 0 for (x,) in _rows(cell, "flows.csv", ("endless",))], dtype=bool)
        size = np.where(goes_on, np.nan, size)
    slowdowns = np.divide(fct, standalone, out=np.full(len(fct), np.nan), where=counts)
    return Flows(size, np.where(end < 0, np.nan, end), slowdowns)


def queue_cdf(cell: Cell) -> tuple[str, Floats, Floats]:
    """("node:port" of the bottleneck, lengths in bytes ascending, share of time at or below each).

    Raises ScenarioError.
    """
    rows = list(_rows(cell, "queue_cdf.csv", ("node", "port", "bytes", "cdf")))
    port = f"{rows[0][0]}:{rows[0][1]}" if rows else ""
    values = np.array([[float(length), float(share)] for _, _, length, share in rows]).reshape(-1, 2)
    return port, values[:, 0], values[:, 1]


def series(cell: Cell) -> Series:
    """The cell's series.csv; empty where it has none. Raises ScenarioError."""
    if not (cell.folder / "series.csv").is_file():
        return {}
    lists: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for kind, name, time, value in _rows(cell, "series.csv", ("kind", "id", "t_ns", "value")):
        number = float(value) if value else np.nan
        lists.setdefault(kind, {}).setdefault(name, []).append((float(time), number))
    return {
        kind: {name: (np.array(points)[:, 0], np.array(points)[:, 1]) for name, points in ids.items()}
        for kind, ids in lists.items()
    }


def _has(cell: Cell, name: str, column: str) -> bool:
    """Whether a file that can be read has the column."""
    try:
        with (cell.folder / name).open(newline="", encoding="utf-8") as file:
            return column in next(csv.reader(file), [])
    except (OSError, ValueError):
        return False


def _rows(cell: Cell, name: str, columns: Sequence[str]) -> Iterator[list[str]]:
    path: Path = cell.folder / name
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            places = [header.index(column) for column in columns]
            for row in reader:
                yield [row[place] for place in places]
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}; delete the cell's folder and run it again") from None
    except (ValueError, IndexError) as error:
        raise ScenarioError(
            f"{path}: expected columns {', '.join(columns)} ({error}); delete the cell's folder, run it again"
        ) from None

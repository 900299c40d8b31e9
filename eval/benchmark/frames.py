# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of a cell's CSVs: flows, losses, the bottleneck's queue, series over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ns3_env.eval.benchmark.folder import Cell
from ns3_env.eval.output.table import RUN_AGAIN, read_csv
from ns3_env.simulator.results import Floats

if TYPE_CHECKING:
    import pandas

#: kind -> id -> (times in ns, values), as in series.csv.
Series = dict[str, dict[str, tuple[Floats, Floats]]]


@dataclass(frozen=True)
class Flows:
    """The flows of one cell: sizes (bytes), ends (ns) and slowdowns, (n,) each; NaN if one did not end.

    Sizes of endless flows are NaN. With a measurement window, slowdowns are also NaN for flows that
    start outside.
    """

    sizes: Floats
    ends: Floats
    slowdowns: Floats


def read_flows(cell: Cell) -> Flows:
    """Reads a cell's flows.csv. Raises ScenarioError."""
    return flows_in(cell.folder / "flows.csv")


def flows_in(path: Path, hint: str = RUN_AGAIN) -> Flows:
    """Reads a table of flows. Raises ScenarioError, with a ``hint``."""
    columns = ("size_bytes", "fct_ns", "standalone_ns", "end_ns")
    frame = read_csv(path, columns, ("counted", "endless"), hint=hint)
    frame = frame.assign(**{"counted": 1.0, "endless": 0.0, **frame})
    counts = (frame["fct_ns"] >= 0) & (frame["counted"] > 0)
    sizes = frame["size_bytes"].where(frame["endless"] == 0)
    slowdowns = (frame["fct_ns"] / frame["standalone_ns"]).where(counts)
    ends = frame["end_ns"].where(frame["end_ns"] >= 0)
    return Flows(*(column.to_numpy() for column in (sizes, ends, slowdowns)))


def read_losses(cell: Cell) -> pandas.DataFrame | None:
    """Reads a cell's losses.csv: ``node``, ``port``, ``peer``, ``cause``, ``packets`` and ``payload_bytes``
    that one port lost by one cause; None without losses. Raises ScenarioError."""
    columns = ("node", "port", "peer", "cause", "packets", "payload_bytes")
    path = cell.folder / "losses.csv"
    return read_csv(path, columns, text=("cause",)) if path.is_file() else None


def read_queue_cdf(cell: Cell) -> tuple[str, Floats, Floats]:
    """Reads a cell's queue_cdf.csv: "node:port" of the bottleneck, lengths in bytes ascending, (n,), and the
    share of time at or below each, (n,). Raises ScenarioError."""
    columns = ("node", "port", "bytes", "cdf")
    frame = read_csv(cell.folder / "queue_cdf.csv", columns, text=("node", "port"))
    port = f"{frame['node'][0]}:{frame['port'][0]}" if len(frame) else ""
    return port, frame["bytes"].to_numpy(), frame["cdf"].to_numpy()


def read_series(cell: Cell) -> Series:
    """Reads a cell's series.csv; empty without one. Raises ScenarioError."""
    path = cell.folder / "series.csv"
    series: Series = {}
    if path.is_file():
        frame = read_csv(path, ("kind", "id", "t_ns", "value"), text=("kind", "id"))
        for (kind, name), rows in frame.groupby(["kind", "id"], sort=False):
            series.setdefault(kind, {})[name] = rows["t_ns"].to_numpy(), rows["value"].to_numpy()
    return series

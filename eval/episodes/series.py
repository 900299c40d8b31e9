# SPDX-License-Identifier: GPL-2.0-or-later
"""Recorded series as CSV: windows, queues, marks, pauses, controllers' states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.eval.output.table import csv_text

#: Columns of each series; times are ns, lengths bytes, rates bit/s.
COLUMNS: dict[str, tuple[str, ...]] = {
    "windows": ("t_ns", "flow", "window_bytes", "rate_bps"),
    "queue_series": ("t_ns", "node", "port", "bytes"),
    "marks": ("t_ns", "flow"),
    "pauses": ("t_ns", "node", "port", "paused"),
    "controller_state": ("time_ns", "flow", "name", "value"),
    "controller_counters": ("time_ns", "flow", "name", "value"),
}
#: What a folder with them may hold.
FILES = tuple(f"{name}.csv" for name in COLUMNS)


def recorded_series(results: Mapping[str, Any]) -> dict[str, Sequence[Sequence[Any]]]:
    """Rows of ``COLUMNS``, series by series; those that the scenario did not record are left out.

    ``windows``: each change of a flow's window or rate. ``queue_series``: every switch port that sent, at a
    fixed interval. ``marks``: each data packet that a switch marked. ``pauses``: a port paused by its peer
    (1) or let go (0). ``controller_state``, ``controller_counters``: each change of what a flow's controller
    declares.
    """
    found = {name: results[name] for name in COLUMNS if name in results}
    queues = [port for port in results["queues"] if "series" in port]
    if queues:
        found["queue_series"] = [
            (time, port["node"], port["port"], length)
            for port in queues
            for time, length in zip(port["series"]["t_ns"], port["series"]["bytes"], strict=True)
        ]
    return {name: found[name] for name in COLUMNS if name in found}


def series_files(results: Mapping[str, Any]) -> dict[str, str]:
    """The CSV file of each recorded series, by its name."""
    return {f"{name}.csv": csv_text(COLUMNS[name], rows) for name, rows in recorded_series(results).items()}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Windows and queue series of an episode as arrays, which follow the results' JSON as plain numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
#: Begins a scenario's JSON that asks for them, in the place of its first brace.
ASKED = '{"columns":true,'


class Windows(NamedTuple):
    """What flows were allowed, a row for each change: (n,) each, in the order of time.

    Attributes:
        time_ns: of the change.
        flow: index.
        window: bytes; infinite: none.
        rate: bit/s; infinite: any.
    """

    time_ns: Floats
    flow: npt.NDArray[np.int64]
    window: Floats
    rate: Floats

    @classmethod
    def of(cls, results: Mapping[str, Any]) -> Windows:
        """Those of results that were read either way; no rows where none were recorded."""
        rows = results.get("windows", [])
        if isinstance(rows, Windows):
            return rows
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)  # None is NaN
        window, rate = (np.where(np.isnan(column), np.inf, column) for column in table.T[2:])
        return cls(table[:, 0], table[:, 1].astype(np.int64), window, rate)


def results_with_columns(blob: bytes) -> dict[str, Any]:
    """The results of an episode whose scenario begins with ``ASKED``.

    ``windows`` is a :class:`Windows`, a queue's ``series`` {"t_ns": (n,), "bytes": (n,)}. Raises ValueError
    where it is no such blob.
    """
    end = blob.find(b"\0")
    results = json.loads(blob[:end] if end >= 0 else blob)
    if end < 0 or not isinstance(results, dict):
        raise ValueError("no columns behind the results")
    numbers = np.frombuffer(blob, np.float64, offset=end // 8 * 8 + 8)
    taken = 0

    def column(rows: int) -> Floats:
        nonlocal taken
        taken += rows
        return numbers[taken - rows : taken]

    times: Floats | None = None  # those of all ports
    for port in results["queues"]:
        if (samples := port.get("series")) is not None:
            times = column(samples) if times is None else times
            port["series"] = {"t_ns": times, "bytes": column(samples)}
    if (rows := results.get("windows")) is not None:
        time, flow, window, rate = (column(rows) for _ in range(4))
        results["windows"] = Windows(time, flow.astype(np.int64), window, rate)
    if taken != len(numbers):
        raise ValueError(f"{len(numbers)} numbers behind the results, not {taken}")
    return results

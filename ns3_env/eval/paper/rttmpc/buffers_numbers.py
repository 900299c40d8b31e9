# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers measured by buffer size, and the printed ones of Lynn et al. 2020, Table V."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ns3_env.eval.paper.rttmpc.seen import Floats, Seen
from ns3_env.eval.plots.table import csv_text

FLOWS = (1, 2, 4, 8)
BUFFERS_BDP = tuple(2.0**power for power in range(-4, 5))
#: By flows, along the buffers: Table V.
THEIR_RATES: Mapping[int, tuple[float, ...]] = {
    1: (10.0, 10.0, 33.7, 39.9, 39.8, 39.7, 39.6, 39.4, 39.4),
    2: (10.0, 10.0, 23.7, 39.9, 39.8, 39.7, 39.6, 39.5, 39.7),
    4: (10.0, 10.0, 23.5, 40.0, 40.0, 39.8, 39.8, 39.7, 40.3),
    8: (10.0, 10.0, 24.0, 39.2, 40.0, 40.0, 40.0, 40.0, 39.9),
}
THEIR_RTTS: Mapping[int, tuple[float, ...]] = {
    1: (25.2, 25.2, 25.3, 25.8, 26.6, 26.9, 27.4, 28.6, 37.9),
    2: (25.2, 25.2, 25.3, 25.7, 26.7, 28.0, 28.4, 29.7, 39.2),
    4: (25.3, 25.3, 25.3, 25.7, 26.7, 28.7, 29.4, 30.6, 42.6),
    8: (25.3, 25.3, 25.4, 25.8, 26.9, 29.2, 30.4, 32.0, 53.5),
}
THEIR_LOSSES: Mapping[int, tuple[float, ...]] = {
    1: (3.2e-5, 3.1e-6, 9.9e-7, 6.4e-7, 2.8e-7, 2.0e-8, 1.0e-8, 2.0e-8, 2.0e-8),
    2: (3.3e-5, 1.1e-5, 4.1e-6, 2.5e-6, 2.1e-6, 6.3e-7, 7.0e-8, 1.0e-7, 8.0e-8),
    4: (4.2e-5, 2.7e-5, 1.1e-5, 7.0e-6, 5.9e-6, 3.9e-6, 2.0e-6, 2.5e-7, 2.1e-7),
    8: (1.0e-5, 7.7e-5, 2.7e-5, 1.7e-5, 1.6e-5, 1.2e-5, 7.4e-6, 5.0e-6, 7.7e-7),
}
#: By flows and buffer in BDPs.
Table = Mapping[tuple[int, float], "Cell"]


@dataclass(frozen=True)
class Cell:
    """One number of flows at one buffer: combined rates of 40, mean RTTs of the flows in ms, the share of
    packets lost, the time until the link's rate was reached. Spreads: between first and third quartile."""

    rate: float
    rate_spread: float
    rtt: float
    rtt_spread: float
    rtt_p99: float
    lost: float
    reached_s: float

    def table(self) -> dict[str, float]:
        """For programs."""
        return asdict(self)


def numbers(run: Seen) -> Cell:
    """Of a whole run, as the paper's data points are."""
    rates, rtts = run.combined, run.mean_rtts_ms
    return Cell(
        float(np.median(rates)),
        spread(rates),
        float(np.median(rtts)),
        spread(rtts),
        float(np.percentile(rtts, 99)),
        run.lost,
        run.reached_s,
    )


def spread(values: Floats) -> float:
    """The interquartile range: what a box of Figs. 5 and 6 is high."""
    low, high = np.percentile(values, (25, 75))
    return float(high - low)


def along(table: Table, name: str) -> Floats:
    """A number of all cells: (flows, buffers)."""
    return np.array([[getattr(table[flows, buffer], name) for buffer in BUFFERS_BDP] for flows in FLOWS])


def shown(table: Table) -> str:
    """All cells as CSV."""
    columns = list(next(iter(table.values())).table())
    rows = [(flows, buffer, *own.table().values()) for (flows, buffer), own in table.items()]
    return csv_text(("flows", "buffer_bdp", *columns), rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Record of a run: what papers read off the simulator's results, over time and in numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ns3_env.eval.output.table import csv_text
from ns3_env.simulator.results import Floats, Results, flow_ends

#: (node, port).
Port = tuple[int, int]


class Seen:
    """One run; columns of the results as arrays.

    Attributes:
        flows: columns, (n,) each.
        ports: the ports' records without their series.
        lengths: queues' samples, bytes, by port.
        times_ns: of the samples, the same for all ports.
        changes: (changes, 3) time (ns), flow, bit/s of each change of a rate.
        rtt, totals, losses: as the results have them.
        span_ns: length of the measurement window; NaN without one.
    """

    def __init__(self, results: Results) -> None:
        self.flows = {name: np.asarray(own, dtype=np.float64) for name, own in results["flows"].items()}
        queues = {(port["node"], port["port"]): port for port in results["queues"]}
        self.ports = {key: {**port, "series": None} for key, port in queues.items()}
        series = {key: port["series"] for key, port in queues.items() if "series" in port}
        self.lengths = {key: np.asarray(own["bytes"], dtype=np.float64) for key, own in series.items()}
        self.times_ns = np.asarray(next(iter(series.values()))["t_ns"] if series else [], dtype=np.float64)
        self.changes = np.array(
            [(t, flow, rate) for t, flow, _, rate in results.get("windows", ()) if rate is not None],
            dtype=np.float64,
        ).reshape(-1, 3)
        self.rtt, self.totals, self.losses = results.get("rtt", {}), results["totals"], results["losses"]
        window = results.get("measurement")
        self.span_ns = float(np.diff(window["interval_ns"])[0]) if window else math.nan
        self.flow_ends_ns = flow_ends(results) if "end_ns" in self.flows else np.zeros(0)

    @property
    def end_ns(self) -> float:
        """Of the run."""
        return float(self.totals["end_ns"])

    @property
    def fcts_ms(self) -> Floats:
        """Completion times; NaN of flows that did not finish: (n,)."""
        return np.where(self.flows["fct_ns"] < 0, np.nan, self.flows["fct_ns"]) / 1e6

    @property
    def timeouts(self) -> int:
        """Of all flows."""
        return int(self.flows["timeouts"].sum())

    @property
    def lost(self) -> int:
        """Packets, anywhere."""
        return int(self.totals["dropped_packets"])

    @cached_property
    def step_ns(self) -> float:
        """From sample to sample of the queues."""
        return float(self.times_ns[1] - self.times_ns[0])

    def queue(self, port: Port, begin_ns: float, end_ns: float, each_ns: float = 0.0) -> Floats:
        """A queue in an interval, bytes: each ``each_ns``, or as finely as it was sampled from time 0 on."""
        own = self.lengths[port][round(begin_ns / self.step_ns) : round(end_ns / self.step_ns)]
        return own[:: max(1, round(each_ns / self.step_ns))]

    def used(self, port: Port) -> float:
        """Share of a port's rate that it sent at in the measurement window."""
        own = self.ports[port]
        return float(own.get("window_tx_bytes", 0) * 8e9 / (own["rate_bps"] * self.span_ns))

    def rates_at(self, times_ns: Floats, below_bps: float = math.inf) -> Floats:
        """Sending rates at ascending times, bit/s: (flows, times); 0 before a flow's first change.

        Args:
            times_ns: (times,).
            below_bps: the simulator shows the rate of the host's link for a flow that is not paced: changes
                to rates that are not below this do not count.
        """
        kept = self.changes[self.changes[:, 2] < below_bps]
        found = np.zeros((len(self.flows["src"]), len(times_ns)))
        for flow in range(len(found)):
            own = kept[kept[:, 1] == flow]
            rates = np.concatenate([[0.0], own[:, 2]])
            found[flow] = rates[np.searchsorted(own[:, 0], times_ns, side="right")]
        return found

    def mean_rates(self, begin_ns: float, end_ns: float, moments: int = 2000) -> Floats:
        """Each flow's sending rate in an interval, the mean over so many moments, bit/s: (flows,)."""
        means: Floats = self.rates_at(np.linspace(begin_ns, end_ns, moments)).mean(axis=1)
        return means


def quartiles_apart(values: Floats) -> float:
    """The interquartile range: what a box is high."""
    low, high = np.percentile(values, (25, 75))
    return float(high - low)


def distribution(values: Floats) -> tuple[Floats, Floats]:
    """Values in order, and the share of all that are no larger."""
    return np.sort(values), np.arange(1, len(values) + 1) / len(values)


def queues_csv(heads: Sequence[str], queues: Mapping[Any, tuple[Iterable[float], Iterable[float]]]) -> str:
    """Times and lengths of queues, both rounded, as CSV.

    Args:
        heads: of all columns.
        queues: by what stands in the first column, or a tuple for the first ones.
    """
    rows = [
        (*(key if isinstance(key, tuple) else (key,)), round(t), round(length))
        for key, (times, lengths) in queues.items()
        for t, length in zip(times, lengths, strict=True)
    ]
    return csv_text(heads, rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures a run on the fat-tree and draws it: queues of all ports together, slowdowns by flow size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from ns3_env.eval.metrics.goodput import goodput
from ns3_env.eval.metrics.losses import unfinished_flows
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS, fct_slowdowns_by_size, statistics_of
from ns3_env.eval.paper.outcome import Grid
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import queue_scale, styles
from ns3_env.eval.plots.table import csv_text
from ns3_env.simulator.results import Floats, flow_column

#: Names of the workloads, as the thesis writes them.
WORKLOADS = {"websearch": "WebSearch", "fb_hadoop": "FB_Hadoop"}
#: Of a CDF.
_POINTS = 1000
_NAMES = [name for name, _, _, _ in SIZE_BUCKETS]


@dataclass(frozen=True)
class Case:
    """One panel of Figs. 5.6 to 5.9: a workload, its average load, and whether an incast is added."""

    sizes: str
    load: float
    incast: bool

    @property
    def title(self) -> str:
        """As over a panel."""
        return f"{WORKLOADS[self.sizes]}, {self.load:.0%}{', incast' if self.incast else ''}"


@dataclass(frozen=True)
class Measured:
    """One controller in one case.

    Attributes:
        queue: samples of every port that sent anything, bytes, (samples,).
        slowdowns: of the finished flows, by the names of ``SIZE_BUCKETS``.
        sizes: of all flows, bytes.
        unfinished: flows without an end, which are in no slowdown.
        goodput: of the receivers' links, while a flow to each is there.
    """

    queue: Floats
    slowdowns: Mapping[str, Floats]
    sizes: Floats
    unfinished: int
    goodput: float

    @property
    def queue_mean(self) -> float:
        """Bytes, over ports and time."""
        return float(self.queue.mean()) if len(self.queue) else float("nan")

    def queue_percentile(self, percent: float) -> float:
        """Bytes, over ports and time."""
        return float(np.percentile(self.queue, percent)) if len(self.queue) else float("nan")

    def slowdown(self, bucket: str = "", what: str = "avg") -> float:
        """A statistic of ``STATISTICS`` over a bucket, or all flows; NaN of none."""
        chosen = [self.slowdowns[bucket]] if bucket else list(self.slowdowns.values())
        return statistics_of(np.concatenate(chosen))[what]


Found = Mapping[Case, Mapping[str, Measured]]


def measure(results: Mapping[str, Any], until_ns: float) -> Measured:
    """What the results of a run hold, with the queues' samples up to an instant."""
    kept = [
        np.asarray(port["series"]["bytes"], dtype=np.float64)[np.asarray(port["series"]["t_ns"]) <= until_ns]
        for port in results["queues"]
        if "series" in port
    ]
    return Measured(
        np.concatenate(kept) if kept else np.zeros(0),
        fct_slowdowns_by_size(results),
        flow_column(results, "size_bytes"),
        int(unfinished_flows(results)),
        goodput(results),
    )


def cdf(own: Measured) -> tuple[Floats, Floats]:
    """Lengths (bytes) and the share of ports and time with no longer a queue; (0,) each without samples."""
    return (
        queue_cdf({"series": {"bytes": own.queue}}, _POINTS) if len(own.queue) else (np.zeros(0), np.zeros(0))
    )


def grids(found: Found) -> list[Grid]:
    """A table for each workload: a row for each case and controller."""
    columns = (
        "case",
        "under",
        "mean (kB)",
        "p99 (kB)",
        "all",
        *(words for _, words, _, _ in SIZE_BUCKETS),
        "used",
    )
    tables: dict[str, list[tuple[str | float, ...]]] = {}
    for case, by_name in found.items():
        for name, own in by_name.items():
            by_size = (own.slowdown(bucket) for bucket, _, _, _ in SIZE_BUCKETS)
            row = (
                own.queue_mean / 1e3,
                own.queue_percentile(99) / 1e3,
                own.slowdown(),
                *by_size,
                own.goodput,
            )
            short = case.title.removeprefix(f"{WORKLOADS[case.sizes]}, ")
            tables.setdefault(case.sizes, []).append((short, name, *row))
    return [
        Grid(f"{WORKLOADS[sizes]}: queue, mean slowdown by size, share of links used", columns, rows)
        for sizes, rows in tables.items()
    ]


def csvs(found: Found) -> dict[str, str]:
    """Queue CDFs, and every statistic of the slowdowns, as CSV texts by file name."""
    queues, slowdowns = [], []
    for case, by_name in found.items():
        key = (case.sizes, case.load, int(case.incast))
        for name, own in by_name.items():
            queues += [
                (*key, name, round(float(length)), round(float(share), 6))
                for length, share in zip(*cdf(own), strict=True)
            ]
            slowdowns += [
                (*key, name, bucket, len(values), *(f"{x:.5g}" for x in statistics_of(values).values()))
                for bucket, values in own.slowdowns.items()
            ]
    head = ("sizes", "load", "incast", "controller")
    return {
        "queue_cdf": csv_text((*head, "bytes", "share"), queues),
        "slowdown": csv_text((*head, "bucket", "flows", "avg", "p50", "p95", "p99"), slowdowns),
    }


def draw_queues(found: Found) -> bytes:
    """Figs. 5.6 and 5.8. Most ports are mostly empty: the axis begins where the lowest curve does."""
    figure, several = panels([case.title for case in found], 2, 2.6)
    lowest = 1.0
    for axes, by_name in zip(several, found.values(), strict=True):
        looks = styles(by_name)
        for name, own in by_name.items():
            lengths, shares = cdf(own)
            if len(lengths):
                lowest = min(lowest, float(shares[0]))
                axes.step(lengths / 1e3, shares, where="post", label=name, **looks[name].of_line)
        queue_scale(axes, "x")
        axes.set(xlabel="queue (kB)", ylabel="share of ports and time")
        axes.set_xlim(left=0)
    for axes in several:
        axes.set_ylim(lowest - 0.02 * (1 - lowest), 1 + 0.02 * (1 - lowest))
    return finished(figure, several[0])


def draw_slowdowns(found: Found) -> bytes:
    """Figs. 5.7 and 5.9."""
    figure, several = panels([case.title for case in found], 2, 2.6)
    places = np.arange(len(SIZE_BUCKETS))
    every = [
        own.slowdown(bucket) for by_name in found.values() for own in by_name.values() for bucket in _NAMES
    ]
    highest = float(np.nanmax(every, initial=1.0))
    for axes, by_name in zip(several, found.values(), strict=True):
        looks = styles(by_name)
        for name, own in by_name.items():
            heights = [own.slowdown(bucket) for bucket in _NAMES]
            axes.plot(places, heights, label=name, **looks[name].of_points)
        axes.set(xlabel="flow size", ylabel="FCT slowdown, mean", yscale="log")
        axes.set_xticks(places, [words for _, words, _, _ in SIZE_BUCKETS])
        axes.set_ylim(0.95, 1.1 * highest)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_minor_locator(NullLocator())
    return finished(figure, several[0])

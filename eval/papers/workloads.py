# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads on a fat-tree, case by case: queues of all ports together, slowdowns by flow size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from ns3_env.eval.metrics.goodput import goodput
from ns3_env.eval.metrics.losses import unfinished_flows
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS, STATISTICS, fct_slowdowns_by_size, statistics_of
from ns3_env.eval.output.plots import queue_scale, styles
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.outcome import Grid, grid
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.simulator.results import Floats, Results, flow_column

#: Names of the workloads, as papers write them.
WORKLOADS = {"websearch": "WebSearch", "fb_hadoop": "FB_Hadoop"}
#: Of a CDF.
_POINTS = 1000
_NAMES = [name for name, _, _, _ in SIZE_BUCKETS]


@dataclass(frozen=True)
class Case:
    """A workload, its average load, and whether an incast is added."""

    sizes: str
    load: float
    incast: bool

    @property
    def title(self) -> str:
        """As over a panel."""
        return f"{WORKLOADS[self.sizes]}, {self.load:.0%}{', incast' if self.incast else ''}"


@dataclass(frozen=True)
class Load:
    """One controller in one case.

    Attributes:
        flows: their number.
        queue: samples of every port that sent anything, bytes, (samples,).
        slowdowns: of the finished flows, by the names of ``SIZE_BUCKETS``.
        numbers: queue lengths over ports and time, every statistic of the slowdowns (see :func:`key`), the
            goodput of receivers' links, flows without an end, which are in no slowdown.
    """

    flows: int
    queue: Floats
    slowdowns: Mapping[str, Floats]
    numbers: Mapping[str, float]

    def mean(self, bucket: str = "") -> float:
        """The mean slowdown of a bucket, or of all flows; NaN of none."""
        return self.numbers[key(bucket, "avg")]


Found = Mapping[Case, Mapping[str, Load]]


def key(bucket: str, statistic: str) -> str:
    """The name of a statistic of slowdowns: of a bucket of ``SIZE_BUCKETS``, "" for all flows."""
    return f"fct_slowdown_{bucket}_{statistic}" if bucket else f"fct_slowdown_{statistic}"


def measure(results: Results) -> Load:
    """What the results of a run hold; samples of queues are those until the last flow starts."""
    until = flow_column(results, "start_ns").max()
    queue = np.concatenate(
        [
            np.asarray(port["series"]["bytes"], dtype=np.float64)[np.asarray(port["series"]["t_ns"]) <= until]
            for port in results["queues"]
            if "series" in port
        ]
        or [np.zeros(0)]
    )
    slowdowns = fct_slowdowns_by_size(results)
    numbers = {
        key(bucket, statistic): value
        for bucket, own in {"": np.concatenate(list(slowdowns.values())), **slowdowns}.items()
        for statistic, value in statistics_of(own).items()
    }
    numbers |= {
        "qlen_avg": float(queue.mean()) if len(queue) else math.nan,
        "qlen_p99": float(np.percentile(queue, 99)) if len(queue) else math.nan,
        "goodput": goodput(results),
        "unfinished": float(unfinished_flows(results)),
    }
    return Load(len(results["flows"]["src"]), queue, slowdowns, numbers)


def arrivals(found: Found, duration_ns: float, words: str) -> str:
    """A note: how long flows arrived, how many, ``words``, and how many did not finish."""
    loads = [list(by_name.values()) for by_name in found.values()]
    flows = sum(own[0].flows for own in loads)
    lost = round(sum(one.numbers["unfinished"] for own in loads for one in own))
    return f"{duration_ns / 1e6:g} ms of arrivals, one seed, {flows:,} flows in all; {words} " + (
        f"{lost} flows did not finish." if lost else "Every flow finished, under every controller."
    )


def cdf(own: Load) -> tuple[Floats, Floats]:
    """Lengths (bytes) and the share of ports and time with no longer a queue; (0,) each without samples."""
    return (
        queue_cdf({"series": {"bytes": own.queue}}, _POINTS) if len(own.queue) else (np.zeros(0), np.zeros(0))
    )


def grids(found: Found) -> list[Grid]:
    """A table for each workload: a row for each case and controller."""
    by_size = {key(bucket, "avg"): words for bucket, words, _, _ in SIZE_BUCKETS}
    heads = ("case", "under", "mean (kB)", "p99 (kB)", "all", *by_size.values(), "used")
    names: list[str | tuple[str, float]] = [
        ("qlen_avg", 1e3),
        ("qlen_p99", 1e3),
        key("", "avg"),
        *by_size,
        "goodput",
    ]
    rows: dict[str, list[Any]] = {}
    for case, by_name in found.items():
        short = case.title.removeprefix(f"{WORKLOADS[case.sizes]}, ")
        own = [((short, name), load.numbers) for name, load in by_name.items()]
        rows.setdefault(WORKLOADS[case.sizes], []).extend(own)
    title = "queue, mean slowdown by size, share of links used"
    return [grid(f"{words}: {title}", heads, names, own) for words, own in rows.items()]


def csvs(found: Found) -> dict[str, str]:
    """Queue CDFs, and every statistic of the slowdowns, as CSV texts by file name."""
    queues, slowdowns = [], []
    for case, by_name in found.items():
        of = (case.sizes, case.load, int(case.incast))
        for name, own in by_name.items():
            queues += [
                (*of, name, round(float(length)), round(float(share), 6))
                for length, share in zip(*cdf(own), strict=True)
            ]
            slowdowns += [
                (*of, name, bucket, len(x), *(f"{own.numbers[key(bucket, what)]:.5g}" for what in STATISTICS))
                for bucket, x in own.slowdowns.items()
            ]
    head = ("sizes", "load", "incast", "controller")
    return {
        "queue_cdf": csv_text((*head, "bytes", "share"), queues),
        "slowdown": csv_text((*head, "bucket", "flows", *STATISTICS), slowdowns),
    }


def draw_queues(found: Found) -> bytes:
    """Distributions of queues. Most ports are mostly empty: the axis begins where the lowest curve does."""
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
    """Mean slowdowns by size."""
    figure, several = panels([case.title for case in found], 2, 2.6)
    places = np.arange(len(SIZE_BUCKETS))
    every = [own.mean(bucket) for by_name in found.values() for own in by_name.values() for bucket in _NAMES]
    highest = float(np.nanmax(every, initial=1.0))
    for axes, by_name in zip(several, found.values(), strict=True):
        looks = styles(by_name)
        for name, own in by_name.items():
            heights = [own.mean(bucket) for bucket in _NAMES]
            axes.plot(places, heights, label=name, **looks[name].of_points)
        axes.set(xlabel="flow size", ylabel="FCT slowdown, mean", yscale="log")
        axes.set_xticks(places, [words for _, words, _, _ in SIZE_BUCKETS])
        axes.set_ylim(0.95, 1.1 * highest)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axes.yaxis.set_major_formatter("{x:,g}")
        axes.yaxis.set_minor_locator(NullLocator())
    return finished(figure, several[0])

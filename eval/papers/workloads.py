# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads on a fat-tree, case by case: queues of all ports together, slowdowns by flow size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.metrics.goodput import goodput
from ns3_env.eval.metrics.losses import unfinished_flows
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS, fct_slowdowns_by_size, statistics_of
from ns3_env.eval.output.plots import queue_scale, styles
from ns3_env.eval.papers.outcome import Grid, grid
from ns3_env.eval.papers.panels import Drawing, Panel, few_log_ticks, step
from ns3_env.simulator.results import Floats, Results, flow_column

#: Names of the workloads, as papers write them.
WORKLOADS = {"websearch": "WebSearch", "fb_hadoop": "FB_Hadoop"}
#: Buckets of flow sizes in words.
SIZES = {name: words for name, words, _, _ in SIZE_BUCKETS}
#: Points of a CDF.
_POINTS = 1000


@dataclass(frozen=True)
class Case:
    """A workload, its average load, and whether an incast is added."""

    sizes: str
    load: float
    incast: bool = False

    @property
    def short(self) -> str:
        """The case without its workload."""
        return f"{self.load:.0%}{', incast' if self.incast else ''}"

    @property
    def title(self) -> str:
        """The title of a panel."""
        return f"{WORKLOADS[self.sizes]}, {self.short}"


@dataclass(frozen=True)
class Load:
    """One controller in one case.

    Attributes:
        flows: their number.
        queue: samples of every port that sent anything, bytes, (samples,).
        numbers: queue lengths over ports and time, every statistic of the slowdowns (see :func:`key`), the
            goodput of receivers' links, flows without an end, which are in no slowdown.
    """

    flows: int
    queue: Floats
    numbers: Mapping[str, float]

    def mean(self, bucket: str = "") -> float:
        """The mean slowdown of a bucket, or of all flows; NaN of none."""
        return self.numbers[key(bucket, "avg")]


Loads = Mapping[Case, Mapping[str, Load]]


def key(bucket: str, statistic: str) -> str:
    """The name of a statistic of slowdowns: of a bucket of ``SIZE_BUCKETS``, "" for all flows."""
    return f"fct_slowdown_{bucket}_{statistic}" if bucket else f"fct_slowdown_{statistic}"


def measure(results: Results) -> Load:
    """Measures a run; samples of queues are those until the last flow starts."""
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
        for bucket, record in {"": np.concatenate(list(slowdowns.values())), **slowdowns}.items()
        for statistic, value in statistics_of(record).items()
    }
    numbers |= {
        "qlen_avg": float(queue.mean()) if len(queue) else math.nan,
        "qlen_p99": float(np.percentile(queue, 99)) if len(queue) else math.nan,
        "goodput": goodput(results),
        "unfinished": float(unfinished_flows(results)),
    }
    return Load(len(results["flows"]["src"]), queue, numbers)


def arrivals(loads: Loads, duration_ns: float) -> str:
    """A note: how long flows arrived, how many, and how many did not finish."""
    entries = [list(by_name.values()) for by_name in loads.values()]
    flows = sum(record[0].flows for record in entries)
    lost = round(sum(one.numbers["unfinished"] for record in entries for one in record))
    end = f"{lost} flows did not finish." if lost else "Every flow finished, under every controller."
    return f"{duration_ns / 1e6:g} ms of arrivals, {flows:,} flows in all. {end}"


def cdf(record: Load) -> tuple[Floats, Floats]:
    """Lengths (bytes) and the share of ports and time with no longer a queue; (0,) each without samples."""
    series = {"series": {"bytes": record.queue}}
    return queue_cdf(series, _POINTS) if len(record.queue) else (np.zeros(0), np.zeros(0))


def grids(loads: Loads) -> list[Grid]:
    """A table for each workload: a row for each case and controller."""
    by_size = "; ".join(f"{words} = {key(bucket, 'avg')}" for bucket, words in SIZES.items())
    columns = f"mean (kB) = qlen_avg/1e3; p99 (kB) = qlen_p99/1e3; all = {key('', 'avg')}; {by_size}; "
    columns += "used = goodput"
    rows: dict[str, list[Any]] = {}
    for case, by_name in loads.items():
        record = [((case.short, name), load.numbers) for name, load in by_name.items()]
        rows.setdefault(WORKLOADS[case.sizes], []).extend(record)
    title = "queue, mean slowdown by size, share of links used"
    return [grid(f"{words}: {title}", ("case", "under"), columns, record) for words, record in rows.items()]


def draw_queues(loads: Loads) -> Drawing:
    """Distributions of queues. Most ports are mostly empty: the axis begins where the lowest curve does."""
    curves = {
        case: {name: cdf(record) for name, record in by_name.items()} for case, by_name in loads.items()
    }
    firsts = (shares[0] for record in curves.values() for lengths, shares in record.values() if len(lengths))
    lowest = float(min((1.0, *firsts)))
    limits = (lowest - 0.02 * (1 - lowest), 1 + 0.02 * (1 - lowest))
    axes = {"xlabel": "queue (kB)", "ylabel": "share of ports and time"}

    def scale(axes: Axes) -> None:
        queue_scale(axes, "x")
        axes.set_xlim(left=0)
        axes.set_ylim(limits)

    all_panels = [
        Panel(
            case.title,
            [
                step(record[name][0] / 1e3, record[name][1], name, look)
                for name, look in styles(record).items()
                if len(record[name][0])
            ],
            axes,
            more=scale,
        )
        for case, record in curves.items()
    ]
    return Drawing(all_panels, height=2.6)


def draw_slowdowns(loads: Loads) -> Drawing:
    """Mean slowdowns by size."""
    means = {
        case: {name: [record.mean(bucket) for bucket in SIZES] for name, record in by_name.items()}
        for case, by_name in loads.items()
    }
    every = [x for by_name in means.values() for record in by_name.values() for x in record]
    top = 1.1 * float(np.nanmax(every, initial=1.0))
    places = np.arange(len(SIZES))
    axes = {"xlabel": "flow size", "ylabel": "FCT slowdown, mean", "yscale": "log", "ylim": (0.95, top)}
    all_panels = [
        Panel(
            case.title,
            [(places, by_name[name], name, look.of_points) for name, look in styles(by_name).items()],
            axes,
            ticks=(places, list(SIZES.values()), {}),
            more=lambda axes: few_log_ticks(axes, (1, 1.5, 2, 3, 5, 7)),
        )
        for case, by_name in means.items()
    ]
    return Drawing(all_panels, height=2.6)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads on a fat-tree, case by case: queues of all ports together, slowdowns by flow size."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval import metrics
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.output.plots import queue_scale, styles
from ns3_env.eval.papers.outcome import Grid, flat, grid
from ns3_env.eval.papers.panels import Drawing, Panel, few_log_ticks, labels, marked, step
from ns3_env.scenario import Record
from ns3_env.simulator.results import Floats, Results, flow_column

#: Names of the workloads, as papers write them.
WORKLOADS = {"websearch": "WebSearch", "fb_hadoop": "FB_Hadoop"}
#: Buckets of flow sizes in words.
SIZES = {name: words for name, words, _, _ in SIZE_BUCKETS}
#: Points of a CDF; offset (ns) that queue samples have beyond a round interval.
_POINTS, _ODD_NS = 1000, 7


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
        flows: number of flows.
        queue: lengths (bytes) and the share of ports and time with no longer a queue, of every port that sent
            anything; (0,) each without samples.
        numbers: queue lengths over ports and time; mean and p99 of the slowdowns (see :func:`key`), the
            goodput of receivers' links, flows without an end, which are in no slowdown, as metrics.
    """

    flows: int
    queue: tuple[Floats, Floats]
    numbers: Mapping[str, float]

    def mean(self, bucket: str = "") -> float:
        """The mean slowdown of a bucket, or of all flows; NaN without flows."""
        return self.numbers[key(bucket, "avg")]


Loads = Mapping[Case, Mapping[str, Load]]


def key(bucket: str, statistic: str) -> str:
    """The name of a statistic of slowdowns: of a bucket of ``SIZE_BUCKETS``, "" for all flows."""
    return f"fct_slowdown_{bucket}_{statistic}" if bucket else f"fct_slowdown_{statistic}"


_METRICS = (
    *(key(bucket, statistic) for bucket in ("", *SIZES) for statistic in ("avg", "p99")),
    *("goodput", "unfinished_flows"),
)


def sampled(duration_ns: int, samples: int, least_ns: int) -> Record:
    """Records this many samples of each port while flows arrive, at least ``least_ns`` apart; their interval
    must not be synchronous with frames."""
    return Record(queue_series_ns=max(least_ns, duration_ns // samples) + _ODD_NS)


def measure(results: Results) -> Load:
    """Measures a run; samples of queues are those until the last flow starts."""
    until = flow_column(results, "start_ns").max()
    series = [port["series"] for port in results["queues"] if "series" in port]
    samples = [np.asarray(x["bytes"], dtype=np.float64)[np.asarray(x["t_ns"]) <= until] for x in series]
    queue = np.concatenate([np.zeros(0), *samples])
    numbers = {
        "qlen_avg": float(queue.mean()) if len(queue) else math.nan,
        "qlen_p99": float(np.percentile(queue, 99)) if len(queue) else math.nan,
        **metrics.measure(results, _METRICS),
    }
    cdf = queue_cdf({"series": {"bytes": queue}}, _POINTS) if len(queue) else (queue, queue)
    return Load(len(results["flows"]["src"]), cdf, numbers)


def arrivals(loads: Loads, duration_ns: float) -> str:
    """A note on the duration of arrivals, the number of flows, and that of unfinished ones."""
    flows = sum(next(iter(by_name.values())).flows for by_name in loads.values())
    lost = round(sum(load.numbers["unfinished_flows"] for _, load in flat(loads, 2)))
    end = f"{lost} flows did not finish." if lost else "Every flow finished, under every controller."
    return f"{duration_ns / 1e6:g} ms of arrivals, {flows:,} flows in all. {end}"


def grids(loads: Loads) -> list[Grid]:
    """A table for each workload: a row for each case and controller."""
    by_size = "; ".join(f"{words} = {key(bucket, 'avg')}" for bucket, words in SIZES.items())
    columns = f"mean (kB) = qlen_avg/1e3; p99 (kB) = qlen_p99/1e3; all = {key('', 'avg')}; {by_size}; "
    columns += "used = goodput"
    rows: dict[str, list[Any]] = {}
    for (case, name), load in flat(loads, 2):
        rows.setdefault(WORKLOADS[case.sizes], []).append(((case.short, name), load.numbers))
    title = "queue, mean slowdown by size, share of links used"
    return [grid(f"{words}: {title}", ("case", "under"), columns, record) for words, record in rows.items()]


def draw_queues(loads: Loads) -> Drawing:
    """Distributions of queues. Most ports are mostly empty: the axis starts with the lowest curve."""
    firsts = [float(load.queue[1][0]) for _, load in flat(loads, 2) if len(load.queue[1])]
    lowest = min((1.0, *firsts))
    limits = (lowest - 0.02 * (1 - lowest), 1 + 0.02 * (1 - lowest))

    def scale(axes: Axes) -> None:
        queue_scale(axes, "x")
        axes.set_xlim(left=0)
        axes.set_ylim(limits)

    all_panels = []
    for case, by_name in loads.items():
        steps = [
            step(by_name[name].queue[0] / 1e3, by_name[name].queue[1], name, look)
            for name, look in styles(by_name).items()
            if len(by_name[name].queue[0])
        ]
        axes = labels("queue (kB)", "share of ports and time")
        all_panels.append(Panel(case.title, steps, axes, more=scale))
    return Drawing(all_panels, height=2.6)


def draw_slowdowns(loads: Loads) -> Drawing:
    """Mean slowdowns by size."""
    means = {
        case: {name: [record.mean(bucket) for bucket in SIZES] for name, record in by_name.items()}
        for case, by_name in loads.items()
    }
    top = 1.1 * float(np.nanmax([x for _, record in flat(means, 2) for x in record], initial=1.0))
    places = np.arange(len(SIZES))
    axes = labels("flow size", "FCT slowdown, mean", yscale="log", ylim=(0.95, top))
    axes |= {"xticks": places, "xticklabels": list(SIZES.values())}
    all_panels = [
        Panel(
            case.title,
            marked(places, by_name),
            axes,
            more=lambda axes: few_log_ticks(axes, (1, 1.5, 2, 3, 5, 7)),
        )
        for case, by_name in means.items()
    ]
    return Drawing(all_panels, height=2.6)

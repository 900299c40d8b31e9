# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows that join and leave a link: scenario, numbers and figures (Zheng 2024, Figs. 5.3 and 5.4)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ns3_env.eval.metrics.convergence import Change, changes
from ns3_env.eval.paper.mpcc.open_loop import BOTTLENECK, RATE_BPS, SENDERS, bottleneck_port
from ns3_env.eval.paper.mpcc.throughput import measured, shares
from ns3_env.eval.paper.outcome import Progress, Row
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import envelope, styles, time_unit
from ns3_env.eval.plots.table import csv_text
from ns3_env.eval.trace.flow_series import flow_colours
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats, flow_column, flow_ends

#: Drawn: the thesis's two.
DRAWN = ("mpcc", "hpcc")
#: Sizes of the four flows, and from start to start (section 5.3).
SIZES_BYTES, INTERVAL_NS = (4_900_000_000, 2_400_000_000, 1_400_000_000, 300_000_000), 10_000_000
#: What the thesis takes for a BDP in this network (section 5.3).
THEIR_BDP_BYTES = 4344
#: Beyond so many bytes windows are not recorded: each ACK makes a row.
_RECORDED_BYTES = 300_000_000
#: More bins than these are drawn together.
_POINTS = 500


@dataclass(frozen=True)
class Run:
    """One controller's run.

    Attributes:
        results: the simulator's.
        share: of the bottleneck's rate, wire bytes, (flows, bins).
        bin_ns: length of a bin.
        times_ns, queue_bytes: samples of switch 1's egress queue.
        moments: every change of the set of active flows that can be judged.
    """

    results: Mapping[str, Any]
    share: Floats
    bin_ns: int
    times_ns: Floats
    queue_bytes: Floats
    moments: list[Change]


def scenario(scale: float, until_ns: int, sample_ns: int) -> Scenario:
    """The thesis's flows, ``scale`` times as large, for at most ``until_ns``."""
    sizes = [max(1, round(scale * size)) for size in SIZES_BYTES]
    sent = min(sum(sizes), until_ns * RATE_BPS / 8e9)
    return Scenario(
        time_limit_ns=until_ns,
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS),
        traffic=Joining(sizes_bytes=[*sizes], interval_ns=INTERVAL_NS),
        record=Record(queue_series_ns=sample_ns, windows=sent <= _RECORDED_BYTES),
    )


def play_each(
    simulator: Simulator, variants: Mapping[str, Scenario], bin_ns: int, progress: Progress
) -> dict[str, Run]:
    """What became of each scenario. Raises SimulatorError."""
    found = {}
    for name, played in variants.items():
        progress(name)
        results, counted = measured(simulator, played, BOTTLENECK, bin_ns)
        series = bottleneck_port(results)["series"]
        found[name] = Run(
            results,
            shares(counted, bin_ns, RATE_BPS),
            bin_ns,
            np.asarray(series["t_ns"], dtype=np.float64),
            np.asarray(series["bytes"], dtype=np.float64),
            changes(results) if "windows" in results else [],
        )
    return found


def intervals(run: Run) -> list[tuple[float, float, tuple[int, ...]]]:
    """(begin, end, active flows) between the changes of the set of active flows, ns, in order."""
    starts, ends = flow_column(run.results, "start_ns"), flow_ends(run.results)
    moments = np.unique(np.concatenate([starts, ends]))
    return [
        (float(a), float(b), tuple(np.flatnonzero((starts <= a) & (ends > a)).tolist()))
        for a, b in itertools.pairwise(moments)
    ]


def settled_queue(run: Run, begin: float, end: float) -> float:
    """Mean queue in the second half of an interval, bytes; NaN without a sample there."""
    chosen = (run.times_ns >= (begin + end) / 2) & (run.times_ns < end)
    return float(run.queue_bytes[chosen].mean()) if chosen.any() else float("nan")


def peak_queue(run: Run, begin: float, end: float) -> float:
    """Longest queue seen in an interval, bytes; NaN without a sample there."""
    chosen = (run.times_ns >= begin) & (run.times_ns < end)
    return float(run.queue_bytes[chosen].max()) if chosen.any() else float("nan")


def unfairness(run: Run, begin: float, end: float, active: tuple[int, ...]) -> float:
    """Largest distance of an active flow's throughput from their mean, as a share of it, in the second half
    of an interval; NaN where no whole bin lies in it."""
    first, last = -(-round((begin + end) / 2) // run.bin_ns), int(end // run.bin_ns)
    if last <= first:
        return float("nan")
    means = run.share[list(active), first:last].mean(axis=1)
    return float(np.abs(means - means.mean()).max() / means.mean())


def utilisation(run: Run, begin: float, end: float) -> float:
    """Share of the bottleneck's rate that all flows together had in an interval's whole bins."""
    first, last = -(-round(begin) // run.bin_ns), int(end // run.bin_ns)
    return float(run.share[:, first:last].sum(axis=0).mean()) if last > first else float("nan")


def taken_ns(run: Run, begin: float, end: float) -> float:
    """From an interval's begin to the end of the first whole bin in which all flows together have 95 % of
    what they have in the interval's second half, ns; NaN where there is none."""
    first, last = -(-round(begin) // run.bin_ns), int(end // run.bin_ns)
    total = run.share[:, first:last].sum(axis=0)
    if len(total) < 2:
        return float("nan")
    full = np.flatnonzero(total >= 0.95 * total[len(total) // 2 :].mean())
    return float((first + full[0] + 1) * run.bin_ns - begin) if len(full) else float("nan")


def fair_ns(run: Run, begin: float) -> float:
    """From a change at ``begin`` until the shares are fair and stay so, ns; NaN where they never are, or
    nothing was recorded to tell (``ns3_env.eval.metrics.convergence.changes``)."""
    return next((change.after_ns for change in run.moments if change.at_ns == begin), float("nan"))


GRID_COLUMNS = (
    "controller",
    "flows",
    "fair (ms)",
    "taken (ms)",
    "unfairness",
    "link used",
    "settled (B)",
    "longest (B)",
)


def grid_rows(runs: Mapping[str, Run], kind: Literal["joining", "leaving"]) -> list[tuple[str | float, ...]]:
    """``GRID_COLUMNS`` for each interval that a flow's start (or end) begins."""
    found: list[tuple[str | float, ...]] = []
    for name, run in runs.items():
        before = 0
        for begin, end, active in intervals(run):
            if before and active and (len(active) > before) == (kind == "joining"):
                found.append(
                    (
                        name,
                        float(len(active)),
                        fair_ns(run, begin) / 1e6,
                        taken_ns(run, begin, end) / 1e6,
                        unfairness(run, begin, end, active),
                        utilisation(run, begin, end),
                        settled_queue(run, begin, end),
                        peak_queue(run, begin, end),
                    )
                )
            before = len(active)
    return found


def queue_rows(runs: Mapping[str, Run], kind: Literal["joining", "leaving"]) -> list[Row]:
    """The settled queues of the drawn controllers beside the thesis's: zero, and (N − 1) x 4344 B (5.3)."""
    return [
        Row(
            f"{row[0].upper()}, queue with {row[1]:g} flow{'s' * (row[1] > 1)}",
            "B",
            0.0 if row[0] == "mpcc" else (row[1] - 1) * THEIR_BDP_BYTES,
            float(row[6]),
            "Fig. 5.4a" if row[0] == "mpcc" else "Fig. 5.4b",
        )
        for row in grid_rows({name: runs[name] for name in DRAWN}, kind)
        if isinstance(row[0], str) and isinstance(row[1], float)
    ]


def pictures(runs: Mapping[str, Run], until_ns: float, kind: str) -> dict[str, bytes]:
    """Both figures up to an instant, by file name."""
    drawn = {name: runs[name] for name in DRAWN}
    return {
        f"fig-5-3-{kind}": _draw_throughput(drawn, until_ns),
        f"fig-5-4-{kind}": _draw_queue(drawn, until_ns),
    }


def _draw_throughput(runs: Mapping[str, Run], until_ns: float) -> bytes:
    """Fig. 5.3: each flow's share of the link, a panel for each controller."""
    unit, word = time_unit(until_ns)
    together = 1 + int(until_ns // next(iter(runs.values())).bin_ns) // _POINTS
    titles = [
        f"throughput, {name.upper()} (means of {together * x.bin_ns / 1e6:g} ms)" for name, x in runs.items()
    ]
    figure, several = panels(titles, 2, 2.8)
    for axes, run in zip(several, runs.values(), strict=True):
        bins = min(run.share.shape[1] - 1, int(until_ns // run.bin_ns)) // together  # the last one may be cut
        means = run.share[:, : bins * together].reshape(len(run.share), bins, together).mean(axis=2)
        middles = (np.arange(bins) + 0.5) * together * run.bin_ns
        for flow, colour in enumerate(flow_colours(len(run.share))):
            axes.plot(middles / unit, means[flow], color=colour, linewidth=1.2, label=f"flow {flow}")
        axes.set(
            xlabel=f"time ({word})", ylabel="share of the link", xlim=(0, until_ns / unit), ylim=(0, 1.05)
        )
    return finished(figure, several[0])


def _draw_queue(runs: Mapping[str, Run], until_ns: float) -> bytes:
    """Fig. 5.4: switch 1's queue, a panel for each controller, with the thesis's bound (eq. 4.3)."""
    unit, word = time_unit(until_ns)
    looks = styles(runs)
    figure, several = panels([f"queue, {name.upper()}" for name in runs], 2, 2.8)
    longest = max(run.queue_bytes.max() for run in runs.values())
    for axes, (name, run) in zip(several, runs.items(), strict=True):
        kept = run.times_ns <= until_ns
        line = {**looks[name].of_line, "linestyle": "-", "linewidth": 0.8}
        axes.plot(*envelope(run.times_ns[kept] / unit, run.queue_bytes[kept] / 1e3), **line)
        for begin, end, active in intervals(run):
            level = (len(active) - 1) * THEIR_BDP_BYTES / 1e3
            within = (begin / unit, min(end, until_ns) / unit)
            axes.hlines(level, *within, color="#000000", linewidth=0.8, linestyle="--")
        axes.plot(
            [], [], color="#000000", linewidth=0.8, linestyle="--", label="(N − 1) · 4344 B (section 5.3)"
        )
        axes.set(xlabel=f"time ({word})", ylabel="queue (kB)", xlim=(0, until_ns / unit))
        axes.set_ylim(0, 1.05 * max(longest / 1e3, (SENDERS - 1) * THEIR_BDP_BYTES / 1e3))
    return finished(figure, several[0])


def csvs(runs: Mapping[str, Run]) -> dict[str, str]:
    """Throughput and queue of both controllers as CSV texts, by file name."""
    rates = [
        (name, k * run.bin_ns, *(round(float(x), 5) for x in run.share[:, k]))
        for name, run in runs.items()
        for k in range(run.share.shape[1])
    ]
    queues = [
        (name, round(t), round(b))
        for name, run in runs.items()
        for t, b in zip(run.times_ns, run.queue_bytes, strict=True)
    ]
    flows = [f"flow_{i}" for i in range(SENDERS)]
    return {
        "throughput": csv_text(("controller", "t_ns", *flows), rates),
        "queue": csv_text(("controller", "t_ns", "bytes"), queues),
    }

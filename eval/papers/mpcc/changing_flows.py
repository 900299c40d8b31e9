# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows that join and leave a link: scenario, numbers and figures (Zheng 2024, Figs. 5.3 and 5.4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from ns3_env.eval.metrics.convergence import changes
from ns3_env.eval.output.plots import envelope, styles, time_unit
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS, SENDERS
from ns3_env.eval.papers.outcome import Grid, Row, grid
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Seen, queues_csv
from ns3_env.eval.papers.shares import Shares, draw_shares, shares_csv
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining

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
#: A frame of MPCC's: a queue of less, in the mean, is no queue.
FRAME_BYTES = 1080
_QUEUE = ("settled (B)", "longest (B)")
_HEADS = ("controller", "flows", "fair (ms)", "taken (ms)", "unfairness", "link used", *_QUEUE)
_NAMES = ("flows", "fair_ms", "taken_ms", "unfairness", "used", "settled", "longest")
#: Numbers of each change, by controller.
Table = Mapping[str, Sequence[Mapping[str, float]]]


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


class Run:
    """One controller's run.

    Attributes:
        shares: of the bottleneck.
        times_ns, queue_bytes: samples of switch 1's egress queue.
        moments: every change of the set of active flows that can be judged.
        intervals: (begin, end, active flows) between the changes, ns, in order.
    """

    def __init__(self, shares: Shares) -> None:
        seen = Seen(shares.results)
        self.shares, self.times_ns, self.queue_bytes = shares, seen.times_ns, seen.lengths[BOTTLENECK]
        self.moments = changes(shares.results) if "windows" in shares.results else []
        starts, ends = seen.flows["start_ns"], seen.flow_ends_ns
        self.intervals = [
            (float(a), float(b), np.flatnonzero((starts <= a) & (ends > a)).tolist())
            for a, b in itertools.pairwise(np.unique(np.concatenate([starts, ends])))
        ]

    def numbers(self, begin: float, end: float, active: list[int]) -> dict[str, float]:
        """Of an interval; NaN without a sample, or a whole bin, that tells.

        fair: from the begin until the shares are fair and stay so
        (``ns3_env.eval.metrics.convergence.changes``); taken: until all flows together have 95 % of what they
        have in the second half; unfairness: largest distance of an active flow's throughput from their mean,
        as a share of it, in the second half; used: share of the bottleneck's rate; settled: mean queue in the
        second half; longest: of the queue.
        """
        middle, bin_ns = (begin + end) / 2, self.shares.bin_ns
        total = self.shares.between(begin, end).sum(axis=0)
        late = self.shares.between(middle, end)[active]
        means = late.mean(axis=1) if late.shape[1] else np.full(1, np.nan)
        enough = 0.95 * total[len(total) // 2 :].mean() if len(total) > 1 else np.inf
        full = np.flatnonzero(total >= enough)
        first = -(-round(begin) // bin_ns)
        queue, settled = (
            self.queue_bytes[(self.times_ns >= since) & (self.times_ns < end)] for since in (begin, middle)
        )
        fair_ns = next((change.after_ns for change in self.moments if change.at_ns == begin), math.nan)
        return {
            "flows": float(len(active)),
            "fair_ms": fair_ns / 1e6,
            "taken_ms": float((first + full[0] + 1) * bin_ns - begin) / 1e6 if len(full) else math.nan,
            "unfairness": float(np.abs(means - means.mean()).max() / means.mean()),
            "used": float(total.mean()) if len(total) else math.nan,
            "settled": float(settled.mean()) if len(settled) else math.nan,
            "longest": float(queue.max()) if len(queue) else math.nan,
        }

    def after(self, kind: Literal["joining", "leaving"]) -> list[dict[str, float]]:
        """Numbers of each interval that a flow's start (or end) begins."""
        pairs = itertools.pairwise(self.intervals)
        return [
            self.numbers(*now)
            for before, now in pairs
            if before[2] and now[2] and (len(now[2]) > len(before[2])) == (kind == "joining")
        ]


def table_of(title: str, table: Table) -> Grid:
    """Every change under every controller."""
    rows = ((name, own) for name, changed in table.items() for own in changed)
    return grid(title, _HEADS, _NAMES, rows)


def queue_rows(table: Table) -> list[Row]:
    """The settled queues of the drawn controllers beside the thesis's: zero, and (N − 1) x 4344 B (5.3)."""
    return [
        Row(
            f"{name.upper()}, queue with {own['flows']:g} flow{'s' * (own['flows'] > 1)}",
            "B",
            0.0 if name == "mpcc" else (own["flows"] - 1) * THEIR_BDP_BYTES,
            own["settled"],
            "Fig. 5.4a" if name == "mpcc" else "Fig. 5.4b",
        )
        for name in DRAWN
        for own in table[name]
    ]


def pictures(runs: Mapping[str, Run], until_ns: float, kind: str) -> dict[str, bytes]:
    """Both figures up to an instant, by file name."""
    drawn = {name: runs[name] for name in DRAWN}
    shares = {name: run.shares for name, run in drawn.items()}
    bin_ns = shares[DRAWN[0]].bin_ns
    together = 1 + int(until_ns // bin_ns) // _POINTS
    title = f"throughput, {{}} (means of {together * bin_ns / 1e6:g} ms)"
    flows = [f"flow {i}" for i in range(SENDERS)]
    return {
        f"fig-5-3-{kind}": draw_shares(shares, until_ns, flows, title, together, 2.8, 1.2),
        f"fig-5-4-{kind}": _draw_queue(drawn, until_ns),
    }


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
        for begin, end, active in run.intervals:
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
    """Throughput and queue of all controllers as CSV texts, by file name."""
    queues = {name: (run.times_ns, run.queue_bytes) for name, run in runs.items()}
    return {
        "throughput": shares_csv({name: run.shares for name, run in runs.items()}),
        "queue": queues_csv(("controller", "t_ns", "bytes"), queues),
    }

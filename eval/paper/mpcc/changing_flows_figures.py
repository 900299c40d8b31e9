# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws throughput and queue as flows join and leave, MPCC beside HPCC (Figs. 5.3 and 5.4)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.paper.mpcc.changing_flows import DRAWN, THEIR_BDP_BYTES, Run, intervals
from ns3_env.eval.paper.mpcc.open_loop import SENDERS
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import envelope, styles, time_unit
from ns3_env.eval.plots.table import csv_text
from ns3_env.eval.trace.knobs import flow_colours

#: More bins than these are drawn together.
_POINTS = 500


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

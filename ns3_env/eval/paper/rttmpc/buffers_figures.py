# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws rates, RTTs, losses and starts by buffer size (Lynn et al. 2020, Figs. 5 to 9)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.paper.panels import MODEL, curve, finished, panels
from ns3_env.eval.paper.rttmpc.buffers_numbers import BUFFERS_BDP, FLOWS, THEIR_LOSSES, Table, along
from ns3_env.eval.paper.rttmpc.path import RATE, RTT_NS
from ns3_env.eval.paper.rttmpc.seen import Floats, Seen
from ns3_env.eval.plots.plots import OTHERS, styles
from ns3_env.eval.plots.table import csv_text

#: Of Fig. 9, in BDPs, and how long it is looked at.
_RISING, _RISING_S = (0.25, 0.5, 1.0, 8.0), 8.0
_LABELS = [f"1/{round(1 / x)}" if x < 1 else f"{x:g}" for x in BUFFERS_BDP]


def boxes(runs: Mapping[float, Seen]) -> bytes:
    """Two flows' combined rates and mean RTTs as boxes with outliers beyond 1.5 of their height."""
    figure, (rates, rtts) = panels(["combined rate of two flows", "mean RTT of two flows"], 2, 3.2)
    _boxes(rates, [run.combined[run.combined > 0] for run in runs.values()])
    _boxes(rtts, [run.mean_rtts_ms for run in runs.values()])
    rates.axhline(RATE, color=MODEL.colour, linestyle=MODEL.line, linewidth=0.8, label="the link")
    rates.set(xlabel="buffer (BDP)", ylabel="rate (Gb/s, of 40)", ylim=(0, 2 * RATE))
    rtts.set(xlabel="buffer (BDP)", ylabel="RTT (ms)")
    return finished(figure, rates)


def _boxes(axes: Axes, values: list[Floats]) -> None:
    outlier = {"marker": ".", "markersize": 2, "markeredgecolor": "#D55E00", "alpha": 0.4}
    middle = {"color": OTHERS[0], "linewidth": 1.6}
    axes.boxplot(values, whis=1.5, flierprops=outlier, medianprops=middle, widths=0.6)
    axes.set_xticks(range(1, len(_LABELS) + 1), _LABELS)


def losses_and_times(table: Table) -> bytes:
    """Losses, and the time to 95 % of the link's rate, each against the buffer."""
    figure, (lost, reached) = panels(["losses", "until 95 % of the link's rate, held"], 2, 3.0)
    for row, (name, look) in enumerate(styles([f"{x} flow{'s' * (x > 1)}" for x in FLOWS]).items()):
        shares = along(table, "lost")[row]
        lost.plot(BUFFERS_BDP, np.where(shares > 0, shares, np.nan), label=name, **look.of_points)
        lost.plot(BUFFERS_BDP, THEIR_LOSSES[FLOWS[row]], color=look.colour, linewidth=0.7, alpha=0.6)
        reached.plot(BUFFERS_BDP, along(table, "reached_s")[row], **look.of_points)
    lost.set(yscale="log", ylabel="share of packets (thin: published)")
    reached.axhline(RTT_NS / 1e9, color=MODEL.colour, linestyle=MODEL.line, linewidth=0.8)
    reached.set(yscale="log", ylabel="time (s); dashed: an RTT")
    for axes in (lost, reached):
        axes.set_xscale("log", base=2)
        axes.set_xticks(BUFFERS_BDP, _LABELS)
        axes.set_xlabel("buffer (BDP)")
    return finished(figure, lost)


def rising(runs: Mapping[float, Seen]) -> bytes:
    """Two flows' combined rate from their start on."""
    figure, (axes,) = panels(["combined rate of two flows from their start"], 1, 3.2)
    names = {buffer: f"{_LABELS[BUFFERS_BDP.index(buffer)]} BDP" for buffer in _RISING}
    for buffer, look in zip(_RISING, styles(names.values()).values(), strict=True):
        own = runs[buffer]
        kept = own.times_s <= _RISING_S
        curve(axes, own.times_s[kept], own.combined[kept], names[buffer], look, (1, 1), thin=True)
    axes.axhline(RATE, color=MODEL.colour, linestyle=MODEL.line, linewidth=0.8)
    axes.set(xlabel="time (s)", ylabel="rate (Gb/s, of 40)", xlim=(0, _RISING_S), ylim=(0, 2 * RATE))
    return finished(figure, axes)


def series(runs: Mapping[float, Seen], each: int = 5) -> str:
    """Two flows' combined rates and mean RTTs, each ``each`` looks, as CSV."""
    rows = [
        (buffer, f"{t:.4f}", f"{rate:.4g}", f"{rtt:.5g}")
        for buffer, own in runs.items()
        for t, rate, rtt in zip(
            own.times_s[::each], own.combined[::each], own.mean_rtts_ms[::each], strict=True
        )
    ]
    return csv_text(("buffer_bdp", "t_s", "rate_of_40", "rtt_ms"), rows)

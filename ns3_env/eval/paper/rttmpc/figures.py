# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws rates and RTTs over time (Lynn et al. 2020, Fig. 3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.paper.panels import MODEL, curve, finished, panels
from ns3_env.eval.paper.rttmpc.path import RATE
from ns3_env.eval.paper.rttmpc.seen import Seen
from ns3_env.eval.plots.plots import styles
from ns3_env.eval.plots.table import csv_text


def over_time(runs: Mapping[str, Seen], end_s: float, link: float = RATE, unit: str = "of 40") -> bytes:
    """Combined pacing rates, and the first flow's RTT. A law that does not pace has no curve of its rate.

    Args:
        runs: by law.
        end_s: of the axes.
        link: its rate in ``unit``.
        unit: of rates.
    """
    figure, (rates, rtts) = panels(["pacing rates together (dashed: the link)", "RTT"], 2, 2.8)
    for name, look in styles(runs).items():
        own = runs[name]
        kept = own.times_s <= end_s
        times = own.times_s[kept]
        if own.rates.any():
            curve(rates, times, own.combined[kept] * link / RATE, name, look, (1, 1), thin=True)
        curve(rtts, times, own.rtts_ms[0, kept], name, look, (1, 1), thin=True)
    rates.axhline(link, color=MODEL.colour, linestyle=MODEL.line, linewidth=0.8)
    rates.set(xlabel="time (s)", ylabel=f"rate ({unit})", ylim=(0, 2 * link), xlim=(0, end_s))
    rtts.set(xlabel="time (s)", ylabel="RTT (ms)", xlim=(0, end_s))
    return finished(figure, rtts)


def rates_csv(runs: Mapping[str, Seen], each_s: float = 0.1) -> str:
    """Rates and RTTs each ``each_s``."""
    rows = []
    for name, own in runs.items():
        step = max(1, round(each_s / float(np.diff(own.times_s[:2])[0])))
        for i in range(0, len(own.times_s), step):
            rows += [
                (name, flow + 1, round(float(own.times_s[i]), 6), f"{rates[i]:.4g}", f"{rtts[i]:.5g}")
                for flow, (rates, rtts) in enumerate(zip(own.rates, own.rtts_ms, strict=True))
            ]
    return csv_text(("case", "flow", "t_s", "rate_of_40", "rtt_ms"), rows)

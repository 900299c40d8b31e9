# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws RTTs and completion times (Liang 2018, Figs. 4-2 to 4-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.paper.tdctcp.seen import Floats, Seen
from ns3_env.eval.plots.plots import styles
from ns3_env.eval.plots.table import csv_text

_PERCENT = np.arange(1, 100) / 100


def distributions(main: Mapping[str, Seen], many: Mapping[str, Seen], title: str = "15 flows") -> bytes:
    """Cumulative distributions of RTTs: few flows, and many."""
    figure, (few, more) = panels([title, f"{len(next(iter(many.values())).sizes_bytes):,} flows"], 2, 2.9)
    looks = styles(main)
    for axes, runs in ((few, main), (more, many)):
        for law, own in runs.items():
            axes.plot(own.rtts_ms, _PERCENT, label=law, **looks[law].of_line)
        axes.set(xlabel="RTT (ms)", ylabel="share of packets", ylim=(0, 1), xscale="log")
    return finished(figure, few)


def completions(
    fcts_ms: Mapping[str, Floats], means_ms: Mapping[str, Sequence[float]], sizes: Sequence[str]
) -> bytes:
    """Completion times of all flows as a distribution, and their means by size as bars.

    Args:
        fcts_ms: of each law's flows.
        means_ms: of each law, by size.
        sizes: in words.
    """
    figure, (spread, bars) = panels(["completion times of all flows", "means by size"], 2, 2.9)
    looks = styles(fcts_ms)
    width = 0.8 / len(fcts_ms)
    for number, (law, times) in enumerate(fcts_ms.items()):
        ordered = np.sort(times[np.isfinite(times)])
        spread.plot(ordered, np.arange(1, len(ordered) + 1) / len(times), label=law, **looks[law].of_line)
        places = np.arange(len(sizes)) + (number - (len(fcts_ms) - 1) / 2) * width
        bars.bar(places, means_ms[law], width, color=looks[law].colour)
    spread.set(xlabel="completion time (ms)", ylabel="share of flows", xscale="log", ylim=(0, 1))
    bars.set(ylabel="completion time (ms)", yscale="log")
    bars.set_xticks(range(len(sizes)), sizes)
    return finished(figure, spread)


def percentiles_csv(found: Mapping[tuple[str, str], Seen]) -> str:
    """The distributions of RTTs."""
    rows = [
        (setting, law, percent, f"{rtt:.6g}")
        for (setting, law), own in found.items()
        for percent, rtt in enumerate(own.rtts_ms, 1)
    ]
    return csv_text(("setting", "law", "percent", "rtt_ms"), rows)

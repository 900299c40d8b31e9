# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws queue CDFs and slowdowns by size on the fat-tree, four panels for each workload."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.paper.mpcc.fat_tree_numbers import Found, cdf
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import queue_scale, styles

_NAMES = [name for name, _, _, _ in SIZE_BUCKETS]


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

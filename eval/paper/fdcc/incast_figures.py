# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws four columns of Table 6.2 over the number of flows, the thesis's beside ours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.paper.fdcc.theirs import TABLE_6_2, title
from ns3_env.eval.paper.fdcc.verdicts import value
from ns3_env.eval.paper.outcome import Measured
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import styles

#: (name, words, divisor, scale of the axis)
_PANELS = (
    ("qlen_avg", "queue, mean (kB)", 1e3, "log"),
    ("fct_slowdown_avg", "FCT slowdown, mean / flows", 1.0, "linear"),
    ("unfair_ratio", "unfair ratio", 1.0, "log"),
    ("goodput", "goodput", 1.0, "linear"),
)
#: A ratio of 0 stands here, below all that are not.
_LEAST = 1e-6


def draw(ours: Mapping[int, Mapping[str, Measured]]) -> bytes:
    """Lines are ours, hollow marks the thesis's. Slowdowns are divided by the number of flows, which is the
    slowdown of flows that share the link and start together."""
    figure, several = panels([words for _, words, _, _ in _PANELS], 2, 2.7)
    names = next(iter(ours.values()))
    looks = styles(names)
    for axes, (key, words, divisor, scale) in zip(several, _PANELS, strict=True):
        for name in names:
            look = looks[name]
            heights = _heights({n: by_name[name] for n, by_name in ours.items()}, key, divisor)
            axes.plot(list(ours), heights, label=name, **look.of_points)
            theirs = {n: TABLE_6_2[title(n)].get(name, {}) for n in ours if title(n) in TABLE_6_2}
            axes.plot(
                list(theirs),
                _heights(theirs, key, divisor),
                color=look.colour,
                marker=look.marker,
                linestyle="none",
                fillstyle="none",
                markersize=8,
            )
        axes.set(xlabel="flows", ylabel=words, xscale="log", yscale=scale)
        axes.set_xticks(list(ours), [f"{n}" for n in ours])
        axes.minorticks_off()
    several[0].plot([], [], color="#000000", marker="o", fillstyle="none", linestyle="none", label="thesis")
    return finished(figure, several[0])


def _heights(by_flows: Mapping[int, Measured], key: str, divisor: float) -> list[float]:
    found = []
    for flows, own in by_flows.items():
        height = value(own, key) / divisor
        if key == "unfair_ratio" and not np.isnan(height):
            height = max(height, _LEAST)
        if not np.isfinite(height):
            height = np.nan
        found.append(height / flows if key.startswith("fct_slowdown") else height)
    return found

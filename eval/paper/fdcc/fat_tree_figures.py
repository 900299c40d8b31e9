# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws Fig. 6.3: distributions over the flows, a panel for each incast."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.paper.fdcc.incast_numbers import Spread
from ns3_env.eval.paper.fdcc.theirs import title
from ns3_env.eval.paper.fdcc.verdicts import value
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import styles
from ns3_env.simulator.results import Floats

Found = Mapping[int, Mapping[str, Spread]]


def draw_slowdowns(found: Found) -> bytes:
    """Fig. 6.3a."""
    return _draw(found, lambda own: own.slowdowns, "FCT slowdown")


def draw_pauses(found: Found) -> bytes:
    """Fig. 6.3b, as a total: in the fat-tree it is links between switches that are paused, not one flow's."""
    figure, (axes,) = panels(["paused time, all links together"], 1, 3.0)
    names = next(iter(found.values()))
    looks = styles(names)
    for name in names:
        paused = [value(by_name[name].numbers, "pfc_pause_ns") / 1e6 for by_name in found.values()]
        axes.plot(list(found), paused, label=name, **looks[name].of_points)
    axes.set(xlabel="flows", ylabel="ms", xscale="log", ylim=(0, None))
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xticks(list(found), [f"{n}" for n in found])
    axes.minorticks_off()
    return finished(figure, axes)


def draw_deviations(found: Found) -> bytes:
    """Fig. 6.3c."""
    return _draw(found, lambda own: own.deviations, "bandwidth / mean − 1")


def _draw(found: Found, of: Callable[[Spread], Floats], words: str) -> bytes:
    figure, several = panels([title(flows) for flows in found], 3, 3.0)
    for axes, by_name in zip(several, found.values(), strict=True):
        _curves(axes, {name: of(own) for name, own in by_name.items()})
        axes.set(xlabel=words, ylabel="share of flows", ylim=(0, 1.02))
    return finished(figure, several[0])


def _curves(axes: Axes, values: Mapping[str, Floats]) -> None:
    looks = styles(values)
    for name, own in values.items():
        if len(own):
            shares = np.arange(1, len(own) + 1) / len(own)
            axes.step(np.sort(own), shares, where="post", label=name, **looks[name].of_line)
        else:
            axes.plot([], [], label=name, **looks[name].of_line)

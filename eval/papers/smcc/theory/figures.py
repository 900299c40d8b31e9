# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws phase planes: trajectories, switching lines, sliding regimes (Jiang 2015, Figs. 6 to 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.output.plots import COLOURS, OTHERS
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.smcc.theory.claims import regime
from ns3_env.eval.papers.smcc.theory.fluid import Law, Trajectory
from ns3_env.eval.papers.smcc.theory.laws import Qcn, Smcc
from ns3_env.eval.papers.smcc.theory.theorems import line_y
from ns3_env.simulator.results import Floats

#: kB, and Mb/s of bytes per second.
KB, MBPS = 1e3, 125e3
_WAYS = tuple(COLOURS.values())
_SLIDING, _LINE, _MEASURED = "#E69F00", "#777777", OTHERS[0]


@dataclass(frozen=True)
class Plane:
    """One panel.

    Attributes:
        law: the fluid one.
        ways: of the fluid model.
        reach: |x| and |y| that are drawn.
        target: N R(0) − C for which QCN's sliding regime is marked.
        measured: (x, y) of a way that was measured; None without.
    """

    law: Law
    ways: Sequence[Trajectory]
    reach: tuple[float, float]
    target: float = 0.0
    measured: tuple[Floats, Floats] | None = None


def draw(planes: Mapping[str, Plane], columns: int = 2) -> bytes:
    """A panel for each plane, by its title."""
    figure, several = panels(list(planes), columns, 2.9)
    for axes, plane in zip(several, planes.values(), strict=True):
        _lines(axes, plane)
        for way, colour in zip(plane.ways, _WAYS, strict=False):
            axes.plot(way.x / KB, way.y / MBPS, color=colour, linewidth=1.1)
            axes.plot(way.x[0] / KB, way.y[0] / MBPS, color=colour, marker="o", markersize=4)
        if plane.measured is not None:
            x, y = plane.measured
            axes.plot(x / KB, y / MBPS, color=_MEASURED, linewidth=0.7, alpha=0.8)
        axes.axhline(0, color="#cccccc", linewidth=0.6, zorder=0)
        axes.axvline(0, color="#cccccc", linewidth=0.6, zorder=0)
        axes.set(
            xlabel="queue − q0 (kB)",
            ylabel="rates − C (Mb/s)",
            xlim=(-plane.reach[0] / KB, plane.reach[0] / KB),
            ylim=(-plane.reach[1] / MBPS, plane.reach[1] / MBPS),
        )
    first = several[0]
    first.plot([], [], color=_LINE, linestyle="--", linewidth=1.2, label="switching line")
    first.plot([], [], color=_SLIDING, linewidth=5, alpha=0.5, label="sliding regime")
    first.plot([], [], color="black", linewidth=1.1, marker="o", markersize=4, label="fluid, from here")
    if any(plane.measured is not None for plane in planes.values()):
        first.plot([], [], color=_MEASURED, linewidth=0.7, label="measured")
    return finished(figure, first)


def _lines(axes: Axes, plane: Plane) -> None:
    """Switching lines, and the stretches of them that are a sliding regime."""
    law, (reach, high) = plane.law, plane.reach
    dashed: dict[str, Any] = {"color": _LINE, "linestyle": "--", "linewidth": 1.2, "zorder": 1}
    wide: dict[str, Any] = {
        "color": _SLIDING,
        "linewidth": 5,
        "alpha": 0.5,
        "zorder": 0.5,
        "solid_capstyle": "butt",
    }
    xs = np.array([-reach, reach])
    if isinstance(law, Smcc):
        axes.plot(xs / KB, [0, 0], **dashed)
        axes.plot([0, 0], [-high / MBPS, high / MBPS], **dashed)
        axes.plot(xs / KB, [0, 0], **wide)
        return
    axes.plot(xs / KB, [line_y(law.link, float(x)) / MBPS for x in xs], **dashed)
    if isinstance(law, Qcn):
        stretch = regime(law, plane.target, (-reach, reach))
        axes.plot(np.array(stretch) / KB, [line_y(law.link, x) / MBPS for x in stretch], **wide)

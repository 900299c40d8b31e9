# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions and closed forms of sliding and trajectories in the plane (Jiang 2015)."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ns3_env.eval.paper.smcc.theory.fluid import Link, Mode, Trajectory
from ns3_env.eval.paper.smcc.theory.laws import Qcn, Smcc

Floats = npt.NDArray[np.float64]


def line_y(link: Link, x: float) -> float:
    """y of the switching line F_b = 0."""
    return -x / link.lead


def feedback_change(link: Link, mode: Mode, x: float) -> float:
    """dF_b/dt = −dx/dt − w/(pC) dy/dt on the line F_b = 0 in a mode's field (Jiang 2015, eqs. 21 to 23)."""
    y = line_y(link, x)
    return -y - link.lead * mode.change(0.0, x, y, y)


def inequality_24(law: Qcn, x: float, target: float) -> bool:
    """(2T − w/(pC)) x₀ ≤ (w/(pC))² (N R(0) − C): recovery leads back across the line (Jiang 2015, eq. 24)."""
    lead = law.link.lead
    return (2 * law.cycle - lead) * x <= lead**2 * target


def slides(link: Link, above: Mode, below: Mode, x: float) -> bool:
    """Both fields lead to the line F_b = 0 (Jiang 2015, eq. 21): ``above`` where F_b > 0, ``below`` where
    F_b < 0. The product of Theorem 1 is then at most 0 from both sides."""
    return feedback_change(link, above, x) <= 0 <= feedback_change(link, below, x)


def spiral_condition(link: Link, gd: float) -> tuple[float, float]:
    """What has to be below 1 for a spiral: (G_d w)²/(p² 4 G_d C) by eq. 20, sqrt(G_d w/(4Cp)) by Theorem 2.

    In packets of 1 kB and samples a second as eq. 15 counts them: G_d of a packet of F_b, p of packets.
    """
    per_packet = gd * 1000 / link.level
    p, packets = 1000 / link.sample, link.capacity / 1000
    return (per_packet * link.weight / p) ** 2 / (4 * per_packet * packets), math.sqrt(
        per_packet * link.weight / (4 * packets * p)
    )


def spiral(u: Floats, v: Floats, t: Floats, a: float, b: float) -> Floats:
    """((v − αu)² + β²u²) e^(−2αt), which stays what it is along du/dt = v, dv/dt = −b u − a v with a² < 4b
    (Jiang 2015, eq. 9)."""
    alpha, beta = -a / 2, math.sqrt(4 * b - a * a) / 2
    found: Floats = ((v - alpha * u) ** 2 + (beta * u) ** 2) * np.exp(-2 * alpha * t)
    return found


def not_a_hyperbola(u: Floats, v: Floats, g: float, h: float) -> Floats:
    """u + v/h + g/h² ln|g − h v|, which stays what it is along du/dt = v, dv/dt = g − h v (Jiang 2015,
    eq. 10): a logarithm, where the paper has hyperbolas."""
    found: Floats = u + v / h + g / h**2 * np.log(np.abs(g - h * v))
    return found


def ellipse(law: Smcc, x: Floats, y: Floats) -> Floats:
    """a₁ x² + y², which stays what it is in state A with one stage (Jiang 2015, eq. 26)."""
    found: Floats = law.a1(0.0) * x**2 + y**2
    return found


def shape(law: Smcc) -> float:
    """a₁ where queues count in q0 and rates in C: 1 is a circle, more is a tall ellipse (Figs. 7, 8)."""
    link = law.link
    return law.a1(0.0) * (link.target / link.capacity) ** 2


def rest(law: Smcc, x: float, y: float) -> float:
    """Where state B's straight line from (x, y) meets y = 0: at x + y/b₂, if it stays in its quadrant."""
    return x + y / law.b2


def sliding_stretches(way: Trajectory, longest: float, least: int = 4) -> list[tuple[float, float]]:
    """(begin, end) of the times in which a trajectory changes modes, ``least`` times at least, and never
    waits longer than ``longest`` seconds for it."""
    times = np.array([switch.t for switch in way.switches])
    groups = np.split(times, np.flatnonzero(np.diff(times) > longest) + 1)
    return [(float(group[0]), float(group[-1])) for group in groups if len(group) >= least]

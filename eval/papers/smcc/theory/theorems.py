# SPDX-License-Identifier: GPL-2.0-or-later
"""Closed forms of sliding and trajectories, and the theorems on random states (Jiang 2015)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ns3_env.eval.papers.smcc.theory.fluid import STANDS, Link, Mode, Trajectory, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.simulator.results import Floats

#: The plane as the paper draws it: no bounds.
FREE = Link(bounded=False)
#: Of a time in which a way is followed: short beside every time constant here.
_STEP = 1e-7
#: A field less steep than this, of the other one, leads back too slowly to be seen within the steps followed.
_SHALLOW = 0.05


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


@dataclass(frozen=True)
class Count:
    """``agreed`` of ``tried``."""

    agreed: int
    tried: int

    @classmethod
    def of(cls, verdicts: Iterable[bool]) -> Count:
        """Of so many."""
        told = list(verdicts)
        return cls(sum(told), len(told))

    @property
    def all(self) -> bool:
        """None failed, of at least one."""
        return self.tried > 0 and self.agreed == self.tried

    def __str__(self) -> str:
        return f"{self.agreed:,} of {self.tried:,}"


def random_link(random: np.random.Generator) -> Link:
    """1 to 64 sources, 1 to 100 Gb/s, a sample each 20 to 500 kB."""
    rate = 125e6 * 10 ** random.uniform(0, 2)
    return Link(
        flows=int(random.integers(1, 65)),
        rate=rate,
        background=rate * random.uniform(0, 0.9),
        sample=10 ** random.uniform(4.3, 5.7),
        weight=random.uniform(0.5, 4),
        bounded=False,
    )


def random_line(random: np.random.Generator) -> tuple[Qcn, float, float]:
    """A QCN system, x₀ > 0 of a point of its switching line, and N R(0) − C there."""
    link = random_link(random)
    law = Qcn(link, bytes=10 ** random.uniform(4, 5.5))
    return law, link.target * random.uniform(0.01, 1), link.capacity * random.uniform(-0.5, 2)


@dataclass(frozen=True)
class _Begun:
    """A QCN system that begins in a mode of our choice."""

    law: Qcn
    mode: Mode

    @property
    def link(self) -> Link:
        return self.law.link

    def first(self, x: float, y: float) -> Mode:
        return self.mode

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        return self.law.after(mode, since, x, y, slope)


def _shortly(law: Qcn, mode: Mode, x: float) -> float:
    """dF_b/dt from x of the line F_b = 0 on, by following a mode's field for a moment, as if it acted
    everywhere."""
    everywhere, y = Mode("everywhere", mode.change, lambda x, y, slope: 1.0), line_y(law.link, x)
    way = trajectory(_Begun(law, everywhere), x, y, _STEP)
    end = law.link.feedback(float(way.x[-1]), float(way.y[-1]))
    return (end - law.link.feedback(x, y)) / _STEP


def inequality_24_agrees(random: np.random.Generator, count: int) -> Count:
    """Whether recovery leads back across F_b = 0, as it is followed and as inequality (24) has it."""
    lines = (random_line(random) for _ in range(count))
    return Count.of(
        (_shortly(law, law.recovering(target), x) <= 0) == inequality_24(law, x, target)
        for law, x, target in lines
    )


def decrease_leads_back(random: np.random.Generator, count: int) -> Count:
    """Whether decrease leads back across F_b = 0 at pC/w · x₀, at any x₀ > 0 (eq. 22)."""
    lines = (random_line(random) for _ in range(count))
    return Count.of(
        math.isclose(_shortly(law, law.decreasing(target), x), x / law.link.lead, rel_tol=1e-3)
        for law, x, target in lines
    )


def theorem_1_agrees(random: np.random.Generator, count: int) -> Count:
    """Whether a state keeps changing modes at the line exactly where both fields lead to it."""
    found: list[bool] = []
    while len(found) < count:
        law, x, target = random_line(random)
        below = feedback_change(law.link, law.decreasing(target), x)
        above = feedback_change(law.link, law.recovering(target), x)
        if _SHALLOW < abs(above) / below < 1 / _SHALLOW:
            inside = line_y(law.link, x) - abs(above) * _STEP / law.link.lead
            way = trajectory(_Begun(law, law.recovering(target)), x, inside, 100 * _STEP, _STEP)
            found.append((len(way.switches) >= 3) == (above <= 0 <= below))
    return Count.of(found)


def random_smcc(random: np.random.Generator, taller: bool) -> tuple[Smcc, float, float]:
    """An SMCC system, ``taller``: with a > 1 (Fig. 7), else a < 1 (Fig. 8), and a state."""
    link = random_link(random)
    unit = Smcc(link, 1.0, 1.0, 1.0)
    # a₁ in units of q0 and C, as the figures need it.
    one = link.capacity**2 / link.target**2 / unit.a1(0.0)
    share = one * 10 ** (random.uniform(0.01, 2) if taller else random.uniform(-2, -0.01))
    law = replace(unit, large=share, small=share, delta=10 ** random.uniform(-2, 0))
    return law, link.target * random.uniform(-1, 1), link.capacity * random.uniform(-1, 2)


def theorem_3_agrees(random: np.random.Generator, count: int, taller: bool) -> Count:
    """Whether SMCC comes to y = 0 from a random state, in the time that the slowest motion needs."""

    def comes(law: Smcc, x: float, y: float) -> bool:
        way = trajectory(law, x, y, max(40 / law.b2, 20 / math.sqrt(law.a1(0.0))))
        return way.stood and bool(abs(way.y[-1]) <= STANDS * law.link.rate)

    return Count.of(comes(*random_smcc(random, taller)) for _ in range(count))


def bcn_never_slides(random: np.random.Generator, count: int) -> Count:
    """Whether both of BCN's fields cross F_b = 0 in the same direction, at random points of it."""

    def crosses() -> bool:
        law, x = Bcn(random_link(random)), FREE.target * random.uniform(-1, 1)
        first, second = (feedback_change(law.link, mode, x) for mode in law.modes())
        return first * second > 0

    return Count.of(crosses() for _ in range(count))


def slope_of_state_b(link: Link) -> tuple[float, float]:
    """dy/dx along a way in state B, and −b of a sample, 1/s."""
    law = Smcc(link)
    way = trajectory(law, 0.5 * link.target, -0.02 * link.capacity, 0.2 / law.b2)
    slope = (way.y[-1] - way.y[0]) / (way.x[-1] - way.x[0])
    return float(slope), -law.delta * link.rate / link.target


def standstill(law: Smcc, x: float, y: float, delay: float) -> float:
    """The offset at which a way comes to stand; NaN where it does not within 200 samples."""
    way = trajectory(law, x, y, 200 * law.link.interval, delay)
    return float(way.x[-1]) if way.stood else math.nan

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the theorems on random states and links (Jiang 2015, sec. 2.3, 3.2, 4.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ns3_env.eval.paper.smcc.theory.closed_forms import feedback_change, inequality_24, line_y
from ns3_env.eval.paper.smcc.theory.fluid import STANDS, Link, Mode, Trajectory, trajectory
from ns3_env.eval.paper.smcc.theory.laws import Bcn, Qcn, Smcc, decreasing, recovering

#: The plane as the paper draws it: no bounds.
FREE = Link(bounded=False)
#: Of a time in which a way is followed: short beside every time constant here.
_STEP = 1e-7
#: A field less steep than this, of the other one, leads back too slowly to be seen within the steps followed.
_SHALLOW = 0.05


@dataclass(frozen=True)
class Count:
    """``agreed`` of ``tried``."""

    agreed: int
    tried: int

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


def _shortly(law: Qcn, mode: Mode, x: float, y: float) -> float:
    """dF_b/dt by following a mode's field for a moment."""
    way = trajectory(_Only(law.link, mode), x, y, _STEP)
    end = law.link.feedback(float(way.x[-1]), float(way.y[-1]))
    return (end - law.link.feedback(x, y)) / _STEP


@dataclass(frozen=True)
class _Only:
    """A field that acts everywhere, and is a law by itself."""

    link: Link
    mode: Mode

    name, lasts = "only", math.inf

    def change(self, since: float, x: float, y: float, slope: float) -> float:
        return self.mode.change(since, x, y, slope)

    def inside(self, x: float, y: float, slope: float) -> float:
        return 1.0

    def stands(self, y: float) -> bool:
        return False

    def first(self, x: float, y: float) -> Mode:
        return self

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        return self


def inequality_24_agrees(random: np.random.Generator, count: int) -> Count:
    """Whether recovery leads back across F_b = 0, as it is followed and as inequality (24) has it."""
    agreed = 0
    for _ in range(count):
        law, x, target = random_line(random)
        seen = _shortly(law, recovering(law, target), x, line_y(law.link, x)) <= 0
        agreed += seen == inequality_24(law, x, target)
    return Count(agreed, count)


def decrease_leads_back(random: np.random.Generator, count: int) -> Count:
    """Whether decrease leads back across F_b = 0 at pC/w · x₀, at any x₀ > 0 (eq. 22)."""
    agreed = 0
    for _ in range(count):
        law, x, target = random_line(random)
        seen = _shortly(law, decreasing(law, target), x, line_y(law.link, x))
        agreed += math.isclose(seen, x / law.link.lead, rel_tol=1e-3)
    return Count(agreed, count)


def theorem_1_agrees(random: np.random.Generator, count: int) -> Count:
    """Whether a state keeps changing modes at the line exactly where both fields lead to it."""
    agreed = tried = 0
    while tried < count:
        law, x, target = random_line(random)
        below = feedback_change(law.link, decreasing(law, target), x)
        above = feedback_change(law.link, recovering(law, target), x)
        if not _SHALLOW < abs(above) / below < 1 / _SHALLOW:
            continue
        tried += 1
        inside = line_y(law.link, x) - abs(above) * _STEP / law.link.lead
        way = trajectory(_Begun(law, recovering(law, target)), x, inside, 100 * _STEP, _STEP)
        agreed += (len(way.switches) >= 3) == (above <= 0 <= below)
    return Count(agreed, tried)


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


def random_smcc(random: np.random.Generator, taller: bool) -> tuple[Smcc, float, float]:
    """An SMCC system, ``taller``: with a > 1 (Fig. 7), else a < 1 (Fig. 8), and a state."""
    link = random_link(random)
    unit = Smcc(link, 1.0, 1.0, 1.0)
    # a₁ in units of q0 and C, as the figures need it.
    one = link.capacity**2 / link.target**2 / unit.a1(0.0)
    share = one * 10 ** (random.uniform(0.01, 2) if taller else random.uniform(-2, -0.01))
    law = replace(unit, large=share, small=share, delta=10 ** random.uniform(-2, 0))
    return law, link.target * random.uniform(-1, 1), link.capacity * random.uniform(-1, 2)


def reaches_sliding_regime(law: Smcc, x: float, y: float) -> Trajectory | None:
    """The way to y = 0; None where it does not come there in the time that the slowest motion needs."""
    slowest = max(40 / law.b2, 20 / math.sqrt(law.a1(0.0)))
    way = trajectory(law, x, y, slowest)
    return way if way.stood and abs(way.y[-1]) <= STANDS * law.link.rate else None


def theorem_3_agrees(random: np.random.Generator, count: int, taller: bool) -> Count:
    """Whether SMCC comes to y = 0 from a random state."""
    found = [reaches_sliding_regime(*random_smcc(random, taller)) is not None for _ in range(count)]
    return Count(sum(found), count)


def bcn_never_slides(random: np.random.Generator, count: int) -> Count:
    """Whether both of BCN's fields cross F_b = 0 in the same direction, at random points of it."""
    agreed = 0
    for _ in range(count):
        law, x = Bcn(random_link(random)), FREE.target * random.uniform(-1, 1)
        y = line_y(law.link, x)
        changes = [-y - law.link.lead * mode.change(0.0, x, y, y) for mode in law.modes()]
        agreed += changes[0] * changes[1] > 0
    return Count(agreed, count)


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

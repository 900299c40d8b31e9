# SPDX-License-Identifier: GPL-2.0-or-later
"""Vector fields of BCN, SMCC and QCN in the plane (Jiang 2015, eqs. 2, 15, 17, 18, 26 and 27)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ns3_env.eval.paper.smcc.theory.fluid import STANDS, Link, Mode

RECOVERY, ACTIVE = "fast recovery", "active increase"
#: Cycles of fast recovery (Jiang 2015, sec. 2.2).
CYCLES = 5


def decrease(link: Link, gd: float, x: float, y: float, slope: float) -> float:
    """dy/dt of BCN and QCN where F_b < 0 (Jiang 2015, eq. 17).

    Args:
        link: the bottleneck.
        gd: G_d, of a rate for a level of F_b and a feedback.
        x: offset, bytes.
        y: excess rate, bytes per second.
        slope: dq/dt.
    """
    return gd / link.level * link.feedbacks * link.feedback(x, slope) * (y + link.capacity)


@dataclass(frozen=True)
class _Bcn:
    law: Bcn
    name: str

    lasts = math.inf

    def change(self, since: float, x: float, y: float, slope: float) -> float:
        link = self.law.link
        if self.name == DECREASE:
            return decrease(link, self.law.gd, x, y, slope)
        unit = self.law.gi * self.law.unit * link.rate / link.level
        return link.flows * link.feedbacks * unit * link.feedback(x, slope)

    def inside(self, x: float, y: float, slope: float) -> float:
        feedback = self.law.link.feedback(x, slope)
        return -feedback if self.name == DECREASE else feedback

    def stands(self, y: float) -> bool:
        return False


DECREASE, INCREASE = "rate decrease", "rate increase"


@dataclass(frozen=True)
class Bcn:
    """Jiang 2015, eq. 2: multiplicative decrease, additive increase, each in proportion to F_b.

    Attributes:
        link: the bottleneck.
        gd: G_d, of the rate for one of the 63 levels of F_b.
        gi: G_i.
        unit: R_u, of the line rate.
    """

    link: Link
    gd: float = 1 / 128
    gi: float = 4.0
    unit: float = 1e-3

    def modes(self) -> tuple[Mode, Mode]:
        """Decrease and increase."""
        return _Bcn(self, DECREASE), _Bcn(self, INCREASE)

    def first(self, x: float, y: float) -> Mode:
        """By the sign of F_b."""
        return _Bcn(self, DECREASE if self.link.feedback(x, y) < 0 else INCREASE)

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """By the sign of F_b; on the line, the other one."""
        feedback = self.link.feedback(x, slope)
        if abs(feedback) < EDGE * self.link.target:
            return next(other for other in self.modes() if other.name != mode.name)
        return _Bcn(self, DECREASE if feedback < 0 else INCREASE)


#: Of the target or the rate: as near as this, a state is on a line.
EDGE = 1e-9
STATE_A, STATE_B = "state A", "state B"


@dataclass(frozen=True)
class _Smcc:
    """One quadrant; its signs of x and y."""

    law: Smcc
    signs: tuple[int, int]

    lasts = math.inf

    @property
    def name(self) -> str:
        return STATE_A if self.signs[0] == self.signs[1] else STATE_B

    def change(self, since: float, x: float, y: float, slope: float) -> float:
        if self.name == STATE_A:
            return -self.law.a1(slope) * x
        return -self.law.b2 * slope

    def inside(self, x: float, y: float, slope: float) -> float:
        link = self.law.link
        return min(self.signs[0] * x / link.target, self.signs[1] * y / link.rate)

    def stands(self, y: float) -> bool:
        """In state B dy/dt = −b₂ y: every state with y = 0 stays where it is."""
        return self.name == STATE_B and abs(y) < STANDS * self.law.link.rate


@dataclass(frozen=True)
class Smcc:
    """Jiang 2015, eqs. 25 to 27, with a₂ = 0 and b₁ = 0.

    Attributes:
        link: the bottleneck.
        large: largest change of a source's rate by a sample, of the line rate, at |Q_off| = q0, in state A.
        small: the same where |ΔQ| is ``threshold`` at most; as ``large``: one stage.
        delta: the same of ΔQ, in state B.
        threshold: T₁, bytes.
    """

    link: Link
    large: float = 0.256
    small: float = 0.256
    delta: float = 0.064
    threshold: float = 8000.0

    def a1(self, slope: float) -> float:
        """a₁ = N a, 1/s²: what the samples of a second change, per byte of Q_off."""
        link = self.link
        share = self.large if abs(slope) * link.interval > self.threshold else self.small
        return link.flows * link.feedbacks * share * link.rate / link.target

    @property
    def b2(self) -> float:
        """b₂, 1/s. A sample takes b · ΔQ from one source's rate while the queue changes by ΔQ: with eq. 13,
        b₂ is b itself, less the samples of background, whatever N, p and C are."""
        link = self.link
        return link.flows * link.feedbacks * self.delta * link.rate / link.target * link.interval

    def first(self, x: float, y: float) -> Mode:
        """By the quadrant; on an axis, the one on the right or above."""
        return _Smcc(self, (1 if x >= 0 else -1, 1 if y >= 0 else -1))

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """By the quadrant; on an axis, the one beyond it."""
        assert isinstance(mode, _Smcc)
        right, up = (1 if value >= 0 else -1 for value in (x, y))
        if abs(x) < EDGE * self.link.target:
            right = -mode.signs[0]
        if abs(y) < EDGE * self.link.rate:
            up = -mode.signs[1]
        return _Smcc(self, (right, up))


@dataclass(frozen=True)
class _Qcn:
    """``target``: N R(0) − C, where recovery leads."""

    law: Qcn
    name: str
    target: float

    @property
    def lasts(self) -> float:
        return CYCLES * self.law.cycle if self.name == RECOVERY else math.inf

    def change(self, since: float, x: float, y: float, slope: float) -> float:
        law, link = self.law, self.law.link
        if self.name == DECREASE:
            return decrease(link, law.gd, x, y, slope)
        if self.name == RECOVERY:
            return (self.target - y) / (2 * law.cycle)
        probing = 2 * link.flows * law.unit * link.rate * since / law.cycle
        return (self.target - y + probing) / law.cycle

    def inside(self, x: float, y: float, slope: float) -> float:
        feedback = self.law.link.feedback(x, slope)
        return -feedback if self.name == DECREASE else feedback

    def stands(self, y: float) -> bool:
        return False


@dataclass(frozen=True)
class Qcn:
    """Self-increase after each decrease.

    The target R is the rate before the latest decrease (Jiang 2015, sec. 2.2). In a sliding mode there is one
    at every moment, so that R would be the rate itself: recovery would lead nowhere. As in the standard, a
    decrease therefore leaves R as it is where no cycle has ended since the one before.

    Attributes:
        link: the bottleneck.
        bytes: of a cycle; T is what a source with its fair share takes to send them.
        gd: G_d, of the rate for one of the 63 levels of F_b.
        unit: R_AI, of the line rate.
    """

    link: Link
    bytes: float = 150e3
    gd: float = 1 / 128
    unit: float = 1e-3

    @property
    def cycle(self) -> float:
        """T, seconds."""
        return self.bytes * self.link.flows / self.link.capacity

    def first(self, x: float, y: float) -> Mode:
        """Decrease where F_b < 0, else recovery; it leads as far above C as y is off it."""
        return _Qcn(self, DECREASE if self.link.feedback(x, y) < 0 else RECOVERY, abs(y))

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """Decrease where F_b < 0; else recovery, five cycles later active increase."""
        assert isinstance(mode, _Qcn)
        if self.link.feedback(x, slope) < 0:
            kept = mode.name == DECREASE or (mode.name == RECOVERY and since < self.cycle)
            return _Qcn(self, DECREASE, mode.target if kept else y)
        if mode.name == RECOVERY and since >= (1 - 1e-9) * CYCLES * self.cycle:
            return _Qcn(self, ACTIVE, mode.target)
        return mode if mode.name == ACTIVE else _Qcn(self, RECOVERY, mode.target)


def recovering(law: Qcn, target: float) -> Mode:
    """Fast recovery towards N R(0) − C = ``target``."""
    return _Qcn(law, RECOVERY, target)


def decreasing(law: Qcn, target: float) -> Mode:
    """Rate decrease, recovery towards N R(0) − C = ``target`` to follow."""
    return _Qcn(law, DECREASE, target)

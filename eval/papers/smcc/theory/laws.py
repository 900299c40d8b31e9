# SPDX-License-Identifier: GPL-2.0-or-later
"""Vector fields of BCN, SMCC and QCN in the plane (Jiang 2015, eqs. 2, 15, 17, 18, 26 and 27)."""

from __future__ import annotations

from dataclasses import dataclass

from ns3_env.eval.papers.smcc.theory.fluid import STANDS, Link, Mode

DECREASE, INCREASE = "rate decrease", "rate increase"
RECOVERY, ACTIVE = "fast recovery", "active increase"
STATE_A, STATE_B = "state A", "state B"
#: Cycles of fast recovery (Jiang 2015, sec. 2.2).
CYCLES = 5
#: Of the target or the rate: as near as this, a state is on a line.
EDGE = 1e-9


def _decreasing(link: Link, gd: float, *memory: float) -> Mode:
    """BCN and QCN where F_b < 0 (Jiang 2015, eq. 17); G_d is of a rate for a level of F_b."""
    gain = gd / link.level * link.feedbacks
    return Mode(
        DECREASE,
        lambda since, x, y, slope: gain * link.feedback(x, slope) * (y + link.capacity),
        lambda x, y, slope: -link.feedback(x, slope),
        memory,
    )


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
        link, unit = self.link, self.gi * self.unit * self.link.rate / self.link.level
        gain = link.flows * link.feedbacks * unit
        return _decreasing(link, self.gd), Mode(
            INCREASE,
            lambda since, x, y, slope: gain * link.feedback(x, slope),
            lambda x, y, slope: link.feedback(x, slope),
        )

    def first(self, x: float, y: float) -> Mode:
        """Chooses by the sign of F_b."""
        return self.modes()[self.link.feedback(x, y) >= 0]

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """Chooses by the sign of F_b; on the line, the other one."""
        feedback = self.link.feedback(x, slope)
        if abs(feedback) < EDGE * self.link.target:
            return self.modes()[mode.name == DECREASE]
        return self.modes()[feedback >= 0]


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

    def _quadrant(self, right: float, up: float) -> Mode:
        """Chooses by the signs of x and y. In state B dy/dt = −b₂ y: y = 0 stays where it is."""
        link, b2 = self.link, self.b2

        def inside(x: float, y: float, slope: float) -> float:
            return min(right * x / link.target, up * y / link.rate)

        if right == up:
            return Mode(STATE_A, lambda since, x, y, slope: -self.a1(slope) * x, inside, (right, up))
        return Mode(
            STATE_B,
            lambda since, x, y, slope: -b2 * slope,
            inside,
            (right, up),
            stands=lambda y: abs(y) < STANDS * link.rate,
        )

    def first(self, x: float, y: float) -> Mode:
        """Chooses by the quadrant; on an axis, the one on the right or above."""
        return self._quadrant(1 if x >= 0 else -1, 1 if y >= 0 else -1)

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """Chooses by the quadrant; on an axis, the one beyond it."""
        right, up = (1.0 if value >= 0 else -1.0 for value in (x, y))
        if abs(x) < EDGE * self.link.target:
            right = -mode.memory[0]
        if abs(y) < EDGE * self.link.rate:
            up = -mode.memory[1]
        return self._quadrant(right, up)


@dataclass(frozen=True)
class Qcn:
    """Self-increase after each decrease.

    The target R is the rate before the latest decrease (Jiang 2015, sec. 2.2). In a sliding mode there is one
    at every moment, so that R would be the rate itself: recovery would lead nowhere. As in the standard, a
    decrease therefore leaves R as it is where no cycle has ended since the one before. A mode's memory is
    N R(0) − C, where recovery leads.

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

    def decreasing(self, target: float) -> Mode:
        """Rate decrease, recovery towards N R(0) − C = ``target`` to follow."""
        return _decreasing(self.link, self.gd, target)

    def recovering(self, target: float) -> Mode:
        """Fast recovery towards N R(0) − C = ``target``."""
        return Mode(
            RECOVERY,
            lambda since, x, y, slope: (target - y) / (2 * self.cycle),
            lambda x, y, slope: self.link.feedback(x, slope),
            (target,),
            CYCLES * self.cycle,
        )

    def _active(self, target: float) -> Mode:
        def change(since: float, x: float, y: float, slope: float) -> float:
            probing = 2 * self.link.flows * self.unit * self.link.rate * since / self.cycle
            return (target - y + probing) / self.cycle

        return Mode(ACTIVE, change, lambda x, y, slope: self.link.feedback(x, slope), (target,))

    def first(self, x: float, y: float) -> Mode:
        """Decrease where F_b < 0, else recovery; it leads as far above C as y is off it."""
        return self.decreasing(abs(y)) if self.link.feedback(x, y) < 0 else self.recovering(abs(y))

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """Decrease where F_b < 0; else recovery, five cycles later active increase."""
        (target,) = mode.memory
        if self.link.feedback(x, slope) < 0:
            same = mode.name == DECREASE or (mode.name == RECOVERY and since < self.cycle)
            return self.decreasing(target if same else y)
        if mode.name == RECOVERY and since >= (1 - 1e-9) * CYCLES * self.cycle:
            return self._active(target)
        return mode if mode.name == ACTIVE else self.recovering(target)

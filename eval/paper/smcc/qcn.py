# SPDX-License-Identifier: GPL-2.0-or-later
"""QCN's fields: decrease, fast recovery, active increase (Jiang 2015, eqs. 15, 17, 18)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ns3_env.eval.paper.smcc.fluid import Mode
from ns3_env.eval.paper.smcc.laws import DECREASE, decrease
from ns3_env.eval.paper.smcc.link import Link

RECOVERY, ACTIVE = "fast recovery", "active increase"
#: Cycles of fast recovery (Jiang 2015, sec. 2.2).
CYCLES = 5


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

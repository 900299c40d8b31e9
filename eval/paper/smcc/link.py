# SPDX-License-Identifier: GPL-2.0-or-later
"""Link of the fluid model, in bytes and seconds (Jiang 2015, sec. 3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: 1 Gb/s in bytes per second; q0, buffer and 1/p of Jiang 2015, sec. 5.2, with packets of 1 kB.
GIGABIT, TARGET, BUFFER, SAMPLE = 125e6, 64e3, 128e3, 100e3


@dataclass(frozen=True)
class Link:
    """A bottleneck and the sources that share it.

    Attributes:
        flows: N, under control.
        rate: of the link, and of each source's own.
        background: of the flows that nobody controls.
        target: q0.
        buffer: the queue's bound.
        sample: arrivals from one sample to the next, 1/p.
        weight: w.
        bounded: whether queue and rates have bounds at all; the paper's plane has none.
    """

    flows: int = 2
    rate: float = GIGABIT
    background: float = 0.0
    target: float = TARGET
    buffer: float = BUFFER
    sample: float = SAMPLE
    weight: float = 2.0
    bounded: bool = True

    @property
    def capacity(self) -> float:
        """C, what is left for the controlled flows."""
        return self.rate - self.background

    @property
    def interval(self) -> float:
        """Δt = 1/(pC), seconds from sample to sample (Jiang 2015, eq. 13). Background is sampled as well."""
        return self.sample / self.rate

    @property
    def lead(self) -> float:
        """w/(pC), seconds: the switching line F_b = 0 is x = −lead · y (Jiang 2015, eq. 14)."""
        return self.weight * self.interval

    @property
    def feedbacks(self) -> float:
        """Samples a second that reach one of the sources.

        Jiang 2015, eq. 15 has none of it: it adjusts a rate once a second. Gains here are a sample's, times
        this; with it, its equations hold as they are printed.
        """
        return self.capacity / self.rate / (self.interval * self.flows)

    @property
    def level(self) -> float:
        """Bytes of F_b to one of the 63 levels that a feedback frame has for it: (1 + 2w) q0 are all."""
        return (1 + 2 * self.weight) * self.target / 63

    @property
    def x_bounds(self) -> tuple[float, float]:
        """Least and largest x: an empty queue and a full buffer."""
        return (-self.target, self.buffer - self.target) if self.bounded else (-math.inf, math.inf)

    @property
    def y_bounds(self) -> tuple[float, float]:
        """Least and largest y: no source sends, and all at the rate of their links."""
        if not self.bounded:
            return -math.inf, math.inf
        return -self.capacity, self.flows * self.rate - self.capacity

    def feedback(self, x: float, slope: float) -> float:
        """F_b at an offset x of a queue that grows by ``slope`` bytes a second (Jiang 2015, eq. 14)."""
        return -x - self.lead * slope

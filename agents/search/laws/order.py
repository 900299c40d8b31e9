# SPDX-License-Identifier: GPL-2.0-or-later
"""Law for a network to start from that knows what shorter flows have left, and defers to them.

    T = T of the law by size + precedence n^crowding / (1 + (b / near_bdps)^order_sharpness)
                             - deference ln(1 + b / near_bdps)
    a = gain (ln T - ln U) + share_gain ln(w n) - memory a'
    a = first - first_power ln s, before the first packet

b is the field ``shorter_backlog``, in BDPs. A flow whose turn has come (b = 0) aims above its link's rate,
one with much ahead of it below: the next one begins as the last one ends, as switches schedule in
Hong 2012 (PDQ). The other symbols are those of ``size.py``.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ns3_env.agents.search.laws.size import SizeLaw, orders, within_tanh
from ns3_env.config.bounds import Real
from ns3_env.simulator.results import Floats

#: Of the situations, those before a flow's first packet, when switches have told nothing.
_FIRST = 0.1


class OrderLaw(SizeLaw):
    """The law's numbers.

    Attributes:
        reads: telemetry fields, in the order of ``answer``'s columns.
    """

    reads: ClassVar = (*SizeLaw.reads, "shorter_backlog")  # type: ignore[assignment]

    kind: Literal["order"]  # type: ignore[assignment]
    precedence: Real = Field(default=1.2, ge=0, description="how much more a flow aims at whose turn it is")
    near_bdps: Real = Field(default=1.0, gt=0, description="what is ahead of a flow whose turn comes next")
    order_sharpness: float = Field(default=2.0, gt=0, le=10, description="how sharp the line is between them")
    deference: Real = Field(
        default=0.07, ge=0, description="how much less a flow aims at that has e times as much ahead of it"
    )
    first: Real = Field(default=0.4, description="answer before the first packet, of a flow of one BDP")
    first_power: Real = Field(
        default=0.05, description="how much less of one that has e times as much to send"
    )

    def answer(self, situations: Floats) -> Floats:
        """Returns the law's answers before tanh, within ±2.5: (n,) for situations (n, 7) of ``reads``."""
        counted, remaining, ahead = situations[:, 3], situations[:, 4], situations[:, 6]
        flows = np.maximum(counted, 1.0)
        nearness = ahead / self.near_bdps
        aim = self.aim(flows, remaining) - self.deference * np.log1p(nearness)
        aim += self.precedence * flows**self.crowding / (1 + nearness**self.order_sharpness)
        answer = self.reach(np.maximum(aim, 0.05), situations[:, :6])
        first = self.first - self.first_power * np.log(np.maximum(remaining, 0.01))
        return within_tanh(np.where(counted == 0, first, answer))

    @staticmethod
    def situations(count: int, generator: np.random.Generator) -> Floats:
        """Draws situations of a flow, (count, 7): those by size, a third of them with nothing ahead."""
        by_size = SizeLaw.situations(count, generator)
        ahead = np.where(generator.random(count) < 0.35, 0.0, orders(0.005, 500, count, generator))
        rows = np.column_stack([by_size, ahead])
        first = generator.random(count) < _FIRST
        rows[first] *= np.array([name in ("pacing_rate", "remaining") for name in OrderLaw.reads])
        return rows

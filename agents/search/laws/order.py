# SPDX-License-Identifier: GPL-2.0-or-later
"""Law for a network to start from that knows the remaining data of shorter flows, and defers to them.

    U = switch_rate + qlen                                          (as in Li 2019, Algorithm 1)
    T = utilisation + urgency n^crowding / (1 + (s / urgent_bdps)^sharpness)
                    - patience (ln(1 + s) - 3) (1 - 1/n)
                    + precedence n^crowding / (1 + (b / near_bdps)^order_sharpness)
                    - deference ln(1 + b / near_bdps)
    a = gain (ln T - ln U) + share_gain ln(w n) - memory a'
    a = first - first_power ln s, before the first packet

s is the flow's remaining data, in BDPs; w its pacing rate as a share of its link, n the flows at the
hop, a' its last answer, b the field ``shorter_backlog``, in BDPs. A flow with little left aims higher, so
that other flows make room. A flow whose turn has come (b = 0) aims above its link's rate, one with much ahead
of it below: the next one starts as the last one ends, as switches schedule in Hong 2012 (PDQ).
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from ns3_env.config.bounds import Real
from ns3_env.config.gone import refuse
from ns3_env.config.model import Strict
from ns3_env.simulator.results import Floats

#: Bound of the law's answers: the tanh that follows is flat beyond it.
_MOST = 2.5
#: Share of situations before a flow's first packet, when switches have not reported yet.
_FIRST = 0.1


class OrderLaw(Strict):
    """The law's numbers.

    Attributes:
        reads: telemetry fields, in the order of ``answer``'s columns.
        network: kind, transform and activation of a network that answers as the law.
    """

    reads: ClassVar = (
        "qlen",
        "switch_rate",
        "pacing_rate",
        "flow_count",
        "remaining",
        "last_action",
        "shorter_backlog",
    )
    network: ClassVar = ("mlp", "symlog", "tanh")

    kind: Literal["order"] = "order"
    utilisation: float = Field(default=0.98, gt=0, le=2, description="that a flow with much left aims at")
    urgency: Real = Field(default=0.8, ge=0, description="how much more a flow aims at that is nearly done")
    urgent_bdps: Real = Field(default=1.0, gt=0, description="bytes left of a flow that is nearly done")
    crowding: float = Field(default=0.23, ge=0, le=2, description="how much more so among many flows")
    sharpness: float = Field(default=1.2, gt=0, le=10, description="how sharp the line is between them")
    patience: Real = Field(
        default=0.1, description="how much less a flow aims at that has e times as much left"
    )
    gain: Real = Field(default=0.7, gt=0)
    share_gain: Real = Field(
        default=-0.02, description="below 0, flows with more than their share shrink; above, they grow"
    )
    memory: Real = Field(default=0.4, description="share of the last answer, whose effect is not seen yet")
    precedence: Real = Field(default=1.2, ge=0, description="how much more a flow aims at whose turn it is")
    near_bdps: Real = Field(default=1.0, gt=0, description="bytes ahead of a flow whose turn comes next")
    order_sharpness: float = Field(default=2.0, gt=0, le=10, description="how sharp the line is between them")
    deference: Real = Field(
        default=0.07, ge=0, description="how much less a flow aims at that has e times as much ahead of it"
    )
    first: Real = Field(default=0.4, description="answer before the first packet, of a flow of one BDP")
    first_power: Real = Field(
        default=0.05, description="how much less of one that has e times as much to send"
    )

    @field_validator("kind", mode="before")
    @classmethod
    def _is_there(cls, kind: object) -> object:
        refuse("law", str(kind))
        return kind

    def answer(self, situations: Floats) -> Floats:
        """Returns the law's answers before tanh, within ±2.5: (n,) for situations (n, 7) of ``reads``."""
        queue, rate, pace, counted, remaining, last, ahead = situations.T
        flows, nearness = np.maximum(counted, 1.0), ahead / self.near_bdps
        urgency = self.urgency * flows**self.crowding / (1 + (remaining / self.urgent_bdps) ** self.sharpness)
        aim = self.utilisation + urgency - self.patience * (np.log1p(remaining) - 3) * (1 - 1 / flows)
        aim -= self.deference * np.log1p(nearness)
        aim += self.precedence * flows**self.crowding / (1 + nearness**self.order_sharpness)
        answer = self.gain * np.log(np.maximum(aim, 0.05) / np.maximum(queue + rate, 0.02))
        answer += self.share_gain * np.log(np.maximum(pace * flows, 1e-3)) - self.memory * last
        first = self.first - self.first_power * np.log(np.maximum(remaining, 0.01))
        clipped: Floats = np.clip(np.where(counted == 0, first, answer), -_MOST, _MOST)
        return clipped

    @staticmethod
    def situations(count: int, generator: np.random.Generator) -> Floats:
        """Draws situations of a flow, (count, 7): queues and sizes of all orders, rates mostly near the
        link's, a third of the flows with nothing ahead."""
        uniform = generator.uniform
        kind = generator.random(count)
        some = np.where(kind < 0.55, uniform(0, 0.6, count), _orders(0.003, 80, count, generator))
        queue = np.where(kind < 0.15, 0.0, some)
        busy = np.clip(generator.normal(0.97, 0.06, count), 0, 1.3)
        rate = np.where(generator.random(count) < 0.6, busy, uniform(0, 1.1, count))
        at_an_end = generator.random(count) < 0.3
        last = np.where(at_an_end, np.sign(uniform(-1, 1, count)), uniform(-1, 1, count))
        pace, flows = _orders(0.002, 1, count, generator), np.floor(_orders(1, 120, count, generator))
        left = _orders(0.005, 600, count, generator)
        ahead = np.where(generator.random(count) < 0.35, 0.0, _orders(0.005, 500, count, generator))
        rows = np.column_stack([queue, rate, pace, flows, left, last, ahead])
        first = generator.random(count) < _FIRST
        rows[first] *= np.array([name in ("pacing_rate", "remaining") for name in OrderLaw.reads])
        return rows


def _orders(low: float, high: float, count: int, generator: np.random.Generator) -> Floats:
    """Log-uniform numbers between both bounds: (count,)."""
    return np.exp(generator.uniform(np.log(low), np.log(high), count))

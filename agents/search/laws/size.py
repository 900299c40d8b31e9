# SPDX-License-Identifier: GPL-2.0-or-later
"""Law for a network to start from: keeps a hop busy and lets nearly finished flows go first.

    U = switch_rate + qlen                                          (as in Li 2019, Algorithm 1)
    T = utilisation + urgency n^crowding / (1 + (s / urgent_bdps)^sharpness)
                    - patience (ln(1 + s) - 3) (1 - 1/n)
    a = gain (ln T - ln U) + share_gain ln(w n) - memory a'

s is what the flow has still to send, in BDPs; w its pacing rate as a share of its link, n the flows at the
hop, a' its last answer. Where all flows aim at the same utilisation T they share the hop as they come; a flow
with little left aims higher, so that the others make room until it is gone: shortest remaining processing
time first, as far as flows that do not know of each other can have it.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import Real
from ns3_env.config.model import Strict
from ns3_env.simulator.results import Floats

#: A law's answers lie within it: tanh, which follows, is flat beyond.
_MOST = 2.5


def within_tanh(answer: Floats) -> Floats:
    """The answer, within ±2.5."""
    clipped: Floats = np.clip(answer, -_MOST, _MOST)
    return clipped


def orders(low: float, high: float, count: int, generator: np.random.Generator) -> Floats:
    """Numbers between both of all orders alike: (count,)."""
    return np.exp(generator.uniform(np.log(low), np.log(high), count))


def last_answers(count: int, generator: np.random.Generator) -> Floats:
    """A flow's last answers, three of ten of them -1 or 1: (count,)."""
    uniform = generator.uniform
    return np.where(generator.random(count) < 0.3, np.sign(uniform(-1, 1, count)), uniform(-1, 1, count))


class SizeLaw(Strict):
    """The law's numbers.

    Attributes:
        reads: telemetry fields, in the order of ``answer``'s columns.
        network: kind, transform and activation of a network that answers as the law.
    """

    reads: ClassVar = ("qlen", "switch_rate", "pacing_rate", "flow_count", "remaining", "last_action")
    network: ClassVar = ("mlp", "symlog", "tanh")

    kind: Literal["size"] = "size"
    utilisation: float = Field(default=0.98, gt=0, le=2, description="that a flow with much left aims at")
    urgency: Real = Field(default=0.8, ge=0, description="how much more a flow aims at that is nearly done")
    urgent_bdps: Real = Field(default=1.0, gt=0, description="what is left of a flow that is nearly done")
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

    def answer(self, situations: Floats) -> Floats:
        """Returns the law's answers before tanh, within ±2.5: (n,) for situations (n, 6) of ``reads``."""
        flows, remaining = np.maximum(situations[:, 3], 1.0), situations[:, 4]
        return within_tanh(self.reach(np.maximum(self.aim(flows, remaining), 0.1), situations))

    def aim(self, flows: Floats, remaining: Floats) -> Floats:
        """Returns T, for at least one flow each and what is left of them: (n,)."""
        urgency = self.urgency * flows**self.crowding / (1 + (remaining / self.urgent_bdps) ** self.sharpness)
        aim: Floats = self.utilisation + urgency - self.patience * (np.log1p(remaining) - 3) * (1 - 1 / flows)
        return aim

    def reach(self, aim: Floats, situations: Floats) -> Floats:
        """Returns the answers a that lead to T, ``aim``: (n,)."""
        queue, rate, pace, flows, _, last = situations.T
        used = np.maximum(queue + rate, 0.02)
        answer: Floats = self.gain * np.log(aim / used)
        share = pace * np.maximum(flows, 1.0)
        answer += self.share_gain * np.log(np.maximum(share, 1e-3)) - self.memory * last
        return answer

    @staticmethod
    def situations(count: int, generator: np.random.Generator) -> Floats:
        """Draws situations of a flow, (count, 6): queues and sizes of all orders, rates mostly near the
        link's."""
        uniform = generator.uniform
        kind = generator.random(count)
        some = np.where(kind < 0.55, uniform(0, 0.6, count), orders(0.003, 80, count, generator))
        queue = np.where(kind < 0.15, 0.0, some)
        busy = np.clip(generator.normal(0.97, 0.06, count), 0, 1.3)
        rate = np.where(generator.random(count) < 0.6, busy, uniform(0, 1.1, count))
        last = last_answers(count, generator)
        pace, flows = orders(0.002, 1, count, generator), np.floor(orders(1, 120, count, generator))
        return np.stack([queue, rate, pace, flows, orders(0.005, 600, count, generator), last], axis=1)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Law for a network to start from that knows its RTT alone: windows shrink above a target delay.

    T = target + youth / (1 + (s / young_bdps)^sharpness)
    a = gain (ln T - ln RTT) + share_gain ln w - memory a'

RTT counts in base RTTs of the path, s is what the flow has sent and had acknowledged, in BDPs, w its pacing
rate as a share of its link, a' its last answer. n flows that share a queue hold T base RTTs of it, however
many they are. A young flow lets the queue grow longer than an old one, which makes room: least attained
service first, as far as flows that do not know of each other can have it.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ns3_env.agents.search.laws.size import last_answers, orders, within_tanh
from ns3_env.config.bounds import Real
from ns3_env.config.model import Strict
from ns3_env.simulator.results import Floats


class DelayLaw(Strict):
    """The law's numbers.

    Attributes:
        reads: telemetry fields, in the order of ``answer``'s columns.
        network: kind, transform and activation of a network that answers as the law.
    """

    reads: ClassVar = ("rtt", "pacing_rate", "attained", "last_action")
    network: ClassVar = ("mlp", "symlog", "tanh")

    kind: Literal["delay"]
    target: float = Field(default=1.5, gt=1, le=100, description="base RTTs that an old flow aims at")
    youth: Real = Field(default=0.5, ge=0, description="how many more a flow aims at that has just begun")
    young_bdps: Real = Field(default=5.0, gt=0, description="what such a flow has sent at most")
    sharpness: float = Field(default=1.5, gt=0, le=10, description="how sharp the line is between them")
    gain: Real = Field(default=0.7, gt=0)
    share_gain: Real = Field(
        default=-0.05, description="below 0, flows with more than their share shrink; above, they grow"
    )
    memory: Real = Field(default=0.4, description="share of the last answer, whose effect is not seen yet")

    def answer(self, situations: Floats) -> Floats:
        """Returns the law's answers before tanh, within ±2.5: (n,) for situations (n, 4) of ``reads``."""
        rtt, pace, sent, last = situations.T
        target = self.target + self.youth / (1 + (sent / self.young_bdps) ** self.sharpness)
        answer = self.gain * (np.log(target) - np.log(np.maximum(rtt, 1.0)))
        answer += self.share_gain * np.log(np.maximum(pace, 1e-3)) - self.memory * last
        return within_tanh(answer)

    @staticmethod
    def situations(count: int, generator: np.random.Generator) -> Floats:
        """Draws situations of a flow, (count, 4): RTTs and sizes of all orders, most of the RTTs near the
        base."""
        near = generator.random(count) < 0.6
        rtt = np.where(near, 1 + generator.uniform(0, 2, count), orders(1, 100, count, generator))
        last = last_answers(count, generator)
        pace, sent = orders(0.002, 1, count, generator), orders(0.005, 600, count, generator)
        return np.stack([rtt, pace, sent, last], axis=1)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Law for a recurrent network to start from: equal shares of a hop, which is busy without a queue.

    U = switch_rate (1 + qlen)
    a = gain (ln T - ln U - fairness ln w) - memory Σ_k fading^k a'_k

w is the flow's pacing rate as a share of its link, a'_k its last answers, whose effect is not seen yet, the
newest first. U is the same for all flows at a hop, so that those at rest have the same w: n of them rest at
U = T n^fairness, which differs little between two flows and a thousand, and their differences fade by a share
of gain · fairness a decision (``fairness`` is what takes the place of HPCC's additive increase, whose sum
grows with n: Li 2019, Algorithm 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import Real
from ns3_env.config.model import Strict
from ns3_env.simulator.results import Floats

#: Where lines of the logarithm's interpolation meet, and below the first of which it is flat.
_RATES = np.array([0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.2])
_SHARES = 2.0 ** np.arange(-13.0, 1.0)
#: Of a gate that is open, before its sigmoid; of an answer's way into a cell, which must not bend.
_OPEN, _SMALL = 10.0, 0.1


class SharingLaw(Strict):
    """The law's numbers.

    Attributes:
        reads: telemetry fields, in the order of ``answer``'s columns.
        network: kind, transform and activation of a network that answers as the law.
    """

    reads: ClassVar = ("qlen", "switch_rate", "pacing_rate", "last_action")
    network: ClassVar = ("lstm", "symlog", "relu")

    kind: Literal["sharing"]
    utilisation: float = Field(default=0.975, gt=0, le=2, description="that a flow alone aims at")
    fairness: float = Field(
        default=0.02, ge=0, le=1, description="exponent of the number of flows in what they aim at together"
    )
    crowded: float = Field(
        default=0.01, gt=0, le=1, description="share of a link below which a flow has no packet in every RTT"
    )
    crowding: float = Field(default=0.6, ge=0, le=2, description="exponent beside it of shares below that")
    gain: Real = Field(default=0.5, gt=0)
    memory: Real = Field(default=0.5, ge=0, description="share of the last answers that is taken back")
    fading: float = Field(default=0.5, gt=0, lt=1, description="weight of an answer over that of the next")

    def answer(self, situations: Floats) -> Floats:
        """Returns the law's answers before tanh: (n,) for histories (n, K, 4) of ``reads``, oldest first."""
        queue, rate, pace, _ = situations[:, -1].T
        used = np.log(np.clip(rate, _RATES[0], _RATES[-1])) + np.log1p(queue)
        share = np.clip(pace, _SHARES[0], 1.0)
        weights = self.fading ** np.arange(situations.shape[1])[::-1]
        answer: Floats = self.gain * (np.log(self._aim(share)) - used)
        return answer - self.memory * situations[:, :, 3] @ weights

    @staticmethod
    def check(shortcut: int, hidden: Sequence[int]) -> None:
        """Raises ValueError where layers of these widths cannot answer as the law."""
        needed = len(_RATES) + len(_SHARES) + 1
        if shortcut < needed or len(hidden) != 1 or hidden[0] < 2:
            raise ValueError(f"start: the law needs a shortcut of {needed} and one hidden layer of 2 or more")

    def _aim(self, share: Floats) -> Floats:
        """T for flows of these shares of their links."""
        aim: Floats = self.utilisation * share**-self.fairness
        return aim * np.maximum(self.crowded / share, 1.0) ** self.crowding

    def tensors(
        self, fields: Sequence[str], memory: int, shortcut: int, hidden: Sequence[int], seed: int
    ) -> dict[str, Floats]:
        """An LSTM whose answer is the law's, but for lines between the points of its logarithms.

        The first units do what the law says: of the shortcut one for each line, of the LSTM a cell for the
        last answers, of the hidden layer one for each sign. The others read what there is, and have no say at
        first; a learner may give them one.

        Args:
            fields: what the network reads, as sign(x)·ln(1 + |x|), those of the law among them.
            memory, shortcut: widths of the LSTM and of the shortcut.
            hidden: width of the hidden layer, which has ReLU.
            seed: of the other units' weights.
        """
        at = {name: fields.index(name) for name in self.reads}
        lines = [
            *_lines(at["switch_rate"], _RATES, -self.gain * np.log(_RATES)),
            *_lines(at["pacing_rate"], _SHARES, self.gain * np.log(self._aim(_SHARES))),
            (at["qlen"], 0.0, -self.gain),
        ]
        tensors = _first_weights(len(fields), memory, shortcut, hidden[0], seed)
        for unit, (column, knot, _) in enumerate(lines):
            tensors["shortcut.weight"][unit] = np.eye(len(fields))[column]
            tensors["shortcut.bias"][unit] = -knot
        for gate, bias in enumerate((_OPEN, np.log(self.fading / (1 - self.fading)), 0.0, _OPEN)):
            row = gate * memory
            tensors["lstm.weight_ih"][row] = 0.0
            tensors["lstm.weight_hh"][row] = 0.0
            tensors["lstm.bias"][row] = bias
        # sign(x)·ln(1 + abs(x)) of an answer near 0 is the answer.
        tensors["lstm.weight_ih"][2 * memory, at["last_action"]] = _SMALL
        first = np.log(self._aim(_SHARES[:1])[0] / _RATES[0])
        sign = np.array([1.0, -1.0])
        tensors["layers.0.weight"][:2] = 0.0
        tensors["layers.0.weight"][:2, 0] = -sign * self.memory / _SMALL
        tensors["layers.0.weight"][:2, memory : memory + len(lines)] = np.outer(sign, [s for *_, s in lines])
        tensors["layers.0.bias"][:2] = sign * self.gain * first
        tensors["layers.1.weight"][:] = 0.0
        tensors["layers.1.weight"][0, :2] = sign
        tensors["layers.1.bias"][:] = 0.0
        return tensors


def _lines(column: int, points: Floats, values: Floats) -> list[tuple[int, float, float]]:
    """Column, beginning and change of slope of the lines from point to point, over symlog of the column."""
    begins = np.log1p(points)
    changes = np.diff(np.diff(values) / np.diff(begins), prepend=0.0, append=0.0)
    return [(column, float(x), float(c)) for x, c in zip(begins, changes, strict=True)]


def _first_weights(inputs: int, memory: int, shortcut: int, hidden: int, seed: int) -> dict[str, Floats]:
    """Weights of the usual first size, U(-1/√inputs, 1/√inputs)."""
    generator = np.random.default_rng([seed, 3])
    widths = {
        "lstm.weight_ih": (4 * memory, inputs),
        "lstm.weight_hh": (4 * memory, memory),
        "lstm.bias": (4 * memory,),
        "shortcut.weight": (shortcut, inputs),
        "shortcut.bias": (shortcut,),
        "layers.0.weight": (hidden, memory + shortcut),
        "layers.0.bias": (hidden,),
        "layers.1.weight": (1, hidden),
        "layers.1.bias": (1,),
    }
    return {
        name: generator.uniform(-1, 1, shape) / np.sqrt(shape[-1] if len(shape) > 1 else inputs)
        for name, shape in widths.items()
    }

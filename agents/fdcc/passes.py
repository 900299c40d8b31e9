# SPDX-License-Identifier: GPL-2.0-or-later
"""Passes of recurrent networks forwards and back, in C++ (ns3_env/cpp/learning/recurrent-kernels.h).

PyTorch needs four times as long: each operation on networks this small costs more than its arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch as th
from torch import nn

from ns3_env import _native
from ns3_env.agents.fdcc.replay import History
from ns3_env.policies.history import Floats


class Reading(NamedTuple):
    """A batch of histories in the form that the networks need, made once for all readers of the batch.

    Attributes:
        inputs: (N, K·F, M), compressed: N blocks of M histories, the last one filled up with zeros.
        current: (B, F), each history's last input.
        ends: (N, 1, M), the step of each history's end.
    """

    inputs: th.Tensor
    current: th.Tensor
    ends: th.Tensor


def read(history: History | Reading) -> Reading:
    """The B histories in the form that the networks need, sign(x)·ln(1 + |x|) for x, as telemetry such as a
    slope in 1/ms spans decades. Histories already in it are returned as they are."""
    if isinstance(history, Reading):
        return history
    windows = th.copysign(history.windows.abs().log1p_(), history.windows)
    ends = history.lengths - 1
    current = windows[th.arange(len(windows)), ends]
    return Reading(_blocks(windows.flatten(1)), current, _blocks(ends[:, None].float()))


def _blocks(rows: th.Tensor) -> th.Tensor:
    """(N, n, M) of rows (B, n)."""
    if missing := -len(rows) % _native.HISTORY_BLOCK:
        rows = nn.functional.pad(rows, (0, 0, 0, missing))
    return rows.view(-1, _native.HISTORY_BLOCK, rows.shape[1]).transpose(1, 2).contiguous()


def passed(
    reading: Reading,
    current: th.Tensor,
    lstms: Sequence[th.Tensor],
    layers: Sequence[th.Tensor],
    *,
    frozen: bool = False,
) -> th.Tensor:
    """Outputs (C, B, O) of C networks.

    Args:
        reading: the histories.
        current: (B, ...), the shortcut's input.
        lstms: four parameters of each network's LSTM, as PyTorch has them.
        layers: weights (C or more, out, in) and biases (C or more, 1, out) of each layer.
        frozen: true for a gradient only to ``current``.
    """
    blocks = _blocks(current)
    forwards = _Forwards(reading, blocks, lstms, layers)
    outputs = forwards.outputs
    if th.is_grad_enabled():
        learning = () if frozen else (*lstms, *layers)
        outputs = _Recorded.apply(forwards, blocks, *learning)  # type: ignore[no-untyped-call]
    return outputs.transpose(2, 3).reshape(len(outputs), -1, outputs.shape[2])[:, : len(current)]


class _Forwards:
    """Passes forwards of C networks.

    Attributes:
        outputs: (C, N, O, M).
    """

    def __init__(
        self, reading: Reading, current: th.Tensor, lstms: Sequence[th.Tensor], layers: Sequence[th.Tensor]
    ) -> None:
        """``current`` (N, n, M) is in blocks; the rest is as of ``passed``."""
        *encoders, now, inputs, ends = (x.detach().numpy() for x in (*lstms, current, *reading[::2]))
        self._layers = [layer.detach().numpy() for layer in layers]
        self._ends, self._width = ends, lstms[0].shape[1]
        self._steps = inputs.shape[1] // self._width
        self._networks, self._states = [], []
        for member in range(len(encoders) // 4):
            of_input, of_hidden, *biases = encoders[4 * member : 4 * member + 4]
            gates = np.concatenate([of_input, of_hidden], axis=1), biases[0] + biases[1]
            network = [*gates, *(layer[member] for layer in self._layers)]
            self._networks.append(network)
            self._states.append(_native.recurrent_forward(network, self._steps, inputs, ends, now))
        outputs = layers[-1].shape[2]
        self.outputs = th.from_numpy(np.stack([state[:, -outputs:] for state in self._states]))

    def back(self, slopes: Floats, learns: bool) -> tuple[Floats, list[Floats]]:
        """The way back from slopes (C, N, O, M) to the outputs: those to ``current`` and, if it ``learns``,
        to all parameters."""
        layers = [np.zeros_like(layer) for layer in self._layers if learns]
        currents, encoders = [], []
        for member, network in enumerate(self._networks):
            gates = [np.empty_like(one) for one in network[:2] if learns]
            gradients = [*gates, *(layer[member] for layer in layers)]
            state, slope = self._states[member], slopes[member]
            currents.append(
                _native.recurrent_backward(
                    network, self._steps, self._width, self._ends, state, slope, gradients
                )
            )
            if learns:
                weight, bias = gates
                encoders += [weight[:, : self._width], weight[:, self._width :], bias, bias]
        return sum(currents[1:], currents[0]), [*encoders, *layers]


class _Recorded(th.autograd.Function):
    """Passes forwards as autograd's operation on the shortcut's input and the parameters that learn."""

    @staticmethod
    def forward(ctx: Any, forwards: _Forwards, *inputs: th.Tensor) -> th.Tensor:
        """See ``torch.autograd.Function``."""
        ctx.forwards, ctx.learns = forwards, len(inputs) > 1
        return forwards.outputs

    @staticmethod
    def backward(ctx: Any, slopes: th.Tensor) -> tuple[th.Tensor | None, ...]:
        """See ``torch.autograd.Function``."""
        current, parameters = ctx.forwards.back(slopes.contiguous().numpy(), ctx.learns)
        return None, *map(th.from_numpy, (current, *parameters))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Fits a network's first weights to a law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch as th
from torch import nn

from ns3_env.agents.search.laws.order import OrderLaw
from ns3_env.simulator.results import Floats

#: Situations that a network is fitted to, and those in one step.
_SITUATIONS, _BATCH = 12_000, 1024


def distil(
    law: OrderLaw, fields: Sequence[str], hidden: Sequence[int], steps: int, seed: int
) -> dict[str, Floats]:
    """Weights of an MLP (tanh) that reads sign(x)·ln(1 + |x|) of the fields and answers as the law does.

    Args:
        law: the law to fit.
        fields: fields that the network reads, including those of the law; the weights of all further fields
            start at 0.
        hidden: widths of the hidden layers.
        steps: steps of Adam, each on 1024 situations.
        seed: seed of weights and situations; the same seed gives the same bits.

    Returns:
        The tensors by name, as docs/policy-format.md has them.
    """
    threads = th.get_num_threads()
    th.set_num_threads(1)  # with more, sums have other bits, and layers as small as these are slower
    try:
        return _fit(law, fields, hidden, steps, seed)
    finally:
        th.set_num_threads(threads)


def _fit(
    law: OrderLaw, fields: Sequence[str], hidden: Sequence[int], steps: int, seed: int
) -> dict[str, Floats]:
    generator = th.Generator().manual_seed(seed)
    situations = law.situations(_SITUATIONS, np.random.default_rng([seed, 2]))
    columns = [law.reads.index(name) if name in law.reads else None for name in fields]
    inputs = th.zeros(_SITUATIONS, len(fields))
    for at, column in enumerate(columns):
        if column is not None:
            inputs[:, at] = th.from_numpy(
                np.sign(situations[:, column]) * np.log1p(np.abs(situations[:, column]))
            )
    targets = th.tanh(th.from_numpy(law.answer(situations)).float())[:, None]
    widths = [len(fields), *hidden, 1]
    layers = [_layer(i, o, generator) for i, o in pairwise(widths)]
    with th.no_grad():
        layers[0].weight[:, [column is None for column in columns]] = 0.0
    network = nn.Sequential(*[part for layer in layers for part in (layer, nn.Tanh())])
    optimiser = th.optim.Adam(network.parameters(), lr=1e-2)
    schedule = th.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, 1e-4)
    for _ in range(steps):
        rows = th.randint(0, _SITUATIONS, (_BATCH,), generator=generator)
        loss = nn.functional.mse_loss(network(inputs[rows]), targets[rows])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
    tensors = {}
    for i, layer in enumerate(layers):
        tensors[f"layers.{i}.weight"] = layer.weight.detach().double().numpy()
        tensors[f"layers.{i}.bias"] = layer.bias.detach().double().numpy()
    return tensors


def _layer(inputs: int, outputs: int, generator: th.Generator) -> nn.Linear:
    """A layer with the usual first weights, U(-1/√inputs, 1/√inputs), of this generator."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
    with th.no_grad():
        for parameter in (layer.weight, layer.bias):
            parameter.uniform_(-(inputs**-0.5), inputs**-0.5, generator=generator)
    return layer

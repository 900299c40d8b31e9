# SPDX-License-Identifier: GPL-2.0-or-later
"""Fused Adam step and Polyak averaging."""

from __future__ import annotations

import torch as th
from torch import nn

#: One pass over all parameters instead of a dozen operations for each.
ADAM = {"fused": True}


def descend(optimiser: th.optim.Optimizer, loss: th.Tensor) -> None:
    """A step of ``optimiser``'s parameters down ``loss``; no others get a gradient."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    optimiser.zero_grad()
    # Not autograd.grad(): it may lay gradients out as no parameter is, and fused Adam takes both as they lie.
    loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]
    optimiser.step()


def follow(target: nn.Module, followed: nn.Module, share: float) -> None:
    """Moves each parameter of ``target`` by ``share`` of its way to that of ``followed``."""
    with th.no_grad():
        th._foreach_lerp_(list(target.parameters()), list(followed.parameters()), share)

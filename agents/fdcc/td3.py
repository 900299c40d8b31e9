# SPDX-License-Identifier: GPL-2.0-or-later
"""TD3's targets and losses on histories, and the steps that follow them.

Fujimoto et al. 2018, Algorithm 1, with the networks of Zhang 2023, sec. 4.3 (eqs. 4.1-4.3). Networks come as
functions, so that each number can be checked by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch as th
from torch import nn

from ns3_env.agents.fdcc.passes import Reading
from ns3_env.policies.history import Floats

#: μ: a history to actions (B, A); Q: a history and actions (B, A) to each critic's value (B, C).
Actor = Callable[[Reading], th.Tensor]
Critics = Callable[[Reading, th.Tensor], th.Tensor]
#: One pass over all parameters instead of a dozen operations for each.
ADAM = {"fused": True}


def compress(rewards: Floats) -> Floats:
    """sign(r)·ln(1 + |r|) of rewards (k,)."""
    small: Floats = np.sign(rewards) * np.log1p(np.abs(rewards))
    return small


def smooth(actions: th.Tensor, deviation: float, clip: float) -> th.Tensor:
    """Target policy smoothing: clipped noise on the target actor's actions (B, A), within [-1, 1]."""
    noise = (th.randn_like(actions) * deviation).clamp(-clip, clip)
    return (actions + noise).clamp(-1, 1)


def targets(
    rewards: th.Tensor,
    dones: th.Tensor,
    discounts: th.Tensor,
    following: Reading,
    actor: Actor,
    critics: Critics,
    deviation: float,
    clip: float,
) -> th.Tensor:
    """y = R + (1 - done) γ^m min_i Q'_i(h', μ'(h') + ε), ε ~ clip(N(0, deviation), ±clip): (B, 1).

    Args:
        rewards: (B, 1), m-step returns.
        dones: (B, 1), 1 if the episode terminated: nothing follows.
        discounts: (B, 1), γ^m.
        following: the histories m decisions later.
        actor: target actor.
        critics: target critics.
        deviation: standard deviation of the smoothing noise.
        clip: largest magnitude of the smoothing noise.
    """
    with th.no_grad():
        actions = smooth(actor(following), deviation, clip)
        values = critics(following, actions).amin(dim=1, keepdim=True)
        return rewards + (1 - dones) * discounts * values


def critic_loss(values: th.Tensor, target_values: th.Tensor) -> th.Tensor:
    """Sum over critics of the mean squared error of values (B, C) against targets (B, 1)."""
    return (values - target_values).square().mean(dim=0).sum()


def actor_loss(value: th.Tensor) -> th.Tensor:
    """-mean Q_1(h, μ(h)) of values (B, 1)."""
    return -value.mean()


def saturation(raw: th.Tensor) -> th.Tensor:
    """Mean square of the actor's outputs (B, A) before tanh."""
    return (raw**2).mean()


def descend(optimiser: th.optim.Optimizer, loss: th.Tensor) -> None:
    """A step of ``optimiser``'s parameters down ``loss``; no other parameters get a gradient."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    optimiser.zero_grad()
    # Not autograd.grad(): its gradients may differ in layout from the parameters, unlike fused Adam expects.
    loss.backward(inputs=parameters)  # type: ignore[no-untyped-call]
    optimiser.step()


def follow(target: nn.Module, followed: nn.Module, share: float) -> None:
    """Moves each parameter of ``target`` by ``share`` of its distance to that of ``followed``."""
    with th.no_grad():
        th._foreach_lerp_(list(target.parameters()), list(followed.parameters()), share)

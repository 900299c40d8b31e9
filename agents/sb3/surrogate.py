# SPDX-License-Identifier: GPL-2.0-or-later
"""PPO's update of the usual networks, with gradients that are written out.

Minibatches, losses and logged values are Stable-Baselines3's; equations are those of Schulman et al. 2017.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch as th
from stable_baselines3 import PPO
from stable_baselines3.common.utils import explained_variance

from ns3_env.agents.sb3.censored import LEAST_LIKELY, CensoredPolicy
from ns3_env.agents.sb3.episode_buffer import EpisodeBuffer
from ns3_env.agents.sb3.layers import Layers, flat_gradient

_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Likelihood(NamedTuple):
    """Log-likelihoods (B,) of actions, and their slopes (B, A) to the mean and to the logarithm of the
    standard deviation."""

    log: th.Tensor
    to_mean: th.Tensor
    to_log_std: th.Tensor


def likelihood(actions: th.Tensor, mean: th.Tensor, log_std: th.Tensor) -> Likelihood:
    """``CensoredGaussian.log_prob`` of actions (B, A) under means (B, A) and log σ (A,), with its slopes."""
    side = (actions >= 1).to(mean.dtype) - (actions <= -1).to(mean.dtype)
    inside, inverse = side == 0, th.exp(-log_std)
    u = (actions.clamp(-1, 1) - mean) * inverse
    tail = -side * u  # of which Φ is the probability at a bound
    log_tail = th.special.log_ndtr(tail)
    hazard = th.exp(-0.5 * tail * tail - _LOG_SQRT_2PI - log_tail)  # φ/Φ, the slope of ln Φ
    log = th.where(inside, -0.5 * u * u - log_std - _LOG_SQRT_2PI, log_tail)
    to_u = th.where(inside, -u, -side * hazard).masked_fill(log < LEAST_LIKELY, 0)
    to_log_std = -u * to_u - (inside & (log >= LEAST_LIKELY)).to(mean.dtype)
    return Likelihood(log.clamp(min=LEAST_LIKELY).sum(1), -inverse * to_u, to_log_std)


class Rows(NamedTuple):
    """Decisions (n, ...) that a policy learns from, in the order of their minibatches."""

    features: th.Tensor
    actions: th.Tensor
    values: th.Tensor
    likely: th.Tensor
    advantages: th.Tensor
    returns: th.Tensor

    @classmethod
    def of(cls, buffer: EpisodeBuffer, policy: CensoredPolicy) -> Rows:
        """All of a full buffer, in its order."""
        names = ("observations", "actions", "values", "log_probs", "advantages", "returns")
        columns = [th.from_numpy(getattr(buffer, name)[:, 0]) for name in names]
        return cls(policy.features_extractor(columns[0]), *columns[1:])

    def shuffled(self) -> Rows:
        """Another order, by the random numbers that ``RolloutBuffer.get`` draws."""
        order = th.from_numpy(np.random.permutation(len(self.features)))  # noqa: NPY002
        return Rows(*(column.index_select(0, order) for column in self))

    def minibatches(self, size: int) -> Iterable[Rows]:
        """Parts of ``size`` rows, the last one of the rest."""
        return (Rows(*part) for part in zip(*(th.split(column, size) for column in self), strict=True))


class Update:
    """PPO's update by a full buffer."""

    def __init__(self, model: PPO, policy: CensoredPolicy) -> None:
        self.model, self.policy = model, policy
        ranges: tuple[Any, Any] = model.clip_range, model.clip_range_vf  # functions of the progress
        self.clip, self.value_clip = (of and of(model._current_progress_remaining) for of in ranges)
        self.actor = Layers([*policy.mlp_extractor.policy_net, policy.action_net])
        self.critic = Layers([*policy.mlp_extractor.value_net, policy.value_net])
        self.acts = policy.log_std.requires_grad
        policy.optimizer.zero_grad()
        self.gradient = flat_gradient([one for one in policy.parameters() if one.requires_grad])

    def losses(self, rows: Rows) -> th.Tensor:
        """(5,) policy, value and entropy loss, approximate KL divergence, share of clipped ratios.

        The gradient of the loss, eq. 9, is written to the parameters.
        """
        count, model = len(rows.features), self.model
        passed = self.actor.forward(rows.features)
        mean = th.tanh(passed[-1]) if self.policy.bounded else passed[-1]
        likely = likelihood(rows.actions, mean, self.policy.log_std)
        advantages = rows.advantages
        if model.normalize_advantage and count > 1:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        difference = likely.log - rows.likely
        ratio = difference.exp()
        surrogate = advantages * ratio
        clipped = advantages * ratio.clamp(1 - self.clip, 1 + self.clip)
        if self.acts:  # eq. 7: clipped ratios have no slope
            slope = surrogate.masked_fill(surrogate > clipped, 0)[:, None] / -count
            to_mean = slope * likely.to_mean
            self.actor.backward(passed, to_mean * (1 - mean * mean) if self.policy.bounded else to_mean)
            assert self.policy.log_std.grad is not None
            th.sum(slope * likely.to_log_std, 0, out=self.policy.log_std.grad).sub_(model.ent_coef)
        passed = self.critic.forward(rows.features)
        values = passed[-1][:, 0]
        if self.value_clip is not None:
            change = values - rows.values
            values = rows.values + change.clamp(-self.value_clip, self.value_clip)
        error = values - rows.returns
        slope = error * (2 * model.vf_coef / count)
        if self.value_clip is not None:
            slope = slope.masked_fill(change.abs() > self.value_clip, 0)
        self.critic.backward(passed, slope[:, None])
        return th.stack(
            [
                -th.min(surrogate, clipped).mean(),
                (error * error).mean(),
                -(self.policy.log_std + 0.5 + _LOG_SQRT_2PI).sum(),
                (ratio - 1 - difference).mean(),
                ((ratio - 1).abs() > self.clip).to(ratio.dtype).mean(),
            ]
        )

    def descend(self) -> None:
        """A step down the gradient, which is no longer than ``max_grad_norm``."""
        self.gradient.mul_((self.model.max_grad_norm / (self.gradient.norm() + 1e-6)).clamp(max=1))
        self.policy.optimizer.step()

    def run(self, buffer: EpisodeBuffer) -> None:
        """All passes over the buffer, with the log of Stable-Baselines3's ``PPO.train``."""
        model, rows = self.model, Rows.of(buffer, self.policy)
        losses: list[th.Tensor] = []
        for _ in range(model.n_epochs):
            last_pass = len(losses)
            for minibatch in rows.shuffled().minibatches(model.batch_size):
                losses.append(self.losses(minibatch))
                stops = model.target_kl is not None and losses[-1][3].item() > 1.5 * model.target_kl
                if stops:
                    break
                self.descend()
            model._n_updates += 1
            if stops:
                break
        explained = explained_variance(buffer.values.ravel(), buffer.returns.ravel())
        self._log(th.stack(losses).double(), last_pass, explained)

    def _log(self, losses: th.Tensor, last_pass: int, explained: float) -> None:
        """Records the losses (minibatches, 5) of an update whose last pass began with row ``last_pass``."""
        model, record = self.model, self.model.logger.record
        for i, name in enumerate(("policy_gradient", "value", "entropy")):
            record(f"train/{name}_loss", losses[:, i].mean().item())
        record("train/approx_kl", losses[last_pass:, 3].mean().item())
        record("train/clip_fraction", losses[:, 4].mean().item())
        record("train/loss", (losses[-1, :3] @ losses.new_tensor([1, model.vf_coef, model.ent_coef])).item())
        record("train/explained_variance", explained)
        record("train/std", self.policy.log_std.exp().mean().item())
        record("train/n_updates", model._n_updates, exclude="tensorboard")
        record("train/clip_range", self.clip)
        if self.value_clip is not None:
            record("train/clip_range_vf", self.value_clip)

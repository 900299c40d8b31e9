# SPDX-License-Identifier: GPL-2.0-or-later
"""A Gaussian policy whose actions are clipped to [-1, 1], with the likelihoods of the clipped actions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch as th
from gymnasium.spaces import Box
from stable_baselines3.common.distributions import (
    DiagGaussianDistribution,
    Distribution,
    sum_independent_dims,
)
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor

#: Less likely actions count as this likely (natural logarithm), so that ratios of likelihoods stay finite.
LEAST_LIKELY = -20.0


class CensoredGaussian(DiagGaussianDistribution):
    """A diagonal Gaussian whose samples beyond a bound are moved to the bound."""

    def log_prob(self, actions: th.Tensor) -> th.Tensor:
        """Log-likelihoods (B,) of actions (B, A): of density between the bounds, of probability at them."""
        mean, std = self.distribution.mean, self.distribution.stddev
        above = th.special.log_ndtr((mean - 1.0) / std)
        below = th.special.log_ndtr((-1.0 - mean) / std)
        inside = self.distribution.log_prob(actions)  # type: ignore[no-untyped-call]
        likely = th.where(actions >= 1.0, above, th.where(actions <= -1.0, below, inside))
        return sum_independent_dims(likely.clamp(min=LEAST_LIKELY))


class CensoredPolicy(ActorCriticPolicy):
    """Stable-Baselines3's MlpPolicy with :class:`CensoredGaussian`; its networks are the same."""

    def __init__(
        self, *arguments: Any, initial_action: float = 0.0, bounded: bool = False, **keywords: Any
    ) -> None:
        """Parameters are those of ``ActorCriticPolicy``, for continuous actions in [-1, 1].

        Args:
            arguments, keywords: arguments of ``ActorCriticPolicy``.
            initial_action: approximate action of the untrained policy.
            bounded: true if the mean is the tanh of the last layer.
        """
        if "optimizer_class" not in keywords and keywords.get("optimizer_kwargs") is None:
            # Stable-Baselines3's default, with one pass over all parameters.
            keywords["optimizer_kwargs"] = {"eps": 1e-5, "fused": True}
        super().__init__(*arguments, **keywords)
        self.bounded = bounded
        assert isinstance(self.action_net.bias, th.Tensor)
        bias = math.atanh(initial_action) if bounded else initial_action
        th.nn.init.constant_(self.action_net.bias, bias)
        if self.use_sde:
            return  # whose distribution depends on the state
        assert isinstance(self.action_space, Box)
        self.action_dist = CensoredGaussian(self.action_space.shape[0])

    def actor_parameters(self) -> Iterator[th.nn.Parameter]:
        """Parameters of mean and standard deviation."""
        yield from self.mlp_extractor.policy_net.parameters()
        yield from self.action_net.parameters()
        yield self.log_std

    def _get_action_dist_from_latent(self, latent_pi: th.Tensor) -> Distribution:
        if not self.bounded:
            return super()._get_action_dist_from_latent(latent_pi)
        assert isinstance(self.action_dist, CensoredGaussian)
        return self.action_dist.proba_distribution(th.tanh(self.action_net(latent_pi)), self.log_std)


class Symlog(FlattenExtractor):
    """sign(x)·ln(1+|x|) of each input, as a policy's file has it (``transform: symlog``).

    ``policy_kwargs={"features_extractor_class": Symlog}`` of any Stable-Baselines3 algorithm.
    """

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """Observations (B, D) to features (B, D)."""
        flat = super().forward(observations)
        return th.sign(flat) * th.log1p(th.abs(flat))

# SPDX-License-Identifier: GPL-2.0-or-later
"""TRPO as an agent: sb3-contrib's, on episodes run inside simulators."""

from __future__ import annotations

import torch as th
from sb3_contrib import TRPO

from ns3_env.agents.configuration.registry import Agent
from ns3_env.agents.sb3.censored import CensoredPolicy
from ns3_env.agents.sb3.config import EpisodeConfig
from ns3_env.agents.sb3.episodes import EpisodeTrainer, OfEpisodes
from ns3_env.agents.sb3.layers import Layers, flat_gradient, has_plain_layers


class EpisodeTRPO(OfEpisodes, TRPO):
    """TRPO that learns from whole episodes."""

    _fisher: Fisher | None = None  # while it updates

    def train(self) -> None:
        """Updates as sb3-contrib does, with products of the Fisher information that are written out, if the
        networks are the usual ones."""
        if has_plain_layers(self.policy) and self.sub_sampling_factor == 1:
            observations = th.from_numpy(self.rollout_buffer.observations[:, 0])
            self._fisher = Fisher(self.policy, self.policy.features_extractor(observations))
        super().train()
        self._fisher = None

    def hessian_vector_product(
        self,
        params: list[th.nn.Parameter],
        grad_kl: th.Tensor,
        vector: th.Tensor,
        retain_graph: bool = True,
    ) -> th.Tensor:
        """See ``TRPO``."""
        if self._fisher is None:
            return super().hessian_vector_product(params, grad_kl, vector, retain_graph)
        return self._fisher.times(params, vector) + self.cg_damping * vector


class Fisher:
    """Products with the Fisher information of a Gaussian policy, by a pass forwards and one back.

    It is the mean of JᵀMJ over decisions (Schulman et al. 2015, app. C): J has the derivatives of mean and
    log σ, M is diag(1/σ², 2).
    """

    def __init__(self, policy: CensoredPolicy, features: th.Tensor) -> None:
        """``features`` (n, D) are those of all decisions."""
        self._log_std = policy.log_std
        self._actor = Layers([*policy.mlp_extractor.policy_net, policy.action_net])
        with th.no_grad():
            self._passed = self._actor.forward(features)
            slope = 1 - th.tanh(self._passed[-1]).square() if policy.bounded else th.ones(())
            self._weight = slope.square() * th.exp(-2 * policy.log_std) / len(features)

    def times(self, parameters: list[th.nn.Parameter], vector: th.Tensor) -> th.Tensor:
        """The product with a vector of the actor's parameters."""
        with th.no_grad():
            parts = th.split(vector, [*map(th.numel, parameters)])
            along: dict[th.Tensor, th.Tensor] = {
                one: part.view_as(one) for one, part in zip(parameters, parts, strict=True)
            }
            product = flat_gradient(parameters)
            self._actor.backward(self._passed, self._weight * self._actor.tangent(self._passed, along))
            assert self._log_std.grad is not None
            self._log_std.grad.add_(along[self._log_std], alpha=2)
        return product


class TrpoTrainer(EpisodeTrainer):
    """Trainer of TRPO."""

    of_episodes = EpisodeTRPO


AGENT = Agent(config=EpisodeConfig, trainer=TrpoTrainer, rollouts=True, channel=False)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Stable-Baselines3 rollout buffer that is filled with whole episodes of flows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch as th
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy

from ns3_env.envs.rollouts import Rollout


class EpisodeBuffer(RolloutBuffer):
    """A RolloutBuffer of all decisions of some episodes; its size is their number.

    ``gamma`` counts per base RTT: a decision's discount is gamma^e, e the base RTTs that it took.
    """

    def fill(
        self, rollouts: Sequence[Rollout], policy: ActorCriticPolicy, *, by_episode: bool = False
    ) -> None:
        """Fills the buffer with only these episodes, with values and likelihoods under their policy.

        ``by_episode`` centres and scales advantages within each episode. Raises ValueError if no flow
        decided.
        """
        decided = np.concatenate([rollout.decided for rollout in rollouts])
        if not decided.any():
            raise ValueError(f"no flow decided in {len(rollouts)} episodes: nothing is there to learn from")
        observations = th.from_numpy(np.concatenate([rollout.observations for rollout in rollouts]))
        actions = th.from_numpy(np.concatenate([rollout.actions for rollout in rollouts]))[:, None]
        with th.no_grad():
            predicted, likely, _ = policy.evaluate_actions(observations, actions)
        final = np.concatenate([rollout.final for rollout in rollouts])
        values = np.where(final, 0.0, predicted.numpy().ravel().astype(np.float64))
        advantages = generalised_advantages(
            np.concatenate([rollout.rewards for rollout in rollouts]),
            self.gamma ** np.concatenate([rollout.elapsed for rollout in rollouts]),
            values,
            decided,
            self.gae_lambda,
        )[decided]
        self.buffer_size = self.pos = len(advantages)
        self.full, self.generator_ready = True, False
        self.observations = observations.numpy()[decided][:, None]
        self.actions = actions.numpy()[decided][:, None]
        values = values[decided]
        returns = advantages + values
        if by_episode:
            advantages = standardised(advantages, [rollout.decisions for rollout in rollouts])
        for name, column in (
            ("values", values),
            ("log_probs", likely.numpy()[decided]),
            ("advantages", advantages),
            ("returns", returns),
        ):
            setattr(self, name, column.astype(np.float32)[:, None])


def standardised(advantages: NDArray[np.float64], counts: Sequence[int]) -> NDArray[np.float64]:
    """Advantages with mean 0 and standard deviation 1 in each episode, of ``counts`` decisions each."""
    parts = [part for part in np.split(advantages, np.cumsum(counts)[:-1]) if len(part)]
    return np.concatenate([(part - part.mean()) / (part.std() + 1e-8) for part in parts])


def generalised_advantages(
    rewards: NDArray[np.float64],
    discounts: NDArray[np.float64],
    values: NDArray[np.float64],
    decided: NDArray[np.bool_],
    gae_lambda: float,
) -> NDArray[np.float64]:
    """Generalised advantages (Schulman et al. 2016) of rows, those of a flow in a row, each (n,).

    Args:
        rewards, discounts: reward and discount of the decision before each row.
        values: value of each row; 0 if nothing follows.
        decided: true for rows with an action; the row after such a one belongs to the same flow.
        gae_lambda: λ, per decision.
    """
    advantages = np.zeros_like(values)
    advantages[:-1] = np.where(decided[:-1], rewards[1:] + discounts[1:] * values[1:] - values[:-1], 0.0)
    decays = np.zeros_like(values)
    decays[:-1] = gae_lambda * discounts[1:] * decided[1:] * decided[:-1]
    ahead = 1  # each advantage sums the errors of this number of rows, doubled until all are included
    while ahead < len(values) and decays.any():
        advantages[:-ahead] += decays[:-ahead] * advantages[ahead:]
        decays[:-ahead] *= decays[ahead:]
        decays[-ahead:] = 0.0
        ahead *= 2
    return advantages

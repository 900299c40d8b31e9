# SPDX-License-Identifier: GPL-2.0-or-later
"""Stable-Baselines3 rollout buffer that is filled with whole episodes of flows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch as th
from numpy.typing import NDArray
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.policies import ActorCriticPolicy

from ns3_env.decision.observations import column
from ns3_env.envs.rollouts import Rollout

#: Most decisions of an episode that an update learns from, if each counts the same.
ROWS = 512


class EpisodeBuffer(RolloutBuffer):
    """A RolloutBuffer of all decisions of some episodes; its size is their number.

    ``gamma`` counts per base RTT: a decision's discount is gamma^e, e the base RTTs that it took.
    """

    def fill(
        self, rollouts: Sequence[Rollout], policy: ActorCriticPolicy, *, by_episode: bool = False
    ) -> None:
        """Fills the buffer with only these episodes, with values and likelihoods under their policy.

        With several plays of the same flows these are the baseline instead of the critic. ``by_episode``
        centres and scales advantages within each episode. Raises ValueError if no flow decided.
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
        plays = len(rollouts) > len({rollout.seed for rollout in rollouts})
        every = generalised_advantages(
            np.concatenate([rollout.rewards for rollout in rollouts]),
            self.gamma ** np.concatenate([rollout.elapsed for rollout in rollouts]),
            np.zeros_like(values) if plays else values,
            decided,
            self.gae_lambda,
        )
        advantages = every[decided]
        values = values[decided]
        returns = advantages if plays else advantages + values
        advantages = advantages - of_other_plays(rollouts, every)[decided]
        rows = np.arange(len(advantages))
        if by_episode:
            advantages = standardised(advantages, rollouts)
            rows = equal_shares([rollout.decisions for rollout in rollouts], rollouts[0].seed)
        self.buffer_size = self.pos = len(rows)
        self.full, self.generator_ready = True, False
        self.observations = observations.numpy()[decided][rows][:, None]
        self.actions = actions.numpy()[decided][rows][:, None]
        for name, values_of in (
            ("values", values),
            ("log_probs", likely.numpy()[decided]),
            ("advantages", advantages),
            ("returns", returns),
        ):
            setattr(self, name, values_of[rows].astype(np.float32)[:, None])


def of_other_plays(rollouts: Sequence[Rollout], advantages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave-one-out baseline of each row (n,): what other plays of the same flows had instead.

    A row's baseline is the mean, over the other plays, of the flow's advantages at the same time since its
    first decision, between two decisions interpolated, 0 after its end. It depends on nothing that the row's
    action changes (input-driven baselines, Mao et al. 2019; leave-one-out, Kool et al. 2019). Without
    another play 0.

    Args:
        rollouts: the plays, those of the same flows have the same seed.
        advantages: (n,) of their rows.
    """
    baselines = np.zeros_like(advantages)
    curves: dict[tuple[int, int], list[tuple[slice, NDArray[np.float64]]]] = {}
    row = 0
    for rollout in rollouts:
        begins = np.flatnonzero(rollout.first)
        times = column(rollout.records, "time_ns")
        for begin, end in zip(begins, np.append(begins[1:], len(rollout.first)), strict=True):
            place = slice(row + int(begin), row + int(end))
            flow = rollout.seed, int(rollout.flows[begin])
            curves.setdefault(flow, []).append((place, times[begin:end] - times[begin]))
        row += len(rollout.first)
    for plays in curves.values():
        for i, (place, times) in enumerate(plays):
            others = [
                np.interp(times, then, advantages[there], right=0.0)
                for j, (there, then) in enumerate(plays)
                if j != i
            ]
            if others:
                baselines[place] = np.mean(others, axis=0)
    return baselines


def standardised(advantages: NDArray[np.float64], rollouts: Sequence[Rollout]) -> NDArray[np.float64]:
    """Advantages with mean 0 and standard deviation 1 in each episode, or in all plays of the same flows.

    ``advantages`` (decisions,) are those of all decisions of the episodes.
    """
    seeds = np.repeat([rollout.seed for rollout in rollouts], [rollout.decisions for rollout in rollouts])
    _, group = np.unique(seeds, return_inverse=True)
    count = np.bincount(group)
    centred = advantages - (np.bincount(group, advantages) / count)[group]
    deviation = np.sqrt(np.bincount(group, centred**2) / count)
    return np.asarray(centred / (deviation[group] + 1e-8))


def equal_shares(decisions: Sequence[int], seed: int) -> NDArray[np.intp]:
    """Rows of episodes with these numbers of decisions, equally many of each, drawn by ``seed``.

    They are as many as an episode has on average, at most ``ROWS``: of one with fewer all rows are taken, and
    some again.
    """
    random, first, rows = np.random.default_rng(seed), 0, []
    each = min(ROWS, math.ceil(np.mean(decisions)))
    for count in filter(None, decisions):
        rows.append(first + np.resize(random.permutation(count), each))
        first += count
    return np.concatenate(rows)


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Stable-Baselines3 buffers that keep decisions only and leave out rows without a flow."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch as th
from gymnasium import spaces
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.type_aliases import ReplayBufferSamples, RolloutBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from ns3_env.envs.slots import Mask


class MaskedBufferMixin(RolloutBuffer):
    """Base of masked rollout buffers: they know which of their rows are decisions.

    ``gamma`` counts per base RTT: a row's discount is gamma^e, e the base RTTs that its decision took.
    Advantages need no mask: a flow's rows lie next to each other, and its last one is an end.
    """

    def __init__(self, *arguments: Any, mask: Mask, **keywords: Any) -> None:
        """Parameters are those of the buffer that is masked; ``mask`` is the environment's."""
        self.mask = mask
        mask.acknowledge()
        super().__init__(*arguments, **keywords)

    def reset(self) -> None:
        super().reset()
        self.decided = np.zeros((self.buffer_size, self.n_envs), dtype=np.bool_)
        self.discounts = np.ones((self.buffer_size, self.n_envs), dtype=np.float32)

    def add(self, *arguments: Any, **keywords: Any) -> None:
        """Adds a row for each slot, and records which were decisions."""
        self.decided[self.pos] = self.mask.outcomes()
        self.discounts[self.pos] = self.gamma**self.mask.elapsed
        super().add(*arguments, **keywords)

    def compute_returns_and_advantage(self, last_values: th.Tensor, dones: npt.NDArray[Any]) -> None:
        """Generalised advantages and returns (Schulman et al. 2016) with each row's own discount."""
        goes_on = 1.0 - np.append(self.episode_starts[1:], np.asarray(dones)[None], axis=0)
        following = np.append(self.values[1:], last_values.cpu().numpy().reshape(1, -1), axis=0)
        deltas = self.rewards + self.discounts * goes_on * following - self.values
        advantage = np.zeros(self.n_envs, dtype=np.float32)
        for step in reversed(range(self.buffer_size)):
            decay = self.discounts[step] * self.gae_lambda * goes_on[step]
            advantage = deltas[step] + decay * advantage
            self.advantages[step] = advantage
        self.returns = self.advantages + self.values

    def flat_decisions(self) -> npt.NDArray[np.bool_]:
        """Returns which of the rows are decisions, in the order of a full buffer's samples: (buffer_size x
        n_envs,).

        Raises ValueError if no row is one: there is nothing to learn from.
        """
        flat: npt.NDArray[np.bool_] = self.swap_and_flatten(self.decided).ravel()
        if not flat.any():
            raise ValueError(
                f"no flow decided in {self.buffer_size} steps of {self.n_envs} slots: raise n_steps"
            )
        return flat


class MaskedRecurrentRolloutBuffer(MaskedBufferMixin, RecurrentRolloutBuffer):
    """A RecurrentRolloutBuffer whose sequences consist of decisions.

    No flow is split: between two rows of one flow there is no padding, and a flow's first row starts a
    sequence. Minibatches contain ``batch_size`` decisions on average, and at least two, for RecurrentPPO
    divides by the spread of their advantages.
    """

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[RecurrentRolloutBufferSamples, None, None]:
        self.decisions = self.flat_decisions()
        count = int(self.decisions.sum())
        if count < 2:
            raise ValueError(f"{count} decision in {self.buffer_size} steps: raise n_steps")
        rows = self.buffer_size * self.n_envs
        size = None if batch_size is None else -(-batch_size * rows // count)
        of_rows: Any = super().get(size)  # the result of _get_samples
        for chosen in none_alone([chosen for chosen in of_rows if len(chosen)]):
            yield super()._get_samples(chosen, self._env_change)

    def _get_samples(  # type: ignore[override]
        self, batch_inds: npt.NDArray[Any], env_change: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> npt.NDArray[Any]:
        """Returns a minibatch with a mask of its rows that are decisions."""
        self._env_change = env_change
        chosen: npt.NDArray[Any] = batch_inds[self.decisions[batch_inds]]
        return chosen


def none_alone(several: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Minibatches' rows; a single one goes to the next minibatch, or the last to the one before."""
    batches: list[npt.NDArray[Any]] = []
    for rows in several:
        if batches and (len(batches[-1]) < 2 or (rows is several[-1] and len(rows) < 2)):
            batches[-1] = np.concatenate([batches[-1], rows])
        else:
            batches.append(rows)
    return batches


A = TypeVar("A", bound=BaseAlgorithm)


class MaskedReplayBuffer(ReplayBuffer):
    """A ReplayBuffer that keeps decisions; all slots share one ring of ``buffer_size``.

    A transition's discount is gamma^e, e the base RTTs that it took.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        device: th.device | str = "auto",
        optimize_memory_usage: bool = False,
        handle_timeout_termination: bool = True,
        *,
        mask: Mask,
        gamma: float,
    ) -> None:
        """Parameters are ReplayBuffer's, without ``n_envs``; ``mask`` is the environment's, ``gamma`` the
        discount per base RTT."""
        super().__init__(
            buffer_size,
            observation_space,
            action_space,
            device,
            1,
            optimize_memory_usage,
            handle_timeout_termination,
        )
        self.mask = mask
        self.gamma = gamma
        self.discounts = np.ones((self.buffer_size, 1), dtype=np.float32)
        mask.acknowledge()

    def add(
        self,
        obs: npt.NDArray[Any],
        next_obs: npt.NDArray[Any],
        action: npt.NDArray[Any],
        reward: npt.NDArray[Any],
        done: npt.NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Adds the rows of the last step that were decisions."""
        for i in np.flatnonzero(self.mask.outcomes()):
            row = slice(i, i + 1)
            self.discounts[self.pos] = self.gamma ** self.mask.elapsed[i]
            super().add(obs[row], next_obs[row], action[row], reward[row], done[row], infos[row])

    def _get_samples(
        self, batch_inds: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> ReplayBufferSamples:
        discounts = self.to_torch(self.discounts[batch_inds])
        return super()._get_samples(batch_inds, env)._replace(discounts=discounts)


class MaskedRolloutBuffer(MaskedBufferMixin):
    """A RolloutBuffer whose minibatches consist of decisions."""

    def get(self, batch_size: int | None = None) -> Generator[RolloutBufferSamples, None, None]:
        """Minibatches of ``batch_size`` decisions in random order; None: all in one."""
        self.decisions = self.flat_decisions()
        whole = next(super().get(None))
        count = len(whole.observations)
        size = batch_size or count
        for first in range(0, count, size):
            yield RolloutBufferSamples(*(part[first : first + size] for part in whole))

    def _get_samples(
        self, batch_inds: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> RolloutBufferSamples:
        return super()._get_samples(batch_inds[self.decisions[batch_inds]], env)


def mask_of(algorithm: BaseAlgorithm) -> Mask | None:
    """The mask of the algorithm's environment, through VecEnv wrappers; None if each row is a decision."""
    env = algorithm.get_env()
    mask = None if env is None else getattr(env.unwrapped, "mask", None)
    return mask if isinstance(mask, Mask) else None


def masked(algorithm: A) -> A:
    """The algorithm, which learns from decisions only: its buffer is replaced by its masked version.

    Its ``gamma`` then counts per base RTT, whatever the time of a decision (Bradtke and Duff 1994).

    Works on TD3, SAC, DDPG, TQC (any off-policy algorithm with the plain ReplayBuffer), PPO, A2C and
    sb3-contrib's RecurrentPPO. An algorithm whose environment has no rows but decisions stays as it is. To be
    called again on an algorithm that was loaded or given another environment; its stored rows are lost.

    Raises:
        TypeError: the algorithm's buffer has no masked version.
    """
    mask = mask_of(algorithm)
    if mask is None:
        return algorithm
    if isinstance(algorithm, OffPolicyAlgorithm):
        _mask_replay(algorithm, mask)
    elif isinstance(algorithm, OnPolicyAlgorithm):
        _mask_rollouts(algorithm, mask)
    else:
        raise TypeError(f"{type(algorithm).__name__} has neither a replay buffer nor a rollout buffer")
    return algorithm


def _mask_replay(algorithm: OffPolicyAlgorithm, mask: Mask) -> None:
    plain = algorithm.replay_buffer
    if type(plain) not in (ReplayBuffer, MaskedReplayBuffer):
        raise TypeError(f"{type(plain).__name__} has no masked sister; ReplayBuffer has")
    assert plain is not None
    algorithm.replay_buffer = MaskedReplayBuffer(
        algorithm.buffer_size,
        plain.observation_space,
        plain.action_space,
        plain.device,
        plain.optimize_memory_usage,
        plain.handle_timeout_termination,
        mask=mask,
        gamma=algorithm.gamma,
    )


def _mask_rollouts(algorithm: OnPolicyAlgorithm, mask: Mask) -> None:
    plain = algorithm.rollout_buffer
    common: dict[str, Any] = {
        "device": plain.device,
        "gae_lambda": plain.gae_lambda,
        "gamma": plain.gamma,
        "n_envs": plain.n_envs,
        "mask": mask,
    }
    shape = plain.buffer_size, plain.observation_space, plain.action_space
    if type(plain) in (RolloutBuffer, MaskedRolloutBuffer):
        algorithm.rollout_buffer = MaskedRolloutBuffer(*shape, **common)
        return
    if hasattr(plain, "hidden_state_shape"):
        from ns3_env.envs.sb3_buffers import MaskedRecurrentRolloutBuffer

        algorithm.rollout_buffer = MaskedRecurrentRolloutBuffer(*shape, plain.hidden_state_shape, **common)
        return
    raise TypeError(f"{type(plain).__name__} has no masked sister; RolloutBuffer has")

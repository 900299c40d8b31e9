# SPDX-License-Identifier: GPL-2.0-or-later
"""Exploration: action noise and held random actions.

All is drawn from NumPy's global generator, which Stable-Baselines3's ``set_random_seed()`` seeds, and from
the action space's own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from ns3_env.policies.history import Floats, Ints

#: Decisions that a random action is held for, on average (geometric, as in Dabney et al. 2021).
MEAN_HOLD = 4.0


class Exploration:
    """Exploration in each slot: some flows' episodes are random from beginning to end (εz-greedy)."""

    def __init__(self, slots: int, action_space: spaces.Box, random_share: float, noise: float) -> None:
        """
        Args:
            slots: number of slots.
            action_space: Box of shape (A,).
            random_share: share of flows' episodes in which all actions are random.
            noise: standard deviation of the noise added to the actor's scaled actions.
        """
        assert action_space.shape is not None
        self.action_space = action_space
        self.random_share = random_share
        self.noise = noise
        self.at_random = np.zeros(slots, dtype=bool)
        self._held = np.zeros((slots, *action_space.shape), dtype=np.float32)
        self._hold_for = np.zeros(slots, dtype=np.int64)

    def begin(self, slots: Ints) -> None:
        """An episode starts in each of ``slots`` (m,): a draw decides whether its actions are random."""
        samples = np.random.random(len(slots))  # noqa: NPY002
        self.at_random[slots] = samples < self.random_share

    def actions(self, slots: Ints, decide: Callable[[Ints], Floats], all_random: bool = False) -> Floats:
        """Scaled actions (m, A) in [-1, 1].

        Args:
            slots: (m,) slots that are due, all different.
            decide: function from some of them, (k,), to the actor's scaled actions (k, A).
            all_random: true before learning starts.
        """
        at_random = self.at_random[slots] | all_random
        scaled = np.zeros((len(slots), self._held.shape[1]), dtype=np.float32)
        for row in np.flatnonzero(at_random):
            scaled[row] = self._random_action(int(slots[row]))
        decided = slots[~at_random]
        if len(decided) > 0:
            scaled[~at_random] = self._with_noise(decide(decided))
        return scaled

    def _random_action(self, slot: int) -> Floats:
        """The slot's current action, redrawn when its time is over."""
        if self._hold_for[slot] == 0:
            low, high = self.action_space.low, self.action_space.high
            self._held[slot] = 2.0 * ((self.action_space.sample() - low) / (high - low)) - 1.0
            self._hold_for[slot] = np.random.geometric(1 / MEAN_HOLD)  # noqa: NPY002
        self._hold_for[slot] -= 1
        action: Floats = self._held[slot]
        return action

    def _with_noise(self, actions: Floats) -> Floats:
        if self.noise == 0:
            return actions
        noise = np.random.normal(0.0, self.noise, actions.shape)  # noqa: NPY002
        noisy: Floats = np.clip(actions + noise.astype(np.float32), -1.0, 1.0)
        return noisy


class _Rows(NamedTuple):
    """Rows of the slots that are due, as in ``ns3_env.envs.flow_stream.Batch``."""

    slots: npt.NDArray[Any]
    observations: npt.NDArray[Any]
    rewards: npt.NDArray[Any]
    elapsed: npt.NDArray[Any]
    final: npt.NDArray[Any]
    first: npt.NDArray[Any]
    terminated: npt.NDArray[Any]
    truncated: npt.NDArray[Any]


class StepStream:
    """``recv()`` / ``send()`` over an ordinary VecEnv, in which every slot is due at every step.

    An episode's end and the beginning of the next come in one batch, the end first. A step lasts
    ``info["elapsed"]``, or 1.
    """

    def __init__(self, env: VecEnv, observations: npt.NDArray[Any]) -> None:
        """
        Args:
            env: the environment, just reset.
            observations: (n, D), returned by ``reset()``.
        """
        self.env = env
        self._reset: npt.NDArray[Any] | None = observations
        assert env.action_space.shape is not None
        self._actions = np.zeros((env.num_envs, *env.action_space.shape), dtype=env.action_space.dtype)

    def recv(self, *, wait_all: bool = False) -> _Rows:
        """Rows of all slots; those that ended come twice."""
        n = self.env.num_envs
        slots = np.arange(n)
        if self._reset is not None:
            observations, self._reset = self._reset, None
            no = np.zeros(n, dtype=bool)
            return _Rows(slots, observations, np.zeros(n, np.float32), np.zeros(n), no, ~no, no, no)
        following, rewards, dones, infos = self.env.step_wait()
        assert isinstance(following, np.ndarray)
        cut = np.array([bool(info.get("TimeLimit.truncated", False)) for info in infos]) & dones
        outcome = following.copy()
        for slot in np.flatnonzero(dones):
            outcome[slot] = infos[slot]["terminal_observation"]
        ended_slots = np.flatnonzero(dones)
        no = np.zeros(len(ended_slots), dtype=bool)
        return _Rows(
            np.concatenate([slots, ended_slots]),
            np.concatenate([outcome, following[ended_slots]]),
            np.concatenate([rewards, np.zeros(len(ended_slots), rewards.dtype)]),
            np.concatenate([[info.get("elapsed", 1.0) for info in infos], np.zeros(len(ended_slots))]),
            np.concatenate([dones & ~cut, no]),
            np.concatenate([np.zeros(n, dtype=bool), ~no]),
            np.concatenate([dones & ~cut, no]),
            np.concatenate([cut, no]),
        )

    def send(self, actions: npt.NDArray[Any], slots: npt.NDArray[Any]) -> None:
        """Starts the step; ``slots`` are all slots, in any order."""
        self._actions[slots] = actions
        self.env.step_async(self._actions)

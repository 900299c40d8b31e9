# SPDX-License-Identifier: GPL-2.0-or-later
"""Decision stream of the learner: ``recv()`` and ``send()``, also over an ordinary VecEnv."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv


class _Rows(NamedTuple):
    """Of the slots that are due, as in ``ns3_env.envs.flow_stream.Batch``."""

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

    An episode's end and the beginning of the next come in one batch, the end first. A step takes what
    ``info["elapsed"]`` says, or 1.
    """

    def __init__(self, env: VecEnv, observations: npt.NDArray[Any]) -> None:
        """
        Args:
            env: the environment, just reset.
            observations: what ``reset()`` returned, (n, D).
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
        begun = np.flatnonzero(dones)
        no = np.zeros(len(begun), dtype=bool)
        return _Rows(
            np.concatenate([slots, begun]),
            np.concatenate([outcome, following[begun]]),
            np.concatenate([rewards, np.zeros(len(begun), rewards.dtype)]),
            np.concatenate([[info.get("elapsed", 1.0) for info in infos], np.zeros(len(begun))]),
            np.concatenate([dones & ~cut, no]),
            np.concatenate([np.zeros(n, dtype=bool), ~no]),
            np.concatenate([dones & ~cut, no]),
            np.concatenate([cut, no]),
        )

    def send(self, actions: npt.NDArray[Any], slots: npt.NDArray[Any]) -> None:
        """Starts the step; ``slots`` are all slots, in any order."""
        self._actions[slots] = actions
        self.env.step_async(self._actions)

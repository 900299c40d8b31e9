# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments without a simulator: a VecEnv with slots due at different times, and a memory task."""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

Array = npt.NDArray[Any]


#: Base RTTs of each step.
ELAPSED = 2.0


class FakeBatch(NamedTuple):
    """The fields of ns3_env.envs.sb3_vec_env.Batch that agents read."""

    slots: Array
    observations: Array
    rewards: Array
    elapsed: Array
    final: Array
    first: Array
    terminated: Array
    truncated: Array
    simulators: Array
    results: list[tuple[int, dict[str, Any]]]


class FakeRdmaVecEnv(VecEnv):
    """Slots whose observation is (slot, episode, step): any history that mixes episodes shows itself.

    Each slot's episodes have random lengths, end by termination or truncation, and start after a random idle
    time. The reward of a step is minus the distance of its action from 0.5.
    """

    def __init__(self, num_envs: int = 3, seed: int = 0, longest: int = 12) -> None:
        super().__init__(
            num_envs,
            spaces.Box(-np.inf, np.inf, (3,), np.float32),
            spaces.Box(-1.0, 1.0, (1,), np.float32),
        )
        self.longest = longest
        self.random = np.random.default_rng(seed)
        self.episodes = np.zeros(num_envs, dtype=np.int64)
        self.closed = False

    def reset(self) -> Array:
        n = self.num_envs
        self.time = 0
        self.wake = self.random.integers(0, 5, n)
        self.step_of = np.full(n, -1)
        self.length_of = self.random.integers(1, self.longest, n)
        self.cut = self.random.random(n) < 0.5
        self.reward = np.zeros(n)
        self.awaiting: set[int] = set()
        return np.zeros((n, 3), dtype=np.float32)

    def recv(self, *, wait_all: bool = False) -> FakeBatch:
        assert not self.awaiting, f"slots {self.awaiting} were not answered"
        self.time = int(self.wake.min())
        due = np.flatnonzero(self.wake == self.time)
        self.step_of[due] += 1
        observations = np.stack([due, self.episodes[due], self.step_of[due]], axis=1).astype(np.float32)
        over = self.step_of[due] >= self.length_of[due]
        batch = FakeBatch(
            due,
            observations,
            np.where(self.step_of[due] == 0, 0.0, self.reward[due]).astype(np.float32),
            np.full(len(due), ELAPSED),
            over & ~self.cut[due],
            self.step_of[due] == 0,
            over & ~self.cut[due],
            over & self.cut[due],
            np.zeros(len(due), dtype=np.int64),
            [],
        )
        for slot in due[over]:
            self.episodes[slot] += 1
            self.step_of[slot] = -1
            self.length_of[slot] = self.random.integers(1, self.longest)
            self.cut[slot] = self.random.random() < 0.5
            self.wake[slot] = self.time + self.random.integers(1, 9)
        self.awaiting = {int(slot) for slot in due[~over]}
        return batch

    def send(self, actions: Array, slots: Array) -> None:
        assert {int(slot) for slot in slots} == self.awaiting
        self.awaiting = set()
        self.reward[slots] = -np.abs(np.asarray(actions)[:, 0] - 0.5)
        self.wake[slots] = self.time + self.random.integers(1, 4, len(slots))

    def close(self) -> None:
        self.closed = True

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name, None)] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def _nobody_asks(self, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    step_async = step_wait = set_attr = env_method = _nobody_asks


class RecallEnv(gym.Env[Array, Array]):
    """A cue of ±1 is shown once; every later step is rewarded by −(action − cue)², the cue hidden.

    Without memory the best action is 0, at −1 a step; with memory the return is 0.
    """

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, steps: int = 5) -> None:
        self.steps = steps

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.cue = float(self.np_random.choice([-1.0, 1.0]))
        self.at = 0
        return np.array([self.cue, 1.0], dtype=np.float32), {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        reward = 0.0 if self.at == 0 else -float((action[0] - self.cue) ** 2)
        self.at += 1
        return np.zeros(2, dtype=np.float32), reward, self.at > self.steps, False, {}

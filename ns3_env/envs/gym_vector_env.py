# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, whose simulators compute side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from ns3_env.envs import renamed
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES

Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class FlowVectorEnv(VectorEnv[NDArray[np.float32], NDArray[Any], NDArray[Any]]):
    """``num_envs`` :class:`ns3_env.envs.gym_env.FlowEnv`, in each one controlled flow and a simulator.

    What ``gymnasium.make_vec("ns3_env/RdmaIncast-v0", num_envs=8)`` gives. All actions go out before the
    first answer is waited for. Every row of every step is a decision: an environment whose episode ends
    begins the next one in the same step (Gymnasium's SAME_STEP), ``infos["final_obs"]`` and
    ``infos["final_info"]`` hold what ended it.

    Args:
        num_envs: environments.
        render_mode: None, or "rgb_array".
        arguments: those of FlowEnv.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it so)
        "render_modes": RENDER_MODES,
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }
    #: What each of them is.
    env_class: ClassVar[type[FlowEnv]] = FlowEnv

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **arguments: Any) -> None:
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.envs = [self.env_class(render_mode=render_mode, **arguments) for _ in range(num_envs)]
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """New episodes everywhere.

        Args:
            seed: of each environment, or the first one's: the others' are those that follow.
            options: see ``FlowEnv.reset``.

        Returns:
            Observations (num_envs, D), and infos.
        """
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self.num_envs)]
        else:
            seeds = list(seed)
        infos: dict[str, Any] = {}
        seen = []
        for i, (env, own) in enumerate(zip(self.envs, seeds, strict=True)):
            observation, info = env.reset(seed=own, options=options)
            seen.append(observation)
            infos = self._add_info(infos, info, i)
        return np.stack(seen), infos

    def step(self, actions: NDArray[Any]) -> Batch:
        """Observations (num_envs, D), rewards, terminated, truncated (num_envs,), infos."""
        for env, action in zip(self.envs, actions, strict=True):
            env.act(action)
        rewards = np.zeros(self.num_envs)
        terminated = np.zeros(self.num_envs, dtype=np.bool_)
        truncated = np.zeros(self.num_envs, dtype=np.bool_)
        infos: dict[str, Any] = {}
        seen: list[NDArray[np.float32]] = []
        for i, env in enumerate(self.envs):
            observation, rewards[i], terminated[i], truncated[i], info = env.outcome()
            seen.append(observation)
            if terminated[i] or truncated[i]:
                infos = self._add_info(infos, {"final_obs": observation, "final_info": info}, i)
                env.begin(None)
            else:
                infos = self._add_info(infos, info, i)
        for i in np.flatnonzero(terminated | truncated).tolist():
            seen[i], info = self.envs[i].begun()
            infos = self._add_info(infos, info, i)
        return np.stack(seen), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """A picture of each environment; None where ``render_mode`` is."""
        return None if self.render_mode is None else tuple(env.render() for env in self.envs)

    def close_extras(self, **_: Any) -> None:
        """Ends the simulators."""
        for env in self.envs:
            env.close()


def __getattr__(name: str) -> Any:
    """Classes by their names of 0.1."""
    return renamed(__name__, name)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium VectorEnv of many networks, whose simulators compute side by side."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from numpy.typing import NDArray

from ns3_env.envs import renamed
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.rendering import FPS, RENDER_MODES

Batch = tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class FlowVectorEnv(SyncVectorEnv):
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
    envs: list[FlowEnv]  # type: ignore[assignment]

    def __init__(self, num_envs: int = 1, render_mode: str | None = None, **arguments: Any) -> None:
        make = partial(self.env_class, render_mode=render_mode, **arguments)
        super().__init__([make] * num_envs, autoreset_mode=AutoresetMode.SAME_STEP)

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

    def render(self) -> tuple[Any, ...] | None:  # type: ignore[override]
        """A picture of each environment; None where ``render_mode`` is."""
        return None if self.render_mode is None else super().render()


__getattr__ = renamed(__name__)

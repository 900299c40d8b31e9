# SPDX-License-Identifier: GPL-2.0-or-later
"""Infos that nobody has looked at yet tell of their own step, and as much as ever."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import SyncVectorEnv

from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.scenario import Synchronous

ID = "ns3_env/RdmaIncast-v0"


def same(one: Any, other: Any) -> bool:
    """Equal to the last bit, in type and in content."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(one[k], other[k]) for k in one)
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return other.dtype == object and same(one.tolist(), other.tolist())
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return type(one) is type(other) and one == other


def told(looks_at_once: bool) -> list[Any]:
    """Infos of 60 steps over several episodes, without the wall time."""
    scenario = incast_scenario(3, size_bytes=100_000).model_copy(update={"clock": Synchronous()})
    with FlowVecEnv(scenario, slots=3, num_simulators=2, seed=3) as env:
        env.mask.acknowledge()
        env.reset()
        steps: list[Any] = []
        for _ in range(60):
            _, _, _, infos = env.step(np.zeros((6, 1)))
            steps.append(list(infos) if looks_at_once else infos)
    for infos in steps:
        for info in infos:
            if "episode" in info:
                info["episode"].pop("t")
    return [[{**info} for info in infos] for infos in steps]


def test_infos_of_a_step_are_the_same_however_late_one_looks() -> None:
    at_once = told(True)
    assert same(at_once, told(False))
    assert sum("episode" in info for infos in at_once for info in infos) >= 12
    assert any(info.get("due") and info["telemetry"]["rtt"] > 0 for infos in at_once for info in infos)


def test_make_vec_joins_infos_as_gymnasium_does() -> None:
    vector: Any = gym.make_vec(ID, num_envs=2, flows=3)
    singles = [gym.make(ID, flows=3) for _ in range(2)]
    joined = SyncVectorEnv([lambda: gym.make("Pendulum-v1")] * 2)._add_info
    vector.reset(seed=5)
    for i, env in enumerate(singles):
        env.reset(seed=5 + i)
    action, ends = np.zeros(1, dtype=np.float32), 0
    for _ in range(60):
        *_, infos = vector.step(np.zeros((2, 1), dtype=np.float32))
        expected: dict[str, Any] = {}
        for i, env in enumerate(singles):
            observation, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                expected = joined(expected, {"final_obs": observation, "final_info": info}, i)
                info, ends = env.reset()[1], ends + 1
            expected = joined(expected, info, i)
        assert same(infos, expected)
    assert ends >= 2
    vector.close()
    for env in singles:
        env.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Infos are plain dicts, and those of a vector are joined as Gymnasium joins them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from ns3_env.decision.observations import INDEX
from ns3_env.envs.gym_env import incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
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


_STEPPED = incast_scenario(3, size_bytes=100_000).model_copy(update={"clock": Synchronous()})


def _gymnasium() -> Any:
    env = gym.make(ID, flows=3)
    yield env.reset(seed=3)[1]
    while True:
        *_, terminated, truncated, info = env.step(np.zeros(1, dtype=np.float32))
        yield info
        if terminated or truncated:
            env.reset()


def _make_vec() -> Any:
    env: Any = gym.make_vec(ID, num_envs=2, flows=3)
    yield env.reset(seed=3)[1]
    while True:
        yield env.step(np.zeros((2, 1), dtype=np.float32))[-1]


def _stable_baselines() -> Any:
    with FlowVecEnv(_STEPPED, slots=3, num_simulators=2, seed=3) as env:
        env.mask.acknowledge()
        env.reset()
        yield env.reset_infos
        while True:
            yield env.step(np.zeros((6, 1)))[-1]


def _pettingzoo() -> Any:
    env = FlowParallelEnv(_STEPPED)
    yield env.reset(seed=3)[1]
    while True:
        if not env.agents:
            env.reset()
        yield env.step({agent: np.zeros(1, dtype=np.float32) for agent in env.agents})[-1]


def _rllib() -> Any:
    pytest.importorskip("ray")
    from ns3_env.envs.rllib_env import FlowMultiAgentEnv

    env = FlowMultiAgentEnv({"scenario": _STEPPED})
    observations, infos = env.reset(seed=3)
    while True:
        yield infos
        observations, _, terminated, truncated, infos = env.step(
            {agent: np.zeros(1, dtype=np.float32) for agent in observations if agent not in env._ended}
        )
        if terminated["__all__"] or truncated["__all__"]:
            observations, infos = env.reset()


def _not_plain(content: Any) -> str | None:
    """The first type that serialisers written in C do not read as its base type."""
    if type(content) not in (dict, list, np.ndarray, str, bool, int, float, np.float32, np.float64):
        return str(type(content))
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return next((fault for part in parts if (fault := _not_plain(part))), None)


@pytest.mark.parametrize("front_end", [_gymnasium, _make_vec, _stable_baselines, _pettingzoo, _rllib])
def test_infos_are_plain_dicts_whose_telemetry_has_every_field(front_end: Any) -> None:
    steps = front_end()
    infos_of_steps = [next(steps) for _ in range(40)]
    steps.close()
    assert _not_plain(infos_of_steps) is None
    telemetry = _telemetry(infos_of_steps)
    assert set(INDEX) in [{name for name in one if not name.startswith("_")} for one in telemetry]
    if front_end is _gymnasium:
        assert list(telemetry[0].values()) == infos_of_steps[0]["record"].tolist()


def test_a_vec_env_leaves_telemetry_out_on_request() -> None:
    with FlowVecEnv(_STEPPED, slots=3, seed=3, telemetry=False) as env:
        env.mask.acknowledge()
        env.reset()
        steps = [env.step(np.zeros((3, 1)))[-1] for _ in range(40)]
    assert not _telemetry(steps)
    assert any(info.get("flow") == 2 and info["elapsed"] > 0 for infos in steps for info in infos)


def _telemetry(content: Any) -> list[dict[str, Any]]:
    """Every dict below a key "telemetry"."""
    if isinstance(content, list):
        return [telemetry for part in content for telemetry in _telemetry(part)]
    if not isinstance(content, dict):
        return []
    below = [
        telemetry for key, part in content.items() if key != "telemetry" for telemetry in _telemetry(part)
    ]
    return below + ([content["telemetry"]] if "telemetry" in content else [])


@pytest.mark.parametrize(("name", "least_ends"), [(ID, 2), ("ns3_env/TcpBottleneck-v0", 0)])
def test_make_vec_is_its_single_environments_row_by_row_with_infos_joined_as_gymnasium_does(
    name: str, least_ends: int
) -> None:
    vector: Any = gym.make_vec(name, num_envs=2, flows=3)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    singles = [gym.make(name, flows=3) for _ in range(2)]
    joined = SyncVectorEnv([lambda: gym.make("Pendulum-v1")] * 2)._add_info
    observations = vector.reset(seed=5)[0]
    alone = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    action, ends = np.array([0.3], dtype=np.float32), 0
    for _ in range(60):
        assert np.array_equal(observations, np.stack(alone))
        observations, rewards, terminated, truncated, infos = vector.step(np.tile(action, (2, 1)))
        expected: dict[str, Any] = {}
        for i, env in enumerate(singles):
            alone[i], reward, *over, info = env.step(action)
            assert (reward, over) == (rewards[i], [terminated[i], truncated[i]])
            if any(over):
                expected = joined(expected, {"final_obs": alone[i], "final_info": info}, i)
                (alone[i], info), ends = env.reset(), ends + 1
            expected = joined(expected, info, i)
        assert same(infos, expected)
    assert ends >= least_ends
    vector.close()
    for env in singles:
        env.close()


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_vectors_episodes_are_truncated_at_its_step_limit(mode: AutoresetMode) -> None:
    vector: Any = gym.make_vec(ID, num_envs=2, flows=3, max_episode_steps=4, autoreset_mode=mode)
    vector.reset(seed=5)
    cuts = []
    for _ in range(12):
        *_, truncated, _ = vector.step(np.zeros((2, 1), dtype=np.float32))
        cuts.append(bool(truncated.all()))
        if mode is AutoresetMode.DISABLED and truncated.any():
            vector.reset(options={"reset_mask": truncated})
    vector.close()
    period = 5 if mode is AutoresetMode.NEXT_STEP else 4
    assert cuts == [step % period == 3 for step in range(12)]

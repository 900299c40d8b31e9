# SPDX-License-Identifier: GPL-2.0-or-later
"""Usual calls of Gymnasium and SB3: ids, subprocesses, vectors, pickling, and rendering."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

from ns3_env.envs.gym_env import FlowEnv, incast_scenario
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rendering import HEIGHT, WIDTH
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.task.observations import INDEX

ID = "ns3_env/RdmaIncast-v0"
ACTION = np.array([0.3], dtype=np.float32)


def test_stable_baselines_takes_the_id() -> None:
    model = PPO("MlpPolicy", ID, n_steps=32, batch_size=32).learn(32)
    model.get_env().close()  # type: ignore[union-attr]


def test_make_vec_env_and_subprocesses_by_id() -> None:
    env = make_vec_env(f"ns3_env:{ID}", n_envs=2, vec_env_cls=SubprocVecEnv, env_kwargs={"flows": 2}, seed=3)
    first = env.reset()
    env.step(np.zeros((2, 1), dtype=np.float32))
    image = env.render(mode="rgb_array")
    assert isinstance(image, np.ndarray)
    assert image.std() > 1
    env.close()
    assert isinstance(first, np.ndarray)
    assert first.shape[0] == 2


def test_gymnasiums_vector_is_its_single_environments_row_by_row() -> None:
    vector = gym.make_vec(ID, num_envs=3, vectorization_mode="vector_entry_point", flows=3)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    singles = [gym.make(ID, flows=3) for _ in range(3)]
    seen, _ = vector.reset(seed=5)
    alone = [env.reset(seed=5 + i)[0] for i, env in enumerate(singles)]
    ended = 0
    for _ in range(120):
        assert np.array_equal(seen, np.stack(alone))
        seen, rewards, terminated, truncated, infos = vector.step(np.tile(ACTION, (3, 1)))
        for i, env in enumerate(singles):
            alone[i], reward, *over, _ = env.step(ACTION)  # type: ignore[assignment]
            assert (reward, over) == (rewards[i], [terminated[i], truncated[i]])
            if any(over):
                ended += 1
                assert np.array_equal(infos["final_obs"][i], alone[i])
                alone[i] = env.reset()[0]
    assert ended >= 3
    vector.close()
    for env in singles:
        env.close()


def test_vector_environments_may_be_gymnasiums_own_kinds_too() -> None:
    vector = gym.make_vec(f"ns3_env:{ID}", num_envs=2, vectorization_mode="sync")
    vector.reset(seed=1)
    vector.step(np.zeros((2, 1), dtype=np.float32))
    vector.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda: FlowEnv(flows=2, render_mode="rgb_array"),
        lambda: FlowParallelEnv(flows=2, render_mode="rgb_array"),
    ],
    ids=["flow", "parallel"],
)
def test_an_environment_that_was_pickled_is_the_same_one_from_its_beginning(make: Any) -> None:
    env = make()
    env.reset(seed=2)
    again = pickle.loads(pickle.dumps(env))
    one, other = env.reset(seed=2)[0], again.reset(seed=2)[0]
    assert np.array_equal(one, other) if isinstance(one, np.ndarray) else sorted(one) == sorted(other)
    assert again.render().shape == (HEIGHT, WIDTH, 3)
    env.close()
    again.close()


def test_a_vec_env_that_was_pickled_begins_anew() -> None:
    with FlowVecEnv(incast_scenario(2), slots=2, seed=4, render_mode="rgb_array") as env:
        first = env.reset()
        with pickle.loads(pickle.dumps(env)) as again:
            assert np.array_equal(again.reset(), first)
            assert again.render().shape == (HEIGHT, WIDTH, 3)


def test_a_picture_shows_what_has_happened_since_the_reset() -> None:
    env = gym.make(ID, render_mode="rgb_array")
    env.reset(seed=1)
    empty: Any = env.render()
    for _ in range(15):
        env.step(ACTION)
    full: Any = env.render()
    env.reset(seed=1)
    assert (full != empty).any()
    assert np.array_equal(env.render(), empty)
    env.close()


def test_another_render_mode_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"one of \['rgb_array'\], not 'human'"):
        FlowEnv(render_mode="human")


def test_reset_plays_the_scenario_that_it_is_given(tmp_path: Path) -> None:
    env = FlowEnv(flows=2)
    env.reset(seed=1)
    _, info = env.reset(seed=1, options={"scenario": incast_scenario(5, size_bytes=50_000)})
    assert env.scenario.flow_count == 5
    assert info["telemetry"]["time_ns"] == info["time_ns"]
    env.reset(seed=1)
    assert env.scenario.flow_count == 5  # from now on
    with pytest.raises(ScenarioError, match="traffic"):
        env.reset(options={"scenario": {"traffic": {"kind": "none"}}})
    with pytest.raises(ValueError, match="there is no 'flows'; reset\\(\\) knows 'scenario'"):
        env.reset(options={"flows": 3})
    env.close()


def test_info_names_every_value() -> None:
    env = FlowEnv(flows=2)
    _, info = env.reset(seed=1)
    assert list(info["telemetry"]) == list(INDEX)
    assert list(info["telemetry"].values()) == info["record"].tolist()
    env.close()
    with FlowVecEnv(incast_scenario(2), slots=2) as many:
        many.mask.acknowledge()
        many.reset()
        _, _, _, infos = many.step(np.zeros((2, 1)))
        told = [one for one in infos if one["due"]]
        assert told
        assert all(list(one["telemetry"]) == list(INDEX) and one["flow"] in (0, 1) for one in told)

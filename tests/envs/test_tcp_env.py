# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments over TCP: checkers, reproducible episodes, killed simulators, and learning."""

from __future__ import annotations

import os
import pickle
import signal
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO

from ns3_env.envs.tcp_env import TCP_FIELDS
from ns3_env.errors import ScenarioError, SimulatorDied

ID = "ns3_env/TcpBottleneck-v0"


def play(env: gym.Env[Any, Any], act: Any, seed: int = 3) -> tuple[list[bytes], float]:
    """One episode: its observations, and the mean reward."""
    observation, _ = env.reset(seed=seed)
    observations, rewards, over = [observation.tobytes()], [], False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(act(observation))
        observations.append(observation.tobytes())
        rewards.append(float(reward))
        over = terminated or truncated
    return observations, float(np.mean(rewards))


def still(_: Any) -> Any:
    return np.zeros(1, dtype=np.float32)


def test_the_same_seed_gives_the_same_bits_also_after_pickling_and_beside_others() -> None:
    env = gym.make(ID, flows=3)
    first, _ = play(env, still)
    assert play(env, still)[0] == first != play(env, still, seed=4)[0]
    again = pickle.loads(pickle.dumps(env.unwrapped))
    assert play(again, still)[0] == first
    again.close()
    env.close()
    many = gym.make_vec(ID, num_envs=2, flows=3, vectorization_mode="vector_entry_point")
    observation, _ = many.reset(seed=[3, 4])
    assert observation[0].tobytes() == first[0]
    for step in range(1, 20):
        observation, *_ = many.step(np.zeros((2, 1), dtype=np.float32))
        assert observation[0].tobytes() == first[step]
    many.close()


def test_what_switches_alone_can_tell_is_absent_by_name() -> None:
    env = gym.make(ID)
    _, info = env.reset(seed=1)
    assert set(TCP_FIELDS) <= set(info["telemetry"])
    assert not {"qlen", "switch_rate", "flow_count", "notified_offset"} & set(info["telemetry"])
    env.close()
    with pytest.raises(ScenarioError, match="'qlen'"):
        gym.make(ID, fields=("rtt", "qlen"))


def test_after_episodes_left_and_simulators_killed_the_next_reset_works_as_if_nothing_was() -> None:
    env = gym.make(ID)
    whole, _ = play(env, still)
    for _ in range(3):
        env.reset(seed=8)
        env.step(still(None))
    assert play(env, still)[0] == whole  # nor do aborted episodes change the next one
    env.reset(seed=3)
    env.step(still(None))
    os.kill(env.unwrapped._simulator.pid, signal.SIGKILL)  # type: ignore[attr-defined]
    with pytest.raises(SimulatorDied, match="signal 9"):
        env.step(still(None))
    assert play(env, still)[0] == whole
    env.close()


def test_ppo_learns_to_fill_the_link_and_no_queue() -> None:
    torch.set_num_threads(1)
    env = gym.make(ID, flows=1)
    settings = {"n_steps": 128, "gamma": 0.9, "learning_rate": 5e-3, "ent_coef": 0.003}
    model = PPO("MlpPolicy", env, seed=1, policy_kwargs={"net_arch": [32]}, **settings)
    judged = gym.make(ID, flows=1)

    def reward() -> float:
        return play(judged, lambda observation: model.predict(observation, deterministic=True)[0])[1]

    before = reward()
    model.learn(1024)
    after = reward()
    # At its first window, a BDP of the host's link, three quarters of it are queue: -0.07. An empty queue
    # and a full link are 0.24: 10 Gb/s of the host's 40, less headers.
    assert before < 0.05
    assert after > 0.15
    env.close()
    judged.close()

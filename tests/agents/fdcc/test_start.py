# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC that starts with a policy's network."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv

from ns3_env.agents.fdcc import FDCC, FdccConfig
from ns3_env.agents.fdcc.trainer import begin_as, read_fdcc_policy
from ns3_env.errors import ConfigError
from ns3_env.policies.file import read_policy
from ns3_env.policies.released import load_policy, released

FIELDS = read_policy(released("fdcc")).spec.fields
#: Widths of the released policy.
WIDTHS = {"history_length": 4, "hidden": 16, "shortcut": 32, "net_arch": [32]}


class Noise(gym.Env[np.ndarray, np.ndarray]):
    """Observations at random, as wide as the policy's."""

    observation_space = spaces.Box(-np.inf, np.inf, (len(FIELDS),), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, **arguments: object) -> tuple[np.ndarray, dict[str, object]]:
        return self.np_random.normal(size=len(FIELDS)).astype(np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, object]]:
        return self.reset()[0], 1.0 - float(action[0]), False, self.np_random.random() < 0.1, {}


def begun(**changes: object) -> FDCC:
    """An agent that starts with the released policy."""
    config = FdccConfig.model_validate({**WIDTHS, "start": "fdcc", "learning_starts": 10, **changes})
    model = FDCC(env=DummyVecEnv([Noise]), config=config, fields=FIELDS, seed=1)
    begin_as(model.policy, "fdcc", FIELDS)
    return model


def test_it_begins_with_the_policy_s_answers_and_random_critics() -> None:
    model, policy = begun(), load_policy("fdcc")
    observations = np.random.default_rng(1).uniform(0, 1, (50, len(FIELDS))).astype(np.float32)
    model_state = policy_state = None
    for _ in range(6):
        mine, model_state = model.policy.predict(observations, model_state)
        expected, policy_state = policy.predict(observations, policy_state)
        assert np.allclose(mine, expected, atol=1e-5)
        observations = observations[::-1].copy()
    for name, value in model.actor.state_dict().items():
        assert np.array_equal(model.actor_target.state_dict()[name], value)


def test_the_actor_stays_until_its_critics_have_learned() -> None:
    model, policy = begun(actor_starts=40, train_freq=1, gradient_steps=1), read_policy(released("fdcc"))
    before = {name: value.clone() for name, value in model.critic.state_dict().items()}
    model.learn(45)
    assert any(not np.array_equal(before[name], value) for name, value in model.critic.state_dict().items())
    tensors = read_fdcc_policy(model.policy).tensors
    assert all(np.array_equal(tensors[name], policy.tensors[name]) for name in tensors)
    model.learn(30, reset_num_timesteps=False)
    tensors = read_fdcc_policy(model.policy).tensors
    assert not np.array_equal(tensors["lstm.weight_ih"], policy.tensors["lstm.weight_ih"])


def test_another_network_or_observation_is_refused() -> None:
    model = begun()
    with pytest.raises(ConfigError, match=r"agent\.start: dispatcher reads 1 observations of qlen"):
        begin_as(model.policy, "dispatcher", FIELDS)
    with pytest.raises(ConfigError, match=r"agent\.start: fdcc has other layers"):
        begun(shortcut=16)

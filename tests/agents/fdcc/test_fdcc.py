# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC as a Stable-Baselines3 algorithm, and on a task that needs memory."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import DummyVecEnv

from ns3_env.agents.fdcc import FDCC, FdccConfig
from ns3_env.agents.fdcc.policy import RecurrentTD3Policy
from ns3_env.errors import ConfigError
from tests.agents.fdcc.fake_vec_env import FakeRdmaVecEnv, RecallEnv

SMALL: dict[str, Any] = {"hidden": 16, "shortcut": 16, "net_arch": [16], "batch_size": 16}
SMALL |= {"learning_starts": 40, "train_freq": 16}
#: Plain TD3: FDCC's additions for incasts are off.
PLAIN: dict[str, Any] = {"compress_rewards": False}
PLAIN |= {"random_share": 0.0, "saturation_penalty": 0.0}


def small(env: Any, config: dict[str, Any] | None = None, seed: int = 3, **kwargs: Any) -> FDCC:
    parameters = FdccConfig(**{**SMALL, **PLAIN, "action_noise": 0.0, **(config or {})})
    return FDCC("LstmPolicy", env, parameters, seed=seed, **kwargs)


def weights(model: FDCC) -> np.ndarray:
    return np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()])


def test_one_time_step_is_one_decision_of_one_flow() -> None:
    class Count(BaseCallback):
        decisions = 0

        def _on_step(self) -> bool:
            self.decisions += len(self.locals["due"])
            return True

    count = Count()
    model = small(FakeRdmaVecEnv(3), {"train_freq": 20, "gradient_steps": 1})
    model.learn(200, callback=count)
    assert count.decisions == model.num_timesteps >= 200
    assert model.num_timesteps < 200 + 20 + 3
    assert model.ep_info_buffer


def test_weights_are_saved_and_put_into_another(tmp_path: Path) -> None:
    model = small(FakeRdmaVecEnv(3), {"action_noise": 0.1})
    model.learn(150)
    model.save(tmp_path / "model.zip")
    again = small(FakeRdmaVecEnv(5))
    assert not (weights(model) == weights(again)).all()
    again.set_parameters(tmp_path / "model.zip")
    assert (weights(model) == weights(again)).all()
    observation = np.ones((2, 3), dtype=np.float32)
    assert (model.predict(observation)[0] == again.predict(observation)[0]).all()
    again.learn(100)
    assert not (weights(model) == weights(again)).all()


def test_no_pickle_is_read(tmp_path: Path) -> None:
    model = small(FakeRdmaVecEnv(3))
    model.learn(50)
    model.save(tmp_path / "model.zip")
    model.save_replay_buffer(tmp_path / "buffer.pkl")
    with pytest.raises(ConfigError, match=r"model\.zip: FDCC\.load would run code .*set_parameters"):
        FDCC.load(tmp_path / "model.zip", env=FakeRdmaVecEnv(3))
    with pytest.raises(ConfigError, match=r"buffer\.pkl: .* would run code .*--resume"):
        model.load_replay_buffer(tmp_path / "buffer.pkl")
    model.policy.save(str(tmp_path / "policy.pth"))
    with pytest.raises(ConfigError, match=r"policy\.pth: .* would run code .*load_state_dict"):
        RecurrentTD3Policy.load(str(tmp_path / "policy.pth"))


def test_a_callback_stops_and_learning_goes_on_without_reset() -> None:
    class Stop(BaseCallback):
        def _on_step(self) -> bool:
            return self.num_timesteps < 60

    env = FakeRdmaVecEnv(3)
    model = small(env)
    model.learn(500, callback=Stop())
    assert 60 <= model.num_timesteps < 64
    episodes = env.episodes.copy()
    model.learn(50, reset_num_timesteps=False, progress_bar=True)
    assert model.num_timesteps >= 110
    assert (env.episodes >= episodes).all()


def test_it_runs_on_an_ordinary_vec_env() -> None:
    env = DummyVecEnv([lambda: gym.make("Pendulum-v1", max_episode_steps=20)] * 2)
    model = small(env).learn(300)
    buffer = model.replay_buffer
    assert buffer.size() > 250
    assert not buffer.dones.any()
    # Actions of [-2, 2] are stored scaled, and predicted in the environment's units.
    assert np.abs(buffer.actions).max() <= 1.0
    mean, _ = evaluate_policy(model, env, n_eval_episodes=2)
    assert np.isfinite(mean)


def test_it_learns_a_task_that_needs_memory() -> None:
    """RecallEnv: the best return without memory is −5 (action 0); FDCC must come close to 0."""
    env = DummyVecEnv([RecallEnv] * 4)
    env.seed(1)
    config = FdccConfig(
        learning_rate=3e-3,
        learning_starts=200,
        train_freq=8,
        gradient_steps=2,
        batch_size=64,
        gamma_per_rtt=0.5,
        n_step_return=1,
        tau=0.02,
        action_noise=0.3,
        hidden=16,
        shortcut=16,
        net_arch=[32],
        **PLAIN,
    )
    model = FDCC("LstmPolicy", env, config, seed=1)
    model.learn(2000)
    mean, _ = evaluate_policy(model, DummyVecEnv([RecallEnv]), n_eval_episodes=20, warn=False)
    assert np.mean(mean) > -1.0

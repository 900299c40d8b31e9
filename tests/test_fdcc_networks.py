# SPDX-License-Identifier: GPL-2.0-or-later
"""Do the networks read a history as they say? Its true end, compressed; and targets begin as copies."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv

from agents.fdcc import FDCC, FdccConfig
from agents.fdcc.history import History, SlotHistories
from agents.fdcc.networks import RecurrentEncoder
from agents.fdcc.stream import StepStream
from tests.fake_vec_env import FakeRdmaVecEnv


def history_of(*lengths: int) -> History:
    generator = th.Generator().manual_seed(0)
    return History(th.randn(len(lengths), 4, 3, generator=generator) * 5, th.tensor(lengths))


def test_an_encoder_gives_the_lstms_output_at_the_true_length_and_a_shortcut() -> None:
    encoder = RecurrentEncoder(input_dim=3, extra_dim=1, hidden=5, shortcut=2, compress=False)
    history, action = history_of(1, 3, 4), th.tensor([[0.1], [0.2], [0.3]])
    features = encoder(history, action)
    assert features.shape == (3, encoder.features_dim) == (3, 7)
    for row, length in enumerate(history.lengths.tolist()):
        outputs, _ = encoder.lstm(history.windows[row : row + 1, :length])
        assert th.allclose(features[row, :5], outputs[0, -1], atol=1e-6)
        current = th.cat([history.windows[row, length - 1], action[row]])
        assert th.allclose(features[row, 5:], encoder.shortcut(current), atol=1e-6)


def test_compressing_reads_sign_and_logarithm() -> None:
    plain, compressing = (RecurrentEncoder(3, 0, 5, 2, compress=compress) for compress in (False, True))
    compressing.load_state_dict(plain.state_dict())
    history = history_of(2, 4)
    windows = th.sign(history.windows) * th.log(1 + th.abs(history.windows))
    assert th.allclose(compressing(history), plain(History(windows, history.lengths)), atol=1e-6)


def test_an_action_is_the_hyperbolic_tangent_of_the_raw_output() -> None:
    actor = FDCC("LstmPolicy", FakeRdmaVecEnv(1), fields=("last_action",)).actor
    with th.no_grad():
        for parameter in actor.parameters():
            parameter.mul_(20)
    history = history_of(1, 2, 3, 4)
    assert th.equal(actor(history), th.tanh(actor.raw(history)))
    assert actor(history).abs().max() <= 1
    assert actor.raw(history).abs().max() > 1


def test_twins_judge_history_and_action_and_only_the_first_is_climbed() -> None:
    critic = FDCC("LstmPolicy", FakeRdmaVecEnv(1), fields=("last_action",)).critic
    history, actions = history_of(1, 2, 4), th.tensor([[-1.0], [0.0], [1.0]])
    one, two = critic(history, actions)
    assert one.shape == two.shape == (3, 1)
    assert not th.isclose(one, two).any()
    assert th.equal(critic.q1_forward(history, actions), one)
    for same_history, same_action in ((False, True), (True, False)):
        others = critic(
            history if same_history else history_of(2, 3, 1), actions if same_action else actions + 0.5
        )
        assert not th.isclose(others[0], one).any()
        assert not th.isclose(others[1], two).any()


def test_targets_begin_as_copies_of_what_they_follow() -> None:
    policy = FDCC("LstmPolicy", FakeRdmaVecEnv(1), FdccConfig(hidden=4)).policy
    for target, follows in ((policy.actor_target, policy.actor), (policy.critic_target, policy.critic)):
        for one, two in zip(target.parameters(), follows.parameters(), strict=True):
            assert th.equal(one, two)
            assert one is not two


def test_a_policy_that_is_asked_reads_the_histories_that_training_reads() -> None:
    model = FDCC("LstmPolicy", FakeRdmaVecEnv(1), FdccConfig(hidden=8), seed=2)
    policy, slot = model.policy, np.array([0])
    histories = SlotHistories(1, policy.history_length, 3, 1, with_last_action=True)
    state = None
    for row in np.random.default_rng(0).normal(size=(12, 1, 3)).astype(np.float32):
        histories.observe(slot, row)
        trained = policy.act_on(histories.windows, histories.lengths)
        histories.last_actions[slot] = trained
        asked, state = model.predict(row, state)
        np.testing.assert_allclose(asked, trained, atol=1e-7)


class Counter(gym.Env[Any, Any]):
    """Observes how many steps were made; ends at its number of steps, by itself or cut."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def __init__(self, steps: int, cut: bool) -> None:
        self.steps, self.cut = steps, cut

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.at = 0
        return np.array([0.0], np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.at += 1
        over = self.at == self.steps
        return np.array([self.at], np.float32), float(action[0]), over and not self.cut, over and self.cut, {}


@pytest.mark.parametrize("cut", [False, True])
def test_a_step_streams_an_end_before_the_next_beginning(cut: bool) -> None:
    env = DummyVecEnv([lambda: Counter(2, cut), lambda: Counter(3, not cut)])
    stream = StepStream(env, env.reset())  # type: ignore[arg-type]
    begun = stream.recv()
    assert begun.first.tolist() == [True, True]
    assert not (begun.terminated | begun.truncated).any()
    for reward in (0.5, 0.25):
        stream.send(np.array([[-1.0], [reward]]), np.array([1, 0]))
        rows = stream.recv()
    assert rows.slots.tolist() == [0, 1, 0]
    assert rows.observations[:, 0].tolist() == [2.0, 2.0, 0.0]  # the final one, and the next episode's first
    assert rows.rewards.tolist() == [0.25, -1.0, 0.0]
    assert rows.first.tolist() == [False, False, True]
    assert rows.terminated.tolist() == [not cut, False, False]
    assert rows.truncated.tolist() == [cut, False, False]

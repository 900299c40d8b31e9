# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's TD3: targets, losses and updates by hand, and its start as a policy's network."""

import copy
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from gymnasium import spaces
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import set_random_seed
from stable_baselines3.common.vec_env import DummyVecEnv

from ns3_env.agents.fdcc import FDCC, FdccConfig, td3
from ns3_env.agents.fdcc.replay import History
from ns3_env.agents.fdcc.td3 import descend
from ns3_env.agents.fdcc.trainer import begin_as, read_fdcc_policy
from ns3_env.policies.file import read_policy
from ns3_env.policies.released import load_policy, released
from tests.agents.fdcc.fake_vec_env import FakeRdmaVecEnv


def column(*values: float) -> th.Tensor:
    return th.tensor(values, dtype=th.float32).reshape(-1, 1)


def test_smoothing_noise_is_normal_clipped_and_kept_within_the_actions() -> None:
    th.manual_seed(0)
    at_zero = td3.smooth(th.zeros(20_000, 1), deviation=0.2, clip=0.5)
    assert at_zero.std().item() == pytest.approx(0.2, rel=0.03)
    assert at_zero.mean().item() == pytest.approx(0.0, abs=0.01)
    assert at_zero.abs().max().item() == 0.5  # 2.5 deviations out: reached by one draw in 80
    far = td3.smooth(th.full((1000, 1), 0.8), deviation=100.0, clip=0.5)
    # Nearly every draw is clipped to ±0.5, and 0.8 + 0.5 to 1.
    assert ((far - 0.3).abs().lt(1e-6) | (far == 1.0)).float().mean().item() > 0.98
    assert far.min().item() == pytest.approx(0.3)
    assert far.max().item() == 1.0
    assert (td3.smooth(th.full((5, 1), -0.25), 0.0, 0.5) == -0.25).all()


def test_losses_and_compressed_rewards_are_those_worked_out_by_hand() -> None:
    loss = td3.critic_loss(th.tensor([[1.0, 0.0], [3.0, 0.0]]), column(0.0, 1.0))
    assert loss.item() == (1 + 4) / 2 + (0 + 1) / 2  # squared, averaged, and added
    assert td3.actor_loss(column(1.0, 4.0)).item() == -2.5
    assert td3.saturation(column(-2.0, 4.0)).item() == 10.0  # the square before tanh
    rewards = np.array([0.0, math.e - 1, 1 - math.e**2, 0.5], dtype=np.float32)
    assert td3.compress(rewards) == pytest.approx([0.0, 1.0, -2.0, math.log(1.5)])


# The whole step, on networks and batches made by hand


def learner(**config: Any) -> FDCC:
    """A small FDCC whose buffer has 40 transitions of episodes that terminate or are truncated."""
    small = {"hidden": 4, "shortcut": 4, "net_arch": [4], "learning_starts": 40, "train_freq": 50}
    env = FakeRdmaVecEnv(2, seed=1, longest=4)
    settings = FdccConfig(
        **{**small, "gradient_steps": 0, "gamma_per_rtt": 0.5, "n_step_return": 2, **config}
    )
    model = FDCC("LstmPolicy", env, settings, seed=1)
    model.set_logger(Logger(None, []))
    model.learn(50)
    assert model.replay_buffer.dones[: model.replay_buffer.size()].any()
    return model


def parameters(module: th.nn.Module) -> np.ndarray:
    return np.concatenate([p.detach().numpy().ravel() for p in module.parameters()])


def logged(model: FDCC, name: str) -> float:
    return float(model.logger.name_to_value[name])


def test_a_step_takes_its_targets_from_the_target_networks() -> None:
    model = learner(batch_size=30, target_policy_noise=0.7, target_noise_clip=0.4)
    with th.no_grad():  # the target networks differ from the trained ones
        for parameter in (*model.actor_target.parameters(), *model.critic_target.parameters()):
            parameter.add_(0.3)
    set_random_seed(5)
    data = model.replay_buffer.sample(30)
    noise = (th.randn(30, 1) * 0.7).clamp(-0.4, 0.4)
    with th.no_grad():
        following: Any = data.next_observations
        actions = (model.actor_target(following) + noise).clamp(-1, 1)
        one, two = model.critic_target(following, actions).split(1, dim=1)
        target_values = data.rewards + (1 - data.dones) * data.discounts * th.minimum(one, two)
        values = model.critic(data.observations, data.actions).split(1, dim=1)
        expected = sum(((value - target_values) ** 2).mean() for value in values)
    set_random_seed(5)
    model.train(1, 30)
    assert logged(model, "train/critic_loss") == pytest.approx(float(expected), rel=1e-5)


def test_actor_and_targets_move_with_every_second_step_only() -> None:
    model = learner(policy_delay=2, tau=0.25)
    slow = (model.actor, model.actor_target, model.critic_target)
    before, critic = [parameters(x) for x in slow], parameters(model.critic)
    model.train(1, 20)
    assert all((parameters(x) == was).all() for x, was in zip(slow, before, strict=True))
    assert not (parameters(model.critic) == critic).all()
    model.train(1, 20)
    assert not any((parameters(x) == was).all() for x, was in zip(slow, before, strict=True))
    # A quarter of the distance to the trained networks (Polyak).
    for target, follows, was in (
        (model.actor_target, model.actor, before[1]),
        (model.critic_target, model.critic, before[2]),
    ):
        np.testing.assert_allclose(parameters(target), 0.75 * was + 0.25 * parameters(follows), atol=1e-6)


def test_the_actor_climbs_what_the_first_critic_says() -> None:
    model = learner(policy_delay=1, saturation_penalty=0.0)
    with th.no_grad():  # far enough out that tanh bends
        model.actor.stack.biases[-1].add_(1.0)
    set_random_seed(3)
    history: Any = model.replay_buffer.sample(20).observations
    actor = copy.deepcopy(model.actor)
    set_random_seed(3)
    model.train(1, 20)
    # The actor as it was, judged by the critic as it is now.
    before = model.critic.climbed(history, th.tanh(actor.raw(history))).mean().item()
    assert logged(model, "train/actor_loss") == pytest.approx(-before, rel=1e-5)
    assert model.critic.climbed(history, model.actor(history)).mean().item() > before


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_the_penalty_pulls_the_actors_output_back_and_nothing_else_does(
    penalty: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the critic does not depend on actions, only the penalty moves the actor."""
    model = learner(policy_delay=1, saturation_penalty=penalty, learning_rate=0.01)
    monkeypatch.setattr(model.critic, "climbed", lambda history, actions: 0 * actions)
    buffer = model.replay_buffer
    history = History(th.as_tensor(buffer.windows[:20]), th.as_tensor(buffer.lengths[:20]))
    before, actor = td3.saturation(model.actor.raw(history)).item(), parameters(model.actor)
    model.train(5, 40)
    after = td3.saturation(model.actor.raw(history)).item()
    if penalty:
        assert after < before
    else:
        assert (parameters(model.actor) == actor).all()


def test_what_is_stored_is_compressed_and_what_is_logged_is_not() -> None:
    returns: dict[bool, list[float]] = {}
    for compress in (False, True):
        model = learner(n_step_return=1, compress_rewards=compress)
        buffer = model.replay_buffer
        n = buffer.size()
        raw = -np.abs(buffer.actions[:n] - 0.5)
        np.testing.assert_allclose(
            buffer.rewards[:n], -np.log1p(-raw) if compress else raw, rtol=1e-5, atol=1e-7
        )
        assert model.ep_info_buffer is not None
        returns[compress] = [episode["r"] for episode in model.ep_info_buffer]
    assert returns[False] == returns[True]


def test_rewards_are_learned_from_less_their_centre_and_logged_as_they_are() -> None:
    plain, centred = (learner(n_step_return=1, reward_center=center) for center in (0.0, 0.4))
    n = plain.replay_buffer.size()
    np.testing.assert_allclose(
        centred.replay_buffer.rewards[:n], plain.replay_buffer.rewards[:n] - 0.4, rtol=1e-5, atol=1e-6
    )
    assert plain.ep_info_buffer is not None
    assert centred.ep_info_buffer is not None
    assert [e["r"] for e in centred.ep_info_buffer] == [e["r"] for e in plain.ep_info_buffer]


def test_the_actor_decides_alone_once_learning_has_started() -> None:
    quiet = {"random_share": 0.0, "action_noise": 0.0}
    model = learner(learning_starts=20, **quiet)
    buffer = model.replay_buffer
    n = buffer.size()
    decided = model.policy.act_on(buffer.windows[:n], buffer.lengths[:n])
    matches = np.isclose(decided, buffer.actions[:n], atol=1e-6)[:, 0]
    assert not matches[:10].any()
    assert matches[-10:].all()


def test_a_step_down_a_loss_follows_that_loss_alone() -> None:
    moved, other = (th.nn.Parameter(th.tensor(1.0)) for _ in range(2))
    optimiser = th.optim.SGD([moved], lr=0.25)
    for _ in range(2):
        descend(optimiser, moved**2 + other**2)
    assert moved.item() == 0.25  # halved twice: no gradient of the first step is in the second
    assert other.grad is None


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

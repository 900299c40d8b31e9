# SPDX-License-Identifier: GPL-2.0-or-later
"""FDCC's networks: the histories that they read, compressed inputs, twin critics, and targets."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch as th
from gymnasium import spaces
from stable_baselines3.common.vec_env import DummyVecEnv

from ns3_env.agents.fdcc import FDCC, FdccConfig
from ns3_env.agents.fdcc.exploration import StepStream
from ns3_env.agents.fdcc.networks import RecurrentCritics, RecurrentStack
from ns3_env.agents.fdcc.replay import History, SlotHistories
from ns3_env.errors import ConfigError
from tests.agents.fdcc.fake_vec_env import FakeRdmaVecEnv


def history_of(*lengths: int) -> History:
    generator = th.Generator().manual_seed(0)
    return History(th.randn(len(lengths), 4, 3, generator=generator) * 5, th.tensor(lengths))


class Alone(th.nn.Module):
    """One member of a stack, built from PyTorch's own layers, computed one row at a time."""

    def __init__(self, stack: RecurrentStack, member: int) -> None:
        super().__init__()
        lstm = stack.lstms[member]
        assert isinstance(lstm, th.nn.LSTM)
        self.lstm = th.nn.LSTM(lstm.input_size, lstm.hidden_size, batch_first=True)
        self.lstm.load_state_dict(lstm.state_dict())
        self.layers = th.nn.ModuleList()
        for weight, bias in zip(stack.weights, stack.biases, strict=True):
            self.layers.append(th.nn.Linear(weight.shape[2], weight.shape[1]))
            self.layers[-1].load_state_dict({"weight": weight[member], "bias": bias[member, 0]})

    def forward(self, history: History, extra: th.Tensor) -> th.Tensor:
        """(B, O)."""
        rows = []
        for window, length, beside in zip(history.windows, history.lengths.tolist(), extra, strict=True):
            window = th.copysign(window.abs().log1p(), window)
            remembered = self.lstm(window[None, :length])[0][0, -1]
            shortcut, *layers = self.layers
            features = th.cat([remembered, shortcut(th.cat([window[length - 1], beside])).relu()])
            for layer in layers[:-1]:
                features = layer(features).relu()
            rows.append(layers[-1](features))
        return th.stack(rows)


def critics_of(net_arch: list[int]) -> RecurrentCritics:
    box = spaces.Box(-1.0, 1.0, (1,), np.float32)
    th.manual_seed(1)
    return RecurrentCritics(box, box, 3, 5, 4, net_arch, n_critics=2)


@pytest.mark.parametrize("net_arch", [[], [6], [6, 3]])
def test_stacked_critics_are_two_networks_of_pytorchs_in_value_and_gradient(net_arch: list[int]) -> None:
    critics = critics_of(net_arch)
    history, actions = history_of(*[1, 3, 4, 2, 1] * 8), th.linspace(-1, 1, 40)[:, None]
    values = critics(history, actions)
    assert values.shape == (40, 2)
    expected = th.linspace(-2, 1, 40)[:, None]
    (values - expected).square().sum().backward()
    for member in (0, 1):
        alone = Alone(critics.stack, member)
        value = alone(history, actions)
        assert th.allclose(values[:, member : member + 1], value, atol=1e-6)
        (value - expected).square().sum().backward()
        stacked = critics.stack.lstms[member].parameters()
        for one, other in zip(stacked, alone.lstm.parameters(), strict=True):
            assert one.grad is not None
            assert other.grad is not None
            assert th.allclose(one.grad, other.grad, atol=1e-4)
        for layer, weight, bias in zip(
            alone.layers, critics.stack.weights, critics.stack.biases, strict=True
        ):
            assert isinstance(layer, th.nn.Linear)
            assert layer.weight.grad is not None
            assert layer.bias.grad is not None
            assert th.allclose(weight.grad[member], layer.weight.grad, atol=1e-4)
            assert th.allclose(bias.grad[member, 0], layer.bias.grad, atol=1e-4)


def test_what_is_climbed_is_the_first_critic_and_moves_actions_alone() -> None:
    critics = critics_of([6])
    history, actions = history_of(1, 3, 4), th.tensor([[0.1], [0.2], [0.3]], requires_grad=True)
    whole = th.autograd.grad(critics(history, actions)[:, 0].sum(), actions)[0]
    climbed = critics.climbed(history, actions)
    assert th.allclose(climbed[:, 0], critics(history, actions)[:, 0])
    assert th.allclose(th.autograd.grad(climbed.sum(), actions)[0], whole)
    critics.climbed(history, actions).sum().backward()
    assert all(parameter.grad is None for parameter in critics.parameters())


def test_inputs_of_another_width_are_an_error() -> None:
    critics = critics_of([6])
    with pytest.raises(ValueError, match="arrays of the network's shapes"):
        critics(history_of(1, 3), th.zeros(2, 4))


def test_another_device_than_the_cpu_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"device: FDCC's networks run on the CPU \('cpu'\), not on cuda"):
        FDCC("LstmPolicy", FakeRdmaVecEnv(1), device="cuda")


def test_a_history_s_value_does_not_depend_on_the_rest_of_the_batch() -> None:
    critics = critics_of([6])
    history, actions = history_of(*[1, 3, 4, 2, 1] * 8), th.linspace(-1, 1, 40)[:, None]
    with th.no_grad():
        whole = critics(history, actions)
        part = critics(History(history.windows[33:37], history.lengths[33:37]), actions[33:37])
    assert th.equal(whole[33:37], part)


def test_a_policy_that_is_asked_reads_the_histories_that_training_reads() -> None:
    model = FDCC("LstmPolicy", FakeRdmaVecEnv(1), FdccConfig(hidden=8), seed=2)
    policy, slot = model.policy, np.array([0])
    histories = SlotHistories(1, policy.history_length, 3, 1, with_last_action=True)
    state = None
    for row in np.random.default_rng(0).normal(size=(12, 1, 3)).astype(np.float32):
        histories.observe(slot, row)
        trained = policy.act_on(histories.windows, histories.lengths)
        histories.last_actions[slot] = trained
        action, state = model.predict(row, state)
        np.testing.assert_allclose(action, trained, atol=1e-7)


class Counter(gym.Env[Any, Any]):
    """Observes the number of steps; ends after a fixed number, by termination or truncation."""

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
    batch = stream.recv()
    assert batch.first.tolist() == [True, True]
    assert not (batch.terminated | batch.truncated).any()
    for reward in (0.5, 0.25):
        stream.send(np.array([[-1.0], [reward]]), np.array([1, 0]))
        rows = stream.recv()
    assert rows.slots.tolist() == [0, 1, 0]
    assert rows.observations[:, 0].tolist() == [2.0, 2.0, 0.0]  # the final one, and the next episode's first
    assert rows.rewards.tolist() == [0.25, -1.0, 0.0]
    assert rows.first.tolist() == [False, False, True]
    assert rows.terminated.tolist() == [not cut, False, False]
    assert rows.truncated.tolist() == [cut, False, False]

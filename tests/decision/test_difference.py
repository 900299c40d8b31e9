# SPDX-License-Identifier: GPL-2.0-or-later
"""Difference rewards: what actions spare all flows, worked out in branches while a stream is played."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.agents.fdcc import FDCC, FdccConfig
from ns3_env.decision.credit import Credits
from ns3_env.decision.observations import column
from ns3_env.decision.rewards import Difference
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.envs.sb3_vec_env import FlowVecEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario, Synchronous
from ns3_env.simulator import DecisionBatch, Simulator
from ns3_env.simulator.results import charged_slowdowns

#: Starts differ, so that flows decide one at a time.
KEYS: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 150_000, "spread_ns": 30_000},
    "controllers": [{"name": "agent"}],
}
SCENARIO = Scenario.from_mapping(KEYS, "credited")


def played(
    reward: Difference, spread: float = 1.0, simulators: int = 1, episodes: int = 1
) -> tuple[list[list[float]], list[NDArray[np.float64]], int]:
    """Rewards of each episode in their order, slowdowns of its flows, and branches of all, under actions that
    hang on what is observed alone."""
    under_way: list[list[float]] = [[] for _ in range(simulators)]
    rewards: dict[int, list[float]] = {}
    slowdowns: dict[int, NDArray[np.float64]] = {}
    with FlowStream(SCENARIO, slots=3, num_simulators=simulators, reward=reward, seed=5) as stream:
        stream.start()
        while not all(episode in rewards for episode in range(episodes)):
            batch = stream.recv(wait_all=True)
            over = dict(batch.results)
            for i in range(simulators):
                rows = ~batch.first & (batch.simulators == i)
                under_way[i] += batch.rewards[rows].tolist()
                if i in over:  # nothing but its last rows came with it
                    rewards[over[i]["episode"]], under_way[i] = under_way[i], []
                    slowdowns[over[i]["episode"]] = charged_slowdowns(over[i])
            due = batch.due
            actions = spread * np.sin(7.0 * batch.observations[due, :1])
            stream.send(actions, batch.slots[due])
        assert stream._credits is not None
        branches = stream._credits.branches
    each = range(episodes)
    return [rewards[episode] for episode in each], [slowdowns[episode] for episode in each], branches


def kept() -> float:
    """Sum of the slowdowns where first windows are kept to the end."""
    return float(played(Difference(), spread=0.0)[1][0].sum())


def test_rewards_to_the_end_add_up_to_what_actions_spared() -> None:
    rewards, slowdowns, branches = played(Difference(horizon_rtts=None))
    total = sum(rewards[0])
    assert total == pytest.approx(kept() - slowdowns[0].sum(), rel=1e-9)
    assert abs(total) > 0.05
    assert branches > 20


def test_an_action_that_keeps_the_window_is_worth_nothing_and_costs_no_branch() -> None:
    credits = Credits(Difference())
    with Simulator() as simulator:
        simulator.send_reset(SCENARIO)
        message = simulator.receive()
        assert isinstance(message, DecisionBatch)
        commands = [column(message.records, name) for name in ("window_bytes", "rate_bps", "last_action")]
        worth = credits.of(simulator, message.records, message.slots, np.column_stack(commands), seed=1)
    assert worth.tolist() == [0.0]
    assert credits.branches == 0


def test_a_share_of_decisions_has_the_same_rewards_over_the_share() -> None:
    whole, _, many = played(Difference(), episodes=3)
    some, _, few = played(Difference(share=0.4), episodes=3)
    worth = [(a, b) for x, y in zip(whole, some, strict=True) for a, b in zip(x, y, strict=True) if a != 0]
    sample = [(a, b) for a, b in worth if b != 0]
    assert 0.2 < len(sample) / len(worth) < 0.6
    assert [b for _, b in sample] == pytest.approx([a / 0.4 for a, _ in sample])
    assert few < 0.6 * many


def test_a_horizon_sees_less_than_the_end() -> None:
    near, far, end = (played(Difference(horizon_rtts=h))[0] for h in (2.0, 1e5, None))
    assert far == end != near


def test_rewards_hang_on_no_other_simulator() -> None:
    reward = Difference(horizon_rtts=5.0, share=0.5)
    alone, two = (played(reward, simulators=n, episodes=3)[0] for n in (1, 2))
    assert alone == two


def test_other_environments_refuse_it_and_say_what_to_take() -> None:
    words = "reward: Difference branches the simulation at decisions, which only FlowStream.*'team_slowdown'"
    with pytest.raises(ScenarioError, match=words):
        FlowEnv(SCENARIO, reward="difference")
    with pytest.raises(ScenarioError, match=words):
        FlowParallelEnv(SCENARIO.model_copy(update={"clock": Synchronous()}), reward="difference")
    with pytest.raises(ScenarioError, match=words), Rollouts(SCENARIO, reward="difference") as rollouts:
        rollouts.begin(b"")


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"share": 0.0}, "share: must be above 0"), ({"horizon_rtts": -1.0}, "horizon_rtts: must be above 0")],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Difference(**settings)


def test_fdcc_learns_from_it() -> None:
    env = FlowVecEnv(SCENARIO, slots=3, reward=Difference(horizon_rtts=5.0))
    config = FdccConfig(learning_starts=20, train_freq=16, gradient_steps=1, history_length=1, hidden=4)
    model = FDCC("LstmPolicy", env, config, fields=env.fields, seed=1)
    model.learn(120)
    stored = model.replay_buffer.rewards[: model.replay_buffer.size()]
    assert np.isfinite(stored).all()
    assert np.abs(stored).max() > 0.01
    env.close()

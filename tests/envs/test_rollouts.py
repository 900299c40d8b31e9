# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollouts inside the simulator against the decisions of the same policy across the channel."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gymnasium import spaces

from ns3_env.agents.fdcc.replay import HistoryReplayBuffer
from ns3_env.decision import observations
from ns3_env.decision.task import Task
from ns3_env.envs.rollouts import Exploration, Rollout, Rollouts
from ns3_env.errors import ScenarioError, SimulatorDied
from ns3_env.policies.file import PolicyFile, read_policy, write_policy
from ns3_env.policies.history import histories_of
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.released import released
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic import Incast
from tests.samples.episodes import ENDS, played, same
from tests.samples.policy_files import FIELDS, lstm_file, mlp_file

CUT = ENDS.model_copy(update={"time_limit_ns": 30_000})


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return mlp_file(tmp_path / "policy.safetensors")


@pytest.fixture
def rollouts(policy: Path) -> Iterator[tuple[Rollouts, Path]]:
    with Rollouts(ENDS, num_simulators=2, fields=FIELDS) as pool:
        yield pool, policy


def test_actions_are_the_networks_answers_where_the_last_action_shows_another_number() -> None:
    """Under the recursion of Zhang 2023, sec. 4.2, the field "last_action" is the factor that an answer
    scales: who learns from it in the answer's place learns nothing."""
    file = released("fdcc-zhang2023")
    spec = read_policy(file).spec
    task = Task(spec.fields, action=spec.action_map, telemetry_bytes=spec.telemetry_bytes)
    with Rollouts(ENDS, task=task) as rollouts:
        rollouts.begin(file)
        rollout = rollouts.next()
    histories = histories_of(rollout.observations, rollout.age, spec.history)
    answers = NetworkPolicy.load(file).act(*histories)[rollout.decided, 0]
    assert rollout.actions[rollout.decided] == pytest.approx(answers, abs=1e-5)
    applied = spec.action_map(rollout.actions[:, None], rollout.records)[rollout.decided]
    assert rollout.windows[rollout.decided, 0] == pytest.approx(applied[:, 0], rel=1e-5)
    factors = observations.column(rollout.records, "last_action")[1:][rollout.decided[:-1]]
    assert np.abs(factors - answers).max() > 0.5


def test_the_same_seed_gives_the_same_transitions_however_many_simulators(tmp_path: Path) -> None:
    policy = lstm_file(tmp_path / "policy.safetensors")
    exploration = Exploration(noise=0.1, random_share=0.3)
    one, two, four = (played(policy, ENDS, 6, n, exploration=exploration, seed=5) for n in (1, 2, 4))
    assert all(same(a, b) and same(a, c) for a, b, c in zip(one, two, four, strict=True))
    assert [rollout.episode for rollout in one] == list(range(6))
    other = played(policy, ENDS, 1, exploration=exploration, seed=6)[0]
    assert not same(one[0], other)


def test_scenarios_are_drawn_in_order_when_episodes_are_asked_for(policy: Path) -> None:
    episodes: list[int] = []

    def sampler(episode: int) -> Scenario:
        episodes.append(episode)
        return ENDS

    with Rollouts(sampler, fields=FIELDS) as rollouts:
        for _ in range(3):
            rollouts.begin(policy)
        assert episodes == [0, 1, 2]
        rollouts.next()
        rollouts.begin(policy)
        assert episodes == [0, 1, 2, 3]


def test_exploration_is_as_strong_as_it_is_asked_to_be(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors", zero=True)  # does nothing by itself
    long = CUT.model_copy(update={"time_limit_ns": 600_000, "traffic": Incast(size_bytes=50_000_000)})
    noisy = played(policy, long, 4, exploration=Exploration(noise=0.2))
    actions = np.concatenate([rollout.actions[rollout.decided] for rollout in noisy])
    assert len(actions) > 300
    assert np.mean(actions) == pytest.approx(0.0, abs=0.05)
    assert np.std(actions) == pytest.approx(0.2, rel=0.15)
    at_random = played(policy, long, 4, exploration=Exploration(random_share=1.0))
    actions = np.concatenate([rollout.actions[rollout.decided] for rollout in at_random])
    assert np.std(actions) == pytest.approx(1 / np.sqrt(3), rel=0.25)
    hold_share = np.mean(actions[1:] == actions[:-1])
    assert hold_share == pytest.approx(1 - 1 / 4, abs=0.08)
    quiet = played(policy, long, 1)[0]
    assert not quiet.actions.any()


def test_a_flow_begins_without_a_reward_and_ends_without_an_action(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors", zero=True)  # the window stays: all are done in time
    for scenario, kind in ((ENDS, "terminated"), (CUT, "truncated")):
        rollout = played(policy, scenario, 1)[0]
        assert list(rollout.flows) == sorted(rollout.flows)
        assert set(rollout.flows) == {0, 1, 2}
        assert not rollout.rewards[rollout.first].any()
        lasts = np.append(np.flatnonzero(rollout.first)[1:], len(rollout.flows)) - 1
        assert list(np.flatnonzero(getattr(rollout, kind))) == list(lasts)
        assert not rollout.actions[~rollout.decided].any()
        times = observations.column(rollout.records, "time_ns")
        assert all(np.diff(times)[~rollout.first[1:]] > 0)


def test_rows_beyond_what_a_channel_holds_come_all_the_same(tmp_path: Path) -> None:
    policy = lstm_file(tmp_path / "policy.safetensors")
    assert same(played(policy, ENDS, 1, capacity=8)[0], played(policy, ENDS, 1)[0])


def test_noise_is_added_to_what_the_network_answers_and_the_sum_is_cut(tmp_path: Path) -> None:
    """A Gaussian policy whose mean is beyond a bound acts nearly always at the bound."""
    zero = read_policy(mlp_file(tmp_path / "zero.safetensors", zero=True))
    network = zero.spec.network.model_copy(update={"output_activation": "none"})
    tensors = {**zero.tensors, "layers.1.bias": np.array([3.0], dtype=np.float32)}
    spec = zero.spec.model_copy(update={"network": network})
    write_policy(tmp_path / "policy.safetensors", PolicyFile(spec, tensors))
    rollout = played(tmp_path / "policy.safetensors", ENDS, 1, exploration=Exploration(noise=2.0))[0]
    actions = rollout.actions[rollout.decided]
    assert 0.65 < np.mean(actions == 1.0) < 1.0  # one standard deviation above: 0.84


def test_the_buffer_learns_the_same_from_a_rollout_as_from_decisions_one_by_one(policy: Path) -> None:
    for scenario in (ENDS, CUT):
        rollout = played(policy, scenario, 1, exploration=Exploration(noise=0.3))[0]
        whole, single = (buffer() for _ in range(2))
        whole.add_rollout(rollout, rollout.rewards.astype(np.float32))
        one_by_one(single, rollout)
        assert whole.size() == single.size() == rollout.decisions
        for name in ("windows", "lengths", "next_windows", "next_lengths", "actions", "dones"):
            assert np.array_equal(getattr(whole, name), getattr(single, name)), name
        for name in ("rewards", "discounts"):
            assert np.allclose(getattr(whole, name), getattr(single, name), rtol=1e-5), name


def test_a_ring_that_is_too_small_keeps_the_latest(policy: Path) -> None:
    rollout = played(policy, ENDS, 1)[0]
    small, large = buffer(7), buffer(1000)
    for ring in (small, large):
        for _ in range(2):
            ring.add_rollout(rollout, rollout.rewards.astype(np.float32))
    assert small.full
    assert small.size() == 7
    total = 2 * rollout.decisions
    order = (np.arange(7) + small.pos) % 7
    assert np.array_equal(small.actions[order], large.actions[total - 7 : total])


def buffer(size: int = 1000) -> HistoryReplayBuffer:
    box = observations.observation_space(FIELDS)
    action = spaces.Box(-1.0, 1.0, (1,), np.float32)
    return HistoryReplayBuffer(
        size, box, action, n_envs=1, history_length=4, n_steps=3, gamma=0.9, append_last_action=True
    )


def one_by_one(ring: HistoryReplayBuffer, rollout: Rollout) -> None:
    slot, rewards = np.zeros(1, dtype=np.int64), rollout.rewards.astype(np.float32)
    ends = (rollout.elapsed, rollout.final, ~rollout.decided)
    for row in range(len(rollout.flows)):
        here = slice(row, row + 1)
        if rollout.first[row]:
            ring.begin(slot, rollout.observations[here])
        else:
            ring.outcome(slot, rewards[here], rollout.observations[here], *(end[here] for end in ends))
        if rollout.decided[row]:
            ring.act(slot, rollout.actions[here, None])


def test_a_killed_simulator_is_an_exception_and_the_next_episodes_follow(
    rollouts: tuple[Rollouts, Path],
) -> None:
    pool, policy = rollouts
    pool.begin(policy)
    pid = pool._simulators[0].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(SimulatorDied):
        pool.next()
    number = pool.begin(policy)
    assert pool.next().episode == number


def test_a_bad_file_is_named_and_what_nobody_asked_for_is_an_error(rollouts: tuple[Rollouts, Path]) -> None:
    pool, policy = rollouts
    with pytest.raises(RuntimeError, match="begin"):
        pool.next()
    pool.begin(policy.read_bytes()[:50])
    with pytest.raises(ScenarioError, match="no safetensors file"):
        pool.next()
    pool.begin(policy)
    assert pool.next().decisions > 0

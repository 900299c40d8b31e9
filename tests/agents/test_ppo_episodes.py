# SPDX-License-Identifier: GPL-2.0-or-later
"""Advantages of PPO's episodes: several plays of the same flows, and episodes that count the same."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.sb3.episode_buffer import equal_shares, of_other_plays, standardised
from ns3_env.agents.training.rollout_env import RolloutEnv
from ns3_env.decision.observations import INDEX
from ns3_env.decision.task import Task
from ns3_env.envs.rollouts import Exploration, Rollout
from tests.samples.episodes import ENDS, played, same
from tests.samples.policy_files import mlp_file


@pytest.fixture(scope="module")
def rollout(tmp_path_factory: pytest.TempPathFactory) -> Rollout:
    """An episode, of which tests replace what they look at."""
    return played(mlp_file(tmp_path_factory.mktemp("policy") / "policy.safetensors"), ENDS, 1)[0]


def of_flows(rollout: Rollout, seed: int, flows: dict[int, list[float]]) -> Rollout:
    """A rollout with rows at these times since each flow's start."""
    lengths = [len(times) for times in flows.values()]
    records = np.zeros((sum(lengths), rollout.records.shape[1]))
    starts = np.repeat([1000.0 * flow for flow in flows], lengths)
    records[:, INDEX["time_ns"]] = starts + np.concatenate(list(flows.values()))
    first = np.zeros(len(records), dtype=np.bool_)
    first[np.cumsum([0, *lengths[:-1]])] = True
    ended = np.roll(first, -1)
    numbers = np.repeat(list(flows), lengths)
    rows = {"flows": numbers, "first": first, "terminated": ended, "truncated": np.zeros_like(ended)}
    return replace(rollout, seed=seed, records=records, **rows)


def test_a_baseline_is_what_other_plays_of_the_flow_had_at_the_same_time(rollout: Rollout) -> None:
    plays = [
        of_flows(rollout, 1, {0: [0.0, 10.0, 20.0], 4: [0.0, 5.0]}),
        of_flows(rollout, 1, {0: [0.0, 20.0, 30.0], 4: [0.0, 2.0]}),
        of_flows(rollout, 2, {0: [0.0, 10.0]}),  # other flows: nothing to compare with
    ]
    advantages = np.array([8.0, 4.0, 0.0, 1.0, 0.0, 6.0, 2.0, 0.0, 3.0, 0.0, 9.0, 0.0])
    baselines = of_other_plays(plays, advantages)
    assert baselines[:3].tolist() == [6.0, 4.0, 2.0]  # halfway from 6 to 2 is 4
    assert baselines[3:5].tolist() == [3.0, 0.0]  # that play's flow was over at 2
    assert baselines[5:8].tolist() == [8.0, 0.0, 0.0]
    assert not baselines[10:].any()


def test_a_baseline_does_not_depend_on_the_play_s_own_advantages(rollout: Rollout) -> None:
    plays = [of_flows(rollout, 1, {0: [0.0, 10.0]}), of_flows(rollout, 1, {0: [0.0, 10.0]})]
    some, others = np.array([1.0, 0.0, 5.0, 0.0]), np.array([-70.0, 0.0, 5.0, 0.0])
    assert of_other_plays(plays, some)[0] == of_other_plays(plays, others)[0] == 5.0


def test_advantages_of_each_episode_weigh_the_same(rollout: Rollout) -> None:
    random = np.random.default_rng(3)
    parts: list[NDArray[np.float64]] = [random.normal(5.0, 0.1, 40), random.normal(-300.0, 80.0, 900)]
    episodes = [of_flows(rollout, seed, {0: [*map(float, range(n + 1))]}) for seed, n in ((1, 40), (2, 900))]
    both = standardised(np.concatenate(parts), episodes)
    for part in (both[:40], both[40:]):
        assert (part.mean(), part.std()) == pytest.approx((0.0, 1.0), abs=1e-6)
    together = standardised(np.concatenate(parts), [replace(episode, seed=1) for episode in episodes])
    assert together[:40].mean() > together[40:].mean() + 1  # the better of two plays stays the better one


def test_an_update_has_as_many_rows_of_a_short_episode_as_of_a_long_one() -> None:
    rows = equal_shares([100, 0, 9000], seed=1)
    assert np.count_nonzero(rows < 100) == np.count_nonzero(rows >= 100)
    assert set(rows[rows < 100]) == set(range(100))
    assert len(set(rows[rows >= 100])) == np.count_nonzero(rows >= 100)
    assert rows.max() < 9100


def test_an_update_has_all_plays_of_its_flows(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors").read_bytes()
    config = EnvConfig(fields=["rtt"], placement="simulator", plays=3, prefetch=2)
    env = RolloutEnv(config, lambda _: ENDS, Task(["rtt"]), seed=1, simulators=2)
    with closing(env):
        for expected in (range(3), range(3, 6)):
            plays = list(env.batch(lambda: policy, Exploration(), decisions=1))
            assert [play.episode for play in plays] == list(expected)
            assert len({play.seed for play in plays}) == 1
        env.go_on_with([7])  # a run that was stopped amid plays begins with others
        assert [play.episode for play in env.batch(lambda: policy, Exploration(), 1)] == [9, 10, 11]


def test_plays_have_the_same_flows_and_explore_differently(tmp_path: Path) -> None:
    policy, noise = mlp_file(tmp_path / "policy.safetensors"), Exploration(noise=0.3)
    alone = played(policy, ENDS, 2, exploration=noise)
    plays = played(policy, ENDS, 4, exploration=noise, plays=2)
    assert [play.seed for play in plays] == [alone[0].seed] * 2 + [alone[1].seed] * 2
    assert np.array_equal(plays[0].actions, alone[0].actions)
    assert np.array_equal(plays[2].actions, alone[1].actions)
    assert not same(*plays[:2])
    quiet = played(policy, ENDS, 2, plays=2)
    assert same(*quiet)

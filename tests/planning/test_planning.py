# SPDX-License-Identifier: GPL-2.0-or-later
"""Planning with branches: exact futures, never worse than the base policy, credit that adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.baselines.hpcc import INCREASE, HpccOncePerRtt
from ns3_env.planning.branched_play import BranchedPlay
from ns3_env.planning.counterfactual import differences
from ns3_env.planning.rollout import plan
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario
from tests.paths import ROOT

KEYS: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 150_000, "spread_ns": 5_000},
    "controllers": [{"name": "agent"}],
}


@pytest.fixture
def scenario() -> Scenario:
    return Scenario.from_mapping(KEYS, "planned").with_seed(2)


@pytest.fixture(params=["law", "recurrent"])
def policy(request: pytest.FixtureRequest) -> Policy:
    if request.param == "law":
        return HpccOncePerRtt()
    return NetworkPolicy.load(ROOT / "checkpoints" / "fdcc" / "policy.safetensors")


def test_a_branched_play_is_the_same_episode_with_the_policys_memory(
    scenario: Scenario, policy: Policy
) -> None:
    with BranchedPlay(scenario, policy) as play:
        for _ in range(7):
            play.step()
        with play.branch() as future:
            found = future.play_on()
        assert play.play_on() == found
        assert play.results == future.results


def test_the_planner_finds_what_it_foresaw_and_is_no_worse_than_its_base(
    scenario: Scenario, policy: Policy
) -> None:
    foreseen = []
    with BranchedPlay(scenario, policy) as alone:
        base = alone.play_on()
    made = plan(scenario, policy, every=2, told=lambda best, decisions, branches: foreseen.append(best))
    assert made.base == base
    assert foreseen == sorted(foreseen, reverse=True)
    assert made.planned == foreseen[-1] < base
    assert 0 < made.changed < made.decisions
    assert made.branches == 2 * len(foreseen)


def test_a_planner_without_other_actions_is_its_base(scenario: Scenario) -> None:
    made = plan(scenario, HpccOncePerRtt(), factors=())
    assert made.planned == made.base
    assert made.branches == 0


def test_credits_are_of_the_share_of_decisions_that_is_asked_for(scenario: Scenario) -> None:
    credits = [one.reward for one in differences(scenario, HpccOncePerRtt())]
    assert len(credits) > 10
    assert any(abs(credit) > 1e-3 for credit in credits)
    some = list(differences(scenario, HpccOncePerRtt(), share=0.5, seed=4))
    assert 0 < len(some) < len(credits)
    assert some == list(differences(scenario, HpccOncePerRtt(), share=0.5, seed=4))


def test_the_difference_is_that_of_two_whole_episodes(scenario: Scenario) -> None:
    """Replayed by hand: the first decision of all, taken and not."""
    first = next(differences(scenario, HpccOncePerRtt()))
    ends = []
    for keep in (frozenset(), frozenset({first.flow})):
        with BranchedPlay(scenario, HpccOncePerRtt()) as play:
            assert play.waiting is not None
            assert play.waiting.time_ns == first.time_ns
            play.step(keep=keep)
            play.play_on()
            ends.append(play.slowdowns)
    change = ends[0] - ends[1]
    assert first.own == change[first.flow]
    assert first.reward == pytest.approx(-change.sum())


def test_hpccs_law_divides_by_the_utilisation_and_climbs_below_it() -> None:
    law = HpccOncePerRtt()
    rows = np.array([[0.95, 0.95, 50_000, 100_000], [0.0, 0.5, 50_000, 100_000]])
    windows, state = law.predict(rows)
    assert windows[:, 0] == pytest.approx([25_000 + INCREASE * 1e5, 50_000 + INCREASE * 1e5])
    assert state is not None
    assert state[0].tolist() == [0, 1]
    for _ in range(5):
        windows, state = law.predict(rows, state)
    assert windows[1, 0] == pytest.approx(50_000 * 0.95 / 0.5 + INCREASE * 1e5)  # after five steps

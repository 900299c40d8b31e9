# SPDX-License-Identifier: GPL-2.0-or-later
"""Planning with branches: exact futures, never worse than the base policy, credit that adds up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.agents.baselines.hpcc import INCREASE, HpccOncePerRtt
from ns3_env.agents.planning.branched_play import BranchedPlay
from ns3_env.agents.planning.counterfactual import differences
from ns3_env.agents.planning.planner import Planner
from ns3_env.agents.planning.rollout import plan
from ns3_env.decision.observations import column
from ns3_env.errors import ScenarioError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Simulator
from tests.paths import ROOT

KEYS: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3},
    "traffic": {"kind": "incast", "size_bytes": 150_000, "spread_ns": 5_000},
    "controllers": [{"name": "agent"}],
}

ONE_BDP = Controller(name="fixed-window", attributes={"WindowBdp": 1.0})


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
            cost = future.play_on()
        assert play.play_on() == cost
        assert play.results == future.results


def test_the_planner_finds_what_it_foresaw_and_is_no_worse_than_its_base(
    scenario: Scenario, policy: Policy
) -> None:
    foreseen = []
    with BranchedPlay(scenario, policy) as alone:
        base = alone.play_on()
    outcome = plan(scenario, policy, every=2, progress=lambda progress: foreseen.append(progress.foreseen))
    assert outcome.base == base
    assert foreseen == sorted(foreseen, reverse=True)
    assert outcome.planned == foreseen[-1] < base
    assert 0 < outcome.changed < outcome.decisions
    assert outcome.branches == 2 * len(foreseen)


def test_a_planner_without_other_actions_is_its_base(scenario: Scenario) -> None:
    outcome = plan(scenario, HpccOncePerRtt(), factors=())
    assert outcome.planned == outcome.base
    assert outcome.branches == 0


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


@pytest.mark.parametrize("name", ["dispatcher", "fdcc"])
def test_a_policys_file_that_is_left_alone_plays_its_own_episode(scenario: Scenario, name: str) -> None:
    """With the file's telemetry, and its say on which flows decide at all."""
    path = ROOT / "checkpoints" / name / "policy.safetensors"
    with Simulator() as simulator:
        alone = simulator.play(scenario.playing(path))
    with BranchedPlay(scenario, NetworkPolicy.load(path)) as play:
        play.play_on()
    assert play.results["flows"] == alone["flows"]


@pytest.mark.parametrize("name", ["hpcc", "mpcc", "dcqcn", "timely"])
def test_a_controller_that_is_left_alone_plays_its_own_episode(scenario: Scenario, name: str) -> None:
    with Simulator() as simulator:
        alone = simulator.play(scenario.under(name))
    with BranchedPlay(scenario, Controller(name=name)) as play:
        for _ in range(6):
            play.step()
        foreseen = play.future()
        play.play_on()
    assert play.results["flows"] == alone["flows"]
    assert play.slowdowns.tolist() == foreseen.tolist()


def test_a_controllers_attributes_are_its_own_under_the_planner(scenario: Scenario) -> None:
    base = Controller(name="hpcc", attributes={"Eta": 0.5, "FastReact": False})
    with Simulator() as simulator:
        alone = simulator.play(scenario.under(base.name, base.attributes))
    with BranchedPlay(scenario, base) as play:
        play.play_on()
    assert play.results["flows"] == alone["flows"]


def test_a_scaled_controller_is_its_own_again_after_a_decision(scenario: Scenario) -> None:
    with BranchedPlay(scenario, ONE_BDP) as play:
        windows: list[float] = []
        while play.waiting is not None:
            windows += column(play.waiting.records[play.waiting.due], "window_bytes").tolist()
            play.step(dict.fromkeys(play.due, 0.5))
    assert len(windows) > 20
    assert len(set(windows)) == 1


def test_halved_windows_make_a_fixed_window_slower(scenario: Scenario) -> None:
    ends = []
    for factor in (1.0, 0.1):
        with BranchedPlay(scenario, ONE_BDP) as play:
            while play.waiting is not None:
                play.step(dict.fromkeys(play.due, factor))
            ends.append(play.mean_slowdown)
    assert ends[1] > 1.5 * ends[0]


@pytest.mark.parametrize("name", ["hpcc", "fdcc"])
def test_the_planner_is_named_like_any_player_and_no_worse_than_its_base(
    scenario: Scenario, name: str
) -> None:
    outcome = Planner(base=name, every=4).play(scenario)
    assert outcome.planned <= outcome.base
    assert outcome.branches > 0


def test_a_horizon_charges_what_is_left_as_links_shared_equally(scenario: Scenario) -> None:
    """Closed form: flow i is done after the sum over j of min(L_i, L_j), on the link that all share."""
    with BranchedPlay(scenario, HpccOncePerRtt()) as play:
        for _ in range(5):
            play.step()
        assert play.waiting is not None
        with play.branch(play.ahead(4.0)) as cut:
            cut.play_on()
    flows = cut.results["flows"]
    size, acked, payload, header = (
        np.asarray(flows[name], float)
        for name in ("size_bytes", "acked_bytes", "payload_bytes", "header_bytes")
    )
    remaining_ns = (size - acked) * (payload + header) / payload * 8e9 / 100e9
    assert (remaining_ns > 0).all()
    shared = [sum(min(time_ns, other) for other in remaining_ns) for time_ns in remaining_ns]
    assert flows["left_ns"] == pytest.approx(shared)
    lived = cut.results["totals"]["end_ns"] - np.asarray(flows["start_ns"])
    assert cut.slowdowns == pytest.approx((lived + shared) / np.asarray(flows["standalone_ns"]))


def test_a_far_horizon_is_the_episodes_end(scenario: Scenario) -> None:
    with BranchedPlay(scenario, HpccOncePerRtt()) as play:
        assert play.future(until_ns=play.ahead(1e5)).tolist() == play.future().tolist()
    near = list(differences(scenario, HpccOncePerRtt(), share=0.2, horizon_rtts=3.0))
    far = list(differences(scenario, HpccOncePerRtt(), share=0.2, horizon_rtts=1e5))
    assert far == list(differences(scenario, HpccOncePerRtt(), share=0.2))
    assert [one.reward for one in near] != [one.reward for one in far]


def test_where_nobody_decides_the_planner_says_what_would(scenario: Scenario) -> None:
    with pytest.raises(ScenarioError, match=r"planned: controllers: no flow decides.*let 'agent' have some"):
        plan(scenario.under("hpcc"), HpccOncePerRtt())


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of TCP: their keys for the simulator, and refusals of RDMA's keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ns3_env.decision.rewards import Reward, make_reward
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ScenarioError, ScenarioWarning, SimulatorNotFound
from ns3_env.eval.benchmark.folder import fingerprint
from ns3_env.eval.benchmark.suite import Suite, check
from ns3_env.eval.episodes.entry import Entry
from ns3_env.scenario import Scenario
from ns3_env.simulator import EXECUTABLE_VARIABLE, TCP_EXECUTABLE_VARIABLE, find_executable, list_controllers

DUMBBELL = {"kind": "dumbbell", "senders": 2, "rate_bps": "10Gbps"}


def tcp(controller: str = "cubic", **keys: Any) -> Scenario:
    data = {"transport": "tcp", "topology": DUMBBELL, "controllers": [{"name": controller}], **keys}
    return Scenario.from_mapping(data, "my.yaml")


def test_the_simulator_is_told_tcp_s_own_keys_and_none_of_rdma_s() -> None:
    queue = {"limit": "1.5 bdp", "marking": {"red": {"least": "5 packets", "most": "22.5kB"}}}
    assert not {"transport", "tcp"} & set(Scenario().to_simulator_json())
    # ACKs that are not delayed need no longer timeout.
    assert tcp(tcp={"packets_per_ack": 1, "min_rto_ns": "1ms"}).to_simulator_json()["tcp"]
    noise = {"mean_rtts": 0.05, "most_rtts": 0.5}
    assert tcp(tcp={"ack_noise": noise}).to_simulator_json()["tcp"]["ack_noise"] == noise
    assert "ack_noise" not in tcp().to_simulator_json()["tcp"]
    content = tcp(tcp={"mtu_bytes": 9000, "min_rto_ns": "50ms", "queue": queue}).to_simulator_json()
    assert (content["transport"], content["payload_bytes"]) == ("tcp", 8960)
    assert not {"switch", "timing", "min_rate_bps", "retransmission_timeout_ns"} & set(content)
    tcp_section = content["tcp"]
    assert (tcp_section["min_rto_ns"], tcp_section["initial_window_packets"], tcp_section["sack"]) == (
        50_000_000,
        10,
        True,
    )
    assert tcp_section["host_queue"] is None
    assert tcp_section["queue"]["limit"] == {"amount": 1.5, "unit": "bdps"}
    red = {"kind": "red", "highest_probability": 0.1, "average_weight": 0.002, "gentle": True, "ecn": False}
    thresholds = {"least": {"amount": 5, "unit": "packets"}, "most": {"amount": 22_500, "unit": "bytes"}}
    assert tcp_section["queue"]["marking"] == {**red, **thresholds}


@pytest.mark.parametrize("controller", ["cubic", "dctcp"])
def test_auto_marks_as_the_flows_laws_declare(controller: str) -> None:
    scenario = tcp(controller, tcp={"host_queue": {"limit": "500 packets"}})
    content = scenario.to_simulator_json()["tcp"]
    threshold = {"kind": "threshold", "threshold": {"amount": 65, "unit": "packets"}}
    threshold |= {"at_rate_bps": 1e10, "least_packets": 20}
    marking = threshold if controller == "dctcp" else None
    assert content["queue"]["marking"] == content["host_queue"]["marking"] == marking
    chosen = tcp(controller, tcp={"queue": {"marking": "none"}})
    assert chosen.to_simulator_json()["tcp"]["queue"]["marking"] is None


def test_a_scenario_as_a_file_has_it_holds_its_own_transport_s_keys_and_reads_back() -> None:
    queue = {"limit": "150 kB", "marking": {"threshold": "65 packets", "at_rate_bps": "10Gbps"}}
    scenario = tcp(tcp={"queue": queue, "host_queue": {"limit": "0.5 bdp", "marking": "none"}})
    written = scenario.model_dump(mode="json")
    assert "switch" not in written
    assert written["tcp"]["queue"]["limit"] == "150000 B"
    again = Scenario.from_mapping(written, "again")
    assert again.model_dump() == scenario.model_dump()
    assert again.to_simulator_json() == scenario.to_simulator_json()
    assert "tcp" not in Scenario().model_dump()


def test_a_queue_that_is_full_before_its_threshold_is_warned_of() -> None:
    short = {"queue": {"limit": "100 packets"}}
    fast = tcp("dctcp", topology={**DUMBBELL, "rate_bps": "100Gbps"}, tcp=short)
    with pytest.warns(ScenarioWarning, match=r"100 packets are full before .* 650 packets: .* 1300 packets"):
        fast.to_simulator_json()


def stream(scenario: Scenario, fields: list[str], reward: Reward) -> None:
    with FlowStream(scenario, slots=2, fields=fields, reward=reward) as flow_stream:
        flow_stream.start()


def rollouts(scenario: Scenario, fields: list[str], reward: Reward) -> None:
    with Rollouts(scenario, fields=fields, reward=reward) as episodes:
        episodes.begin(b"")


FRONTS: dict[str, Callable[[Scenario, list[str], Reward], object]] = {
    "stream": stream,
    "rollouts": rollouts,
    "flow": lambda scenario, fields, reward: FlowEnv(scenario, others="cubic", fields=fields, reward=reward),
    "parallel": lambda scenario, fields, reward: FlowParallelEnv(scenario, fields=fields, reward=reward),
}


@pytest.mark.parametrize("front", FRONTS)
def test_what_it_cannot_observe_is_refused_by_name(front: str) -> None:
    scenario = tcp("agent", clock={"name": "synchronous"})
    with pytest.raises(ScenarioError, match=r"fields: 'qlen': telemetry of switches, .* there are rtt, good"):
        FRONTS[front](scenario, ["rtt", "qlen"], make_reward("rtt_target"))


def test_a_reward_that_reads_switches_is_refused_and_another_one_named() -> None:
    with (
        pytest.raises(ScenarioError, match=r"reward: Staged reads 'qlen' and .*; .*rtt_target does without"),
        FlowStream(tcp("agent"), slots=2, fields=["rtt"], reward="staged") as flow_stream,
    ):
        flow_stream.start()


def suite(controllers: list[str], scenarios: list[Scenario]) -> Suite:
    entries = [
        {"name": f"s{i}", "scenario": scenario.model_dump(mode="json")}
        for i, scenario in enumerate(scenarios)
    ]
    return Suite.from_mapping({"controllers": controllers, "scenarios": entries}, "s.yaml")


def test_a_suite_s_controllers_are_those_of_its_scenarios_transports() -> None:
    check(suite(["cubic", "dctcp"], [tcp()]))
    check(suite(["dctcp"], [tcp(), Scenario()]))
    for controllers, scenarios, message in (
        (
            ["cubic", "hpcc"],
            [tcp()],
            r"controllers.1: 'hpcc' is RDMA's, and the transport of s0 is tcp; .*cub",
        ),
        (["cubic"], [tcp(), Scenario()], r"controllers.0: 'cubic' is TCP's, .* of s1 is rdma; known: .*hp"),
        (["cubic", "fdcc"], [tcp()], r"fdcc cannot play s0: it observes .*'qlen'"),
    ):
        with pytest.raises(ScenarioError, match=message):
            check(suite(controllers, scenarios))


def test_a_cell_is_stale_by_its_own_transport_s_simulator_alone() -> None:
    who = Entry.model_validate("dctcp")

    def of(scenario: Scenario, **programs: str) -> str:
        used = {"rdma-sim": "a", "tcp-sim": "b", **programs}
        return fingerprint(scenario, who, 1, used)

    for scenario, program, foreign in ((tcp(), "tcp-sim", "rdma-sim"), (Scenario(), "rdma-sim", "tcp-sim")):
        assert of(scenario) == of(scenario, **{foreign: "new"})
        assert of(scenario) != of(scenario, **{program: "new"})


def test_each_transport_has_a_program_and_a_variable_that_names_another_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for variable in (EXECUTABLE_VARIABLE, TCP_EXECUTABLE_VARIABLE):
        monkeypatch.delenv(variable, raising=False)
    assert {find_executable(x).name for x in ("rdma", "tcp")} == {"rdma-sim", "tcp-sim"}
    assert "hpcc" not in list_controllers(transport="tcp")
    monkeypatch.setenv(TCP_EXECUTABLE_VARIABLE, str(tmp_path / "none"))
    assert find_executable("rdma").name == "rdma-sim"
    with pytest.raises(
        SimulatorNotFound, match=f"no simulator at .*none.*{TCP_EXECUTABLE_VARIABLE} names it"
    ):
        find_executable("tcp")
    assert Scenario(controllers=[{"name": "hpcc"}]).to_simulator_json()

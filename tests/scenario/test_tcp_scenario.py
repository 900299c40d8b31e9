# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of TCP: their keys for the simulator, and refusals of what belongs to RDMA."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ns3_env.config.packaged import DATA
from ns3_env.config.yaml import parse
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ScenarioError, ScenarioWarning, SimulatorNotFound
from ns3_env.eval.benchmark.entries import check
from ns3_env.eval.benchmark.folder import fingerprint
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.episodes.entry import Entry
from ns3_env.policies.released import controller_names
from ns3_env.scenario import Scenario
from ns3_env.scenario.tcp import Tcp
from ns3_env.simulator import (
    EXECUTABLE_VARIABLE,
    TCP_EXECUTABLE_VARIABLE,
    find_executable,
    list_controllers,
)
from ns3_env.task import availability as observable
from ns3_env.task.observations import FIELDS, observation_space
from ns3_env.task.rewards import Reward, make_reward
from tests.paths import ROOT

DUMBBELL = {"kind": "dumbbell", "senders": 2, "rate_bps": "10Gbps"}


def tcp(controller: str = "cubic", **keys: Any) -> Scenario:
    data = {"transport": "tcp", "topology": DUMBBELL, "controllers": [{"name": controller}], **keys}
    return Scenario.from_mapping(data, "my.yaml")


def test_the_simulator_is_told_tcp_s_own_keys_and_none_of_rdma_s() -> None:
    queue = {"limit": "1.5 bdp", "marking": {"red": {"least": "5 packets", "most": "22.5kB"}}}
    told = tcp(tcp={"mtu_bytes": 9000, "min_rto_ns": "50ms", "queue": queue}).to_simulator_json()
    assert (told["transport"], told["payload_bytes"]) == ("tcp", 8960)
    assert not {"switch", "timing", "min_rate_bps", "retransmission_timeout_ns"} & set(told)
    own = told["tcp"]
    assert (own["min_rto_ns"], own["initial_window_packets"], own["sack"]) == (50_000_000, 10, True)
    assert own["host_queue"] is None
    assert own["queue"]["limit"] == {"amount": 1.5, "unit": "bdps"}
    assert own["queue"]["marking"] == {
        "kind": "red",
        "least": {"amount": 5, "unit": "packets"},
        "most": {"amount": 22_500, "unit": "bytes"},
        "highest_probability": 0.1,
        "average_weight": 0.002,
        "gentle": True,
        "ecn": False,
    }


def test_what_the_simulator_of_rdma_is_told_knows_no_transport() -> None:
    assert not {"transport", "tcp"} & set(Scenario().to_simulator_json())


@pytest.mark.parametrize("controller", ["cubic", "dctcp"])
def test_auto_marks_as_the_flows_laws_declare(controller: str) -> None:
    scenario = tcp(controller, tcp={"host_queue": {"limit": "500 packets"}})
    told = scenario.to_simulator_json()["tcp"]
    threshold = {
        "kind": "threshold",
        "threshold": {"amount": 65, "unit": "packets"},
        "at_rate_bps": 1e10,
        "least_packets": 20,
    }
    wanted = threshold if controller == "dctcp" else None
    assert told["queue"]["marking"] == told["host_queue"]["marking"] == wanted
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


def test_the_page_s_example_and_the_project_s_files_are_scenarios_of_tcp() -> None:
    page = (ROOT / "docs" / "tcp.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    files = sorted((DATA / "configs" / "scenarios").glob("tcp_*.yaml"))
    made = [Scenario.from_mapping(parse(example), "docs/tcp.md"), *map(Scenario.load, files)]
    assert len(made) > 1
    for scenario in made:
        assert scenario.under("cubic").to_simulator_json()["transport"] == "tcp"
    keys = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (.*?) \|", page, re.MULTILINE))))
    assert set(Tcp.model_fields) <= keys


FOREIGN = [
    ({"switch": {"pfc": False}}, "switch: is RDMA's", "write tcp.queue"),
    ({"timing": "exact"}, "timing: is RDMA's", "leave it out"),
    ({"min_rate_bps": "1Mbps"}, "min_rate_bps: is RDMA's", "leave it out"),
    ({"retransmission_timeout_ns": "1ms"}, "retransmission_timeout_ns: is RDMA's", "write tcp.min_rto_ns"),
    ({"payload_bytes": 1460}, "payload_bytes: is RDMA's", "write tcp.mtu_bytes"),
    ({"preset": "published"}, "preset: is RDMA's", "leave it out"),
    ({"clock": {"name": "per_notification"}}, "clock.name: 'per_notification'", "'per_flow_rtt'"),
    ({"controllers": [{"name": "hpcc"}]}, "controllers.0: 'hpcc' is RDMA's", "cubic"),
]


@pytest.mark.parametrize(("keys", "what", "instead"), FOREIGN, ids=[next(iter(x[0])) for x in FOREIGN])
def test_what_is_rdma_s_is_refused_under_tcp(keys: dict[str, Any], what: str, instead: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        tcp(**keys)
    (line,) = str(refused.value).split("\n")
    assert line.startswith(f"my.yaml: {what}")
    assert instead in line


def test_what_is_tcp_s_is_refused_under_rdma() -> None:
    with pytest.raises(ScenarioError, match=r"controllers.0: 'cubic' is TCP's; RDMA's are agent, .*hpcc"):
        Scenario.from_mapping({"controllers": [{"name": "cubic"}]}, "x")
    with pytest.raises(ScenarioError, match=r"tcp: is TCP's, .* write transport: tcp"):
        Scenario.from_mapping({"tcp": {"mtu_bytes": 9000}}, "x")
    with pytest.raises(ScenarioError, match=r"'hpcc' is RDMA's"):
        tcp().under("hpcc").to_simulator_json()


@pytest.mark.parametrize(
    ("section", "text"),
    [
        (
            {"packets_per_ack": 2, "delayed_ack_timeout_ns": "1s"},
            "tcp: delayed_ack_timeout_ns: 1000000000 is not below min_rto_ns",
        ),
        ({"socket_buffer_bytes": "1kB"}, "tcp: socket_buffer_bytes: 1000 holds less than 64 full segments"),
        ({"mtu_bytes": 40}, "tcp.mtu_bytes: "),
        ({"mss_bytes": 1448}, "tcp: unknown key 'mss_bytes'; the nearest known one is 'mtu_bytes'"),
        ({"queue": {"limit": 100}}, "tcp.queue.limit: 100 is no length of a queue: write packets ('100 pack"),
        ({"queue": {"limit": "10 Gbps"}}, "tcp.queue.limit: '10 Gbps' is no length of a queue"),
        ({"queue": {"limit": "0 packets"}}, "tcp.queue: limit: 0 packets: a queue holds at least a packet"),
        ({"queue": {"limit": "1e9 packets"}}, "tcp.queue.limit: must be at most 1000000"),
        ({"queue": {"marking": "red"}}, "tcp.queue.marking: 'red' is no marking: write auto, none, {thresho"),
        ({"queue": {"marking": {"red": {"least": "9 packets", "most": "5 packets"}}}}, "most (5 packets) is"),
        ({"queue": {"marking": {"threshold": "9 bdp", "at_rate_bps": 1e9}}}, "is given in packets"),
        ({"queue": {"marking": {"threshold": "9 packets", "least_packets": 2}}}, "give at_rate_bps"),
    ],
)
def test_a_fault_of_the_section_is_named_with_what_would_be_right(section: dict[str, Any], text: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        tcp(tcp=section)
    assert text in str(refused.value)


def test_acks_that_are_not_delayed_need_no_longer_time_out() -> None:
    assert tcp(tcp={"packets_per_ack": 1, "min_rto_ns": "1ms"}).to_simulator_json()["tcp"]


def test_a_queue_that_is_full_before_its_threshold_is_warned_of() -> None:
    short = {"queue": {"limit": "100 packets"}}
    fast = tcp("dctcp", topology={**DUMBBELL, "rate_bps": "100Gbps"}, tcp=short)
    with pytest.warns(ScenarioWarning, match=r"100 packets are full before .* 650 packets: .* 1300 packets"):
        fast.to_simulator_json()


def test_an_agent_observes_what_a_sender_knows_by_itself() -> None:
    known = observable.fields_of("tcp")
    assert {"rtt", "goodput", "pacing_rate", "last_action", "ecn_fraction", "window_bytes"} <= set(known)
    assert not {"qlen", "switch_rate", "flow_count", "throughput", "qlen_slope"} & set(known)
    assert not [name for name in known if name.startswith(("state_", "notif"))]
    assert observable.fields_of("rdma") == [field.name for field in FIELDS]
    assert observation_space(known).shape == (len(known),)


def stream(scenario: Scenario, fields: list[str], reward: Reward) -> None:
    with FlowStream(scenario, slots=2, fields=fields, reward=reward) as made:
        made.start()


def rollouts(scenario: Scenario, fields: list[str], reward: Reward) -> None:
    with Rollouts(scenario, fields=fields, reward=reward) as made:
        made.begin(b"")


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
        FlowStream(tcp("agent"), slots=2, fields=["rtt"]) as made,
    ):
        made.start()


def test_released_policies_that_read_switches_are_not_among_tcp_s() -> None:
    assert "fdcc" not in controller_names("tcp")
    assert "cubic" in controller_names("tcp")
    assert "cubic" not in controller_names()


def suite(controllers: list[str], scenarios: list[Scenario]) -> Suite:
    entries = [
        {"name": f"s{i}", "scenario": scenario.model_dump(mode="json")}
        for i, scenario in enumerate(scenarios)
    ]
    return Suite.from_mapping({"controllers": controllers, "scenarios": entries}, "s.yaml")


def test_a_suite_s_controllers_are_those_of_its_scenarios_transports() -> None:
    check(suite(["cubic", "dctcp"], [tcp()]))
    with pytest.raises(
        ScenarioError, match=r"controllers.1: 'hpcc' is RDMA's, and the transport of s0 is tcp; known: .*cub"
    ):
        check(suite(["cubic", "hpcc"], [tcp()]))
    with pytest.raises(
        ScenarioError, match=r"controllers.0: 'cubic' is TCP's, and the transport of s1 is rdma; known: .*hp"
    ):
        check(suite(["cubic"], [tcp(), Scenario()]))
    check(suite(["dctcp"], [tcp(), Scenario()]))
    with pytest.raises(ScenarioError, match=r"fdcc cannot play s0: it observes .*'qlen'"):
        check(suite(["cubic", "fdcc"], [tcp()]))


def test_a_cell_is_stale_by_its_own_transport_s_simulator_alone() -> None:
    who = Entry.model_validate("dctcp")

    def of(scenario: Scenario, **programs: str) -> str:
        used = {"rdma-sim": "a", "tcp-sim": "b", **programs}
        return fingerprint(scenario, who, 1, used)

    for scenario, own, foreign in ((tcp(), "tcp-sim", "rdma-sim"), (Scenario(), "rdma-sim", "tcp-sim")):
        assert of(scenario) == of(scenario, **{foreign: "new"})
        assert of(scenario) != of(scenario, **{own: "new"})


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

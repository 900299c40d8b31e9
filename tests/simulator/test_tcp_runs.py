# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of TCP: keys for the simulator, simulators, environments, commands, and benchmarks."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.decision.rewards import Reward, make_reward
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.gym_env import FlowEnv
from ns3_env.envs.pettingzoo_env import FlowParallelEnv
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ConfigError, ScenarioError, ScenarioWarning, SimulatorNotFound
from ns3_env.eval import metrics
from ns3_env.eval.benchmark.folder import fingerprint
from ns3_env.eval.benchmark.suite import Suite, check
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.entry import Entry
from ns3_env.scenario import Scenario
from ns3_env.simulator import (
    EXECUTABLE_VARIABLE,
    PLUGINS_VARIABLE,
    TCP_EXECUTABLE_VARIABLE,
    Simulator,
    find_executable,
    list_controllers,
)
from ns3_env.simulator.pool import LocalPool, Play
from ns3_env.simulator.results import Results
from tests.samples.files import Refused, dumped

KEYS: dict[str, Any] = {
    "transport": "tcp",
    "time_limit_ns": "1s",
    "topology": {"kind": "dumbbell", "senders": 2, "rate_bps": "10Gbps", "delay_ns": "5us"},
    "traffic": {"kind": "incast", "size_bytes": "200kB", "spread_ns": "10us"},
    "tcp": {"min_rto_ns": "5ms", "delayed_ack_timeout_ns": "500us", "queue": {"limit": "250 packets"}},
}


def tcp(controller: str) -> Scenario:
    return Scenario.from_mapping({**KEYS, "controllers": [{"name": controller}]}, "my.yaml")


RDMA = Scenario(controllers=[{"name": "hpcc"}], traffic={"kind": "incast", "size_bytes": 20_000})


def test_a_reset_of_another_transport_starts_its_program_and_no_other() -> None:
    with Simulator() as simulator:
        pids = []
        for scenario in (RDMA, RDMA, tcp("cubic"), tcp("dctcp"), RDMA):
            results = simulator.play(scenario)
            assert min(results["flows"]["fct_ns"]) > 0
            assert ("rtt" in results) == (scenario.transport == "tcp")
            pids.append(simulator.pid)
    assert pids[0] == pids[1]
    assert pids[2] == pids[3]
    assert len({pids[0], pids[2], pids[4]}) == 3


def test_a_flow_that_is_under_way_is_given_up_for_another_transport_s() -> None:
    with Simulator() as simulator:
        simulator.send_reset(tcp("agent"))
        simulator.receive()
        assert simulator.play(RDMA)["flows"]["fct_ns"]


@pytest.fixture(scope="module")
def results() -> Results:
    with LocalPool(1) as pool:
        futures = [pool.submit(Play(scenario, dict)) for scenario in (tcp("dctcp"), RDMA)]
        tcp_results, other = (future.result() for future in futures)
    assert "rtt" not in other
    return tcp_results


def test_round_trips_are_metrics_where_they_are_measured(results: Results) -> None:
    row = metrics.measure(results)
    assert row["rtt_mean_us"] == pytest.approx(results["rtt"]["mean_ns"] / 1e3)
    assert 30 < row["rtt_p50_us"] <= row["rtt_p99_us"] < 1000  # the base RTT is 34 µs
    assert metrics.line(results)["rtt_p99_us"] == row["rtt_p99_us"]
    assert math.isnan(metrics.measure({**results, "rtt": {"p99_ns": -1}}, ["rtt_p99_us"])["rtt_p99_us"])
    of_rdma = {key: value for key, value in results.items() if key != "rtt"}
    assert not [name for name in metrics.measure(of_rdma) if name.startswith("rtt")]
    assert row["fct_slowdown_avg"] >= 1
    assert 0 < row["goodput"] <= 1
    assert (row["pfc_frames"], row["pfc_pause_ns"], row["pfc_pause_fraction"]) == (0, 0, 0)


def test_plugins_are_rdma_s_and_not_handed_to_tcp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "none.so").write_text("no plugin")
    monkeypatch.setenv(PLUGINS_VARIABLE, str(tmp_path / "none.so"))
    with pytest.raises(ConfigError, match=r"none\.so"):
        list_controllers()
    assert "cubic" in list_controllers(transport="tcp")
    with Simulator() as simulator:
        assert simulator.play(tcp("cubic"))["flows"]["fct_ns"]


WIDE = """
{mtu_bytes: 65040, initial_window_packets: 1000000, packets_per_ack: 1000000, socket_buffer_bytes: 1GiB,
delayed_ack_timeout_ns: 3999999999999, min_rto_ns: 4000s, initial_rto_ns: 4000s,
queue: {limit: 1e6 packets, marking: {threshold: 1e5 packets, at_rate_bps: 8Tbps}},
host_queue: {limit: 1TB, marking: {red: {least: 1 bdp, most: 1e6 bdp}}}}
"""
NARROW = """
{mtu_bytes: 41, initial_window_packets: 1, packets_per_ack: 1, socket_buffer_bytes: 64,
delayed_ack_timeout_ns: 1, min_rto_ns: 1, initial_rto_ns: 1,
queue: {limit: 1 packet, marking: {threshold: 0 packets}}}
"""


@pytest.mark.parametrize("section", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_simulator_takes_whatever_a_scenario_may_say(section: str, simulator: Simulator) -> None:
    keys = {**KEYS, "time_limit_ns": 1, "controllers": [{"name": "cubic"}], "traffic": {"kind": "incast"}}
    assert simulator.play(Scenario.from_mapping({**keys, "tcp": yaml.safe_load(section)}, "x"))["flows"]


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    return dumped(tmp_path / "my.yaml", KEYS)


@pytest.mark.parametrize(
    ("who", "text"),
    [
        ("hpcc", r"--controllers: 'hpcc' is RDMA's, and the scenario's transport is tcp; known: .*cubic"),
        ("fdcc", r"'fdcc' cannot play: it observes 'qlen' .*telemetry of switches, which TCP has not"),
        ("cubicc", r"--controllers: unknown controller 'cubicc'; known: .*cubic"),
    ],
)
def test_a_name_of_the_other_transport_is_refused(
    scenario_file: Path, tmp_path: Path, refused: Refused, who: str, text: str
) -> None:
    message = refused(main, "run", scenario_file, "--controllers", who, "--out", tmp_path / "out")
    assert re.search(text, message)


def test_a_trace_and_a_benchmark_s_report_have_what_tcp_has(scenario_file: Path, tmp_path: Path) -> None:
    suite = {
        "controllers": ["cubic", "dctcp"],
        "scenarios": [{"name": "two", "scenario": "my.yaml"}],
        "seeds": [1, 2],
    }
    bench = tmp_path / "bench"
    assert (
        main(["benchmark", str(dumped(tmp_path / "suite.yaml", suite)), "--out", str(bench), "--jobs", "1"])
        == 0
    )
    cell = bench / "cells" / "two" / "cubic" / "seed-1"
    assert json.loads((cell / "metrics.json").read_text())["metrics"]["rtt_p99_us"] > 30
    report = (bench / "report.md").read_text()
    assert "RTT, p99 (µs)" in report
    assert "PFC" not in report
    assert "Packets lost" not in report
    assert "Where packets were lost" not in (bench / "report.html").read_text()
    out = tmp_path / "trace"
    assert main(["run", str(cell / "config.yaml"), "--trace", "--out", str(out)]) == 0
    assert (out / "cubic" / "windows.csv").read_text().count("\n") > 5


def test_the_first_packets_are_paced_as_is_told() -> None:
    keys = {**KEYS, "controllers": [{"name": "rttmpc", "attributes": {"InitialRate": "500Mbps"}}]}
    scenario = Scenario.from_mapping({**keys, "record": {"windows": True}}, "my.yaml")
    with Simulator() as simulator:
        first = simulator.play(scenario)["windows"][0]
    assert first[3] == pytest.approx(500e6 * 1502 / 1460)  # on the wire


CONTROLLERS = [name for name in list_controllers(transport="tcp") if name not in ("agent", "policy")]


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_flows_come_and_go_under_each_law(controller: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Freed memory is overwritten at once: code that uses it after its flow's end crashes."""
    monkeypatch.setenv("MALLOC_PERTURB_", "165")
    traffic = {"kind": "poisson", "sizes": [[10_000, 0], [100_000, 100]], "load": 0.5, "duration_ns": "3ms"}
    topology = {"kind": "dumbbell", "senders": 4, "rate_bps": "10Gbps"}
    flows = {"topology": topology, "traffic": traffic, "controllers": [{"name": controller}]}
    scenario = Scenario.from_mapping({**KEYS, **flows}, "my.yaml")
    with Simulator() as simulator:
        assert simulator.play(scenario)["totals"]["unfinished"] == 0


DUMBBELL = {"kind": "dumbbell", "senders": 2, "rate_bps": "10Gbps"}


def tcp_scenario(controller: str = "cubic", **keys: Any) -> Scenario:
    data = {"transport": "tcp", "topology": DUMBBELL, "controllers": [{"name": controller}], **keys}
    return Scenario.from_mapping(data, "my.yaml")


def test_the_simulator_is_told_tcp_s_own_keys_and_none_of_rdma_s() -> None:
    queue = {"limit": "1.5 bdp", "marking": {"red": {"least": "5 packets", "most": "22.5kB"}}}
    assert not {"transport", "tcp"} & set(Scenario().to_simulator_json())
    # ACKs that are not delayed need no longer timeout.
    assert tcp_scenario(tcp={"packets_per_ack": 1, "min_rto_ns": "1ms"}).to_simulator_json()["tcp"]
    noise = {"mean_rtts": 0.05, "most_rtts": 0.5}
    assert tcp_scenario(tcp={"ack_noise": noise}).to_simulator_json()["tcp"]["ack_noise"] == noise
    assert "ack_noise" not in tcp_scenario().to_simulator_json()["tcp"]
    content = tcp_scenario(tcp={"mtu_bytes": 9000, "min_rto_ns": "50ms", "queue": queue}).to_simulator_json()
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
    scenario = tcp_scenario(controller, tcp={"host_queue": {"limit": "500 packets"}})
    content = scenario.to_simulator_json()["tcp"]
    threshold = {"kind": "threshold", "threshold": {"amount": 65, "unit": "packets"}}
    threshold |= {"at_rate_bps": 1e10, "least_packets": 20}
    marking = threshold if controller == "dctcp" else None
    assert content["queue"]["marking"] == content["host_queue"]["marking"] == marking
    chosen = tcp_scenario(controller, tcp={"queue": {"marking": "none"}})
    assert chosen.to_simulator_json()["tcp"]["queue"]["marking"] is None


def test_a_scenario_as_a_file_has_it_holds_its_own_transport_s_keys_and_reads_back() -> None:
    queue = {"limit": "150 kB", "marking": {"threshold": "65 packets", "at_rate_bps": "10Gbps"}}
    scenario = tcp_scenario(tcp={"queue": queue, "host_queue": {"limit": "0.5 bdp", "marking": "none"}})
    written = scenario.model_dump(mode="json")
    assert "switch" not in written
    assert written["tcp"]["queue"]["limit"] == "150000 B"
    again = Scenario.from_mapping(written, "again")
    assert again.model_dump() == scenario.model_dump()
    assert again.to_simulator_json() == scenario.to_simulator_json()
    assert "tcp" not in Scenario().model_dump()


def test_a_queue_that_is_full_before_its_threshold_is_warned_of() -> None:
    short = {"queue": {"limit": "100 packets"}}
    fast = tcp_scenario("dctcp", topology={**DUMBBELL, "rate_bps": "100Gbps"}, tcp=short)
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
    scenario = tcp_scenario("agent", clock={"name": "synchronous"})
    with pytest.raises(ScenarioError, match=r"fields: 'qlen': telemetry of switches, .* there are rtt, good"):
        FRONTS[front](scenario, ["rtt", "qlen"], make_reward("rtt_target"))


def test_a_reward_that_reads_switches_is_refused_and_another_one_named() -> None:
    with (
        pytest.raises(ScenarioError, match=r"reward: Staged reads 'qlen' and .*; .*rtt_target does without"),
        FlowStream(tcp_scenario("agent"), slots=2, fields=["rtt"], reward="staged") as flow_stream,
    ):
        flow_stream.start()


def suite(controllers: list[str], scenarios: list[Scenario]) -> Suite:
    entries = [
        {"name": f"s{i}", "scenario": scenario.model_dump(mode="json")}
        for i, scenario in enumerate(scenarios)
    ]
    return Suite.from_mapping({"controllers": controllers, "scenarios": entries}, "s.yaml")


def test_a_suite_s_controllers_are_those_of_its_scenarios_transports() -> None:
    check(suite(["cubic", "dctcp"], [tcp_scenario()]))
    check(suite(["dctcp"], [tcp_scenario(), Scenario()]))
    for controllers, scenarios, message in (
        (
            ["cubic", "hpcc"],
            [tcp_scenario()],
            r"controllers.1: 'hpcc' is RDMA's, and the transport of s0 is tcp; .*cub",
        ),
        (
            ["cubic"],
            [tcp_scenario(), Scenario()],
            r"controllers.0: 'cubic' is TCP's, .* of s1 is rdma; known: .*hp",
        ),
        (["cubic", "fdcc"], [tcp_scenario()], r"fdcc cannot play s0: it observes .*'qlen'"),
    ):
        with pytest.raises(ScenarioError, match=message):
            check(suite(controllers, scenarios))


def test_a_cell_is_stale_by_its_own_transport_s_simulator_alone() -> None:
    who = Entry.model_validate("dctcp")

    def of(scenario: Scenario, **programs: str) -> str:
        used = {"rdma-sim": "a", "tcp-sim": "b", **programs}
        return fingerprint(scenario, who, 1, used)

    for scenario, program, foreign in (
        (tcp_scenario(), "tcp-sim", "rdma-sim"),
        (Scenario(), "rdma-sim", "tcp-sim"),
    ):
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios of TCP in simulators, environments, commands, and benchmarks."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ns3_env.config.folders import DATA
from ns3_env.decision.rewards import make_reward
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ConfigError
from ns3_env.eval import metrics
from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario
from ns3_env.simulator import PLUGINS_VARIABLE, Simulator, list_controllers
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
POLICY = DATA / "checkpoints" / "rlcc" / "policy.safetensors"


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


def test_a_policy_s_file_steers_them_inside_the_simulator() -> None:
    reward = make_reward("rtt_target", base_ns=None)
    with Rollouts(tcp("agent"), fields=["rtt", "pacing_rate"], reward=reward) as rollouts:
        rollouts.begin(POLICY)
        rollout = rollouts.next()
    assert rollout.decisions > 10
    assert np.isfinite(rollout.rewards).all()
    assert min(rollout.results["flows"]["fct_ns"]) > 0


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

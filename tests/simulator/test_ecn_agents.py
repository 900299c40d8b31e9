# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents at ports: what they observe, when their thresholds apply, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.decision.observations import column
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator
from tests.processes import program

Records = NDArray[np.float64]
#: Two uncontrolled hosts at 10 Gb/s into a link of 10 Gb/s: from port 3-4 leaves half of what arrives.
CONSTANT: dict[str, Any] = {
    "time_limit_ns": 1_000_000,
    "topology": {"kind": "dumbbell", "senders": 2, "rate_bps": 10e9},
    "traffic": {"kind": "incast", "size_bytes": "endless", "spread_ns": 0},
    "controllers": ["fixed-window"],
    "switch": {
        "ecn": {"kmin_bytes": 100_000, "kmax_bytes": 400_000, "pmax": 0.2, "at_rate_bps": 10e9},
        "ecn_agents": {"interval_ns": 100_000, "ports": [(3, 4)]},
    },
}
#: Eight flows under DCQCN, and the agents at all ports of the dumbbell.
DCQCN: dict[str, Any] = {
    "time_limit_ns": 20_000_000,
    "topology": {"kind": "dumbbell", "senders": 8, "rate_bps": 25e9},
    "traffic": {"kind": "incast", "size_bytes": 500_000, "spread_ns": 50_000},
    "controllers": ["dcqcn"],
    "switch": {"ecn_agents": {}},
}
GROWTH = 10e9 / 8e9  # of the queue, B/ns
PACKET = 1048  # on the wire


def keep(records: Records) -> Records:
    """The thresholds in force."""
    names = ("port_kmin_bytes", "port_kmax_bytes", "port_pmax")
    return np.stack([column(records, name) for name in names], axis=1)


def run(
    simulator: Simulator, content: dict[str, Any], rule: Callable[[Records], Any] = keep
) -> tuple[list[Records], dict[str, Any]]:
    """The records of each decision, the end's included, and the results."""
    simulator.send_reset(Scenario.from_mapping(content, "x"))
    records = []
    while isinstance(rows := simulator.receive(), DecisionBatch):
        records.append(rows.records)
        simulator.send_actions(rule(rows.records) if rows.due.all() else ())
    assert isinstance(rows, EpisodeEnd)
    return records, dict(rows.results)


@pytest.mark.parametrize("threshold", [50e3, 500e3])
def test_a_port_marks_at_the_thresholds_that_its_agent_sets_and_from_that_instant(
    threshold: float, simulator: Simulator
) -> None:
    """Below and above the 100 kB before: K is crossed after 40 or 400 µs; 5 MB, from 600 µs on, is not."""

    def rule(records: Records) -> Any:
        now = threshold if column(records, "time_ns")[0] < 600e3 else 5e6
        return [[now, now, 1.0]]

    records, _ = run(simulator, CONSTANT, rule)
    marked = [column(record, "port_marked")[0] for record in records]
    crossed = threshold / GROWTH  # after the first packet arrives, less than 2 µs later
    for number, share in enumerate(marked[1:], start=1):
        begin, end = 100e3 * (number - 1), 100e3 * number
        expected = np.clip((end - crossed) / (end - begin), 0, 1) if end <= 600e3 else 0.0
        assert share == pytest.approx(expected, abs=0.04)
    assert marked[6] > 0.95
    assert marked[7:] == [0.0] * (len(marked) - 7)


def test_between_the_thresholds_a_port_marks_with_the_linear_probability(simulator: Simulator) -> None:
    records, _ = run(simulator, CONSTANT, lambda records: [[0.0, 2e6, 0.8]])
    for record in records[2:]:
        queue = column(record, "port_mean_queue_bytes")[0]
        share = column(record, "port_marked")[0] / column(record, "port_utilisation")[0]
        assert share == pytest.approx(0.8 * queue / 2e6, abs=0.15)
    every = np.array([column(record, "port_marked")[0] for record in records[1:]])
    assert every.mean() == pytest.approx(0.8 * 0.5 * 1e6 * GROWTH / 2e6, rel=0.1)


def test_observations_are_those_of_a_queue_that_grows_by_the_excess(simulator: Simulator) -> None:
    records, _ = run(simulator, CONSTANT)
    assert len(records) == 11
    assert not column(records[0], "port_utilisation")[0]
    for number, record in enumerate(records[1:], start=1):
        end = 100e3 * number
        assert column(record, "time_ns")[0] == end
        assert column(record, "interval_ns")[0] == 100e3
        assert column(record, "port_queue_bytes")[0] == pytest.approx(GROWTH * end, abs=3 * PACKET)
        mean = GROWTH * (end - 50e3)
        assert column(record, "port_mean_queue_bytes")[0] == pytest.approx(mean, abs=3 * PACKET)
        assert column(record, "port_utilisation")[0] == pytest.approx(1.0, abs=0.02)
        assert column(record, "port_rate_bps")[0] == 10e9
        assert keep(record).tolist() == [[100e3, 400e3, 0.2]]


def test_an_agent_that_keeps_the_thresholds_changes_nothing(simulator: Simulator) -> None:
    records, results = run(simulator, DCQCN)
    assert max(column(record, "port_marked").max() for record in records) > 0
    without = simulator.play(Scenario.from_mapping({**DCQCN, "switch": {}}, "x"))
    for content in (results, without):
        del content["totals"]["events"]  # decisions are events
    assert results == without


def test_a_branch_continues_with_the_thresholds_in_force(simulator: Simulator) -> None:
    simulator.send_reset(Scenario.from_mapping(DCQCN, "x"))
    for _ in range(10):
        rows = simulator.receive()
        assert isinstance(rows, DecisionBatch)
        actions = np.tile([20e3, 20e3, 1.0], (len(rows.records), 1))
        simulator.send_actions(actions)
    assert isinstance(simulator.receive(), DecisionBatch)
    (branch,) = simulator.branch(asks=False)
    branch.send_actions(actions)
    alone = branch.receive()
    branch.close()
    simulator.send_actions(actions)
    while isinstance(rows := simulator.receive(), DecisionBatch):
        simulator.send_actions(actions if rows.due.all() else ())
    assert isinstance(alone, EpisodeEnd)
    assert isinstance(rows, EpisodeEnd)
    assert alone.results["flows"]["fct_ns"] == rows.results["flows"]["fct_ns"]


def test_ports_are_those_of_the_scenario_in_the_order_of_their_slots(simulator: Simulator) -> None:
    scenario = Scenario.from_mapping(DCQCN, "x")
    assert Scenario.from_mapping(scenario.model_dump(mode="json"), "x") == scenario
    assert (
        scenario.agent_count == len(scenario.agent_ports) == 11
    )  # 8 + 1 host links, 2 ends of the bottleneck
    hosts = Scenario.from_mapping({**DCQCN, "switch": {"ecn_agents": {"ports": "hosts"}}}, "x")
    assert set(scenario.agent_ports) - set(hosts.agent_ports) == {(9, 10), (10, 9)}
    records, _ = run(simulator, DCQCN)
    busiest = np.mean([column(record, "port_utilisation") for record in records], axis=0).argsort()[-2:]
    assert {scenario.agent_ports[port] for port in busiest} == {(9, 10), (10, 8)}


def test_without_a_policy_across_the_channel_the_simulator_refuses_agents_at_ports(tmp_path: Path) -> None:
    done = program(Scenario.from_mapping(DCQCN, "x").to_simulator_json(), tmp_path)
    assert done.returncode == 2
    assert "'switch.ecn_agents': needs a policy across the channel" in done.stderr


def test_transitions_of_flows_are_refused_next_to_agents_at_ports(simulator: Simulator) -> None:
    content = Scenario.from_mapping(DCQCN, "x").to_simulator_json()
    content["record"]["transitions"] = True
    simulator.send_reset(content)
    with pytest.raises(ScenarioError, match="leave out either it or"):
        simulator.receive()

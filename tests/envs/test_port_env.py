# SPDX-License-Identifier: GPL-2.0-or-later
"""Agents at ports: observations, thresholds that they set, their environment, and refusals."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.decision.actions import ACC_BYTES, ACC_TABLE, EcnThresholds
from ns3_env.decision.observations import FIELDS, INDEX, column
from ns3_env.decision.rewards import Acc
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.port_env import ACC_FIELDS, PortEnv
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, EpisodeEnd, Simulator
from ns3_env.tasks import make, task
from tests.processes import program


def records(**columns: float) -> Any:
    """A record with these fields."""
    row = np.zeros((1, len(FIELDS)))
    for name, value in columns.items():
        row[0, INDEX[name]] = value
    return row


def test_actions_are_thresholds_of_the_table_scaled_with_the_ports_rate() -> None:
    env = PortEnv()
    env.reset(seed=1)
    for action in (7, 30, 0):
        _, _, _, _, infos = env.step(np.int64(action))
        kmin, kmax, pmax = ACC_TABLE[action]
        telemetry = infos["telemetry"]
        assert (telemetry["port_kmin_bytes"], telemetry["port_kmax_bytes"]) == (kmin, kmax)
        assert telemetry["port_pmax"] == pmax
    env.close()
    fast = EcnThresholds()(np.array([1]), records(port_rate_bps=100e9))
    assert fast.tolist() == [[80e3, 160e3, 0.01]]


def test_the_observation_is_the_ports_record_in_logarithms() -> None:
    env = PortEnv()
    env.reset(seed=1)
    for _ in range(5):
        observation, reward, _, _, infos = env.step(np.int64(0))
        telemetry = infos["telemetry"]
        assert set(telemetry) >= {"port_queue_bytes", "port_marked", "time_ns"}
        assert "window_bytes" not in telemetry
        logs = [
            np.log1p(telemetry[name] / 20e3)
            for name in ("port_queue_bytes", "port_mean_queue_bytes", "port_kmin_bytes", "port_kmax_bytes")
        ]
        assert observation[[0, 1, 4, 5]] == pytest.approx(logs, rel=1e-5)
        assert observation[[2, 3, 6]] == pytest.approx(
            [telemetry[name] for name in ("port_utilisation", "port_marked", "port_pmax")], rel=1e-5
        )
        assert reward == Acc()(np.array([infos["record"]]))[0]  # type: ignore[arg-type]
    env.close()


@pytest.mark.parametrize(
    ("queue", "expected"), [(0, 1.0), (20e3, 1.0), (20001, 0.9), (40001, 0.8), (1e9, 0.0)]
)
def test_accs_reward_falls_by_a_tenth_at_each_step_of_the_queue(queue: float, expected: float) -> None:
    row = records(port_utilisation=0.4, port_mean_queue_bytes=queue, port_rate_bps=25e9)
    assert Acc(0.3, 0.7)(row)[0] == pytest.approx(0.3 * 0.4 + 0.7 * expected)
    row = records(port_utilisation=0.4, port_mean_queue_bytes=4 * queue, port_rate_bps=100e9)
    assert Acc(0.3, 0.7)(row)[0] == pytest.approx(0.3 * 0.4 + 0.7 * expected)
    assert len(ACC_BYTES) == 10


def test_the_same_seed_gives_the_same_bits_and_a_pickle_the_same_environment() -> None:
    env = PortEnv()
    copy = pickle.loads(pickle.dumps(env))
    first = [env.reset(seed=3)[0], *(env.step(np.int64(i % 31))[0] for i in range(20))]
    again = [copy.reset(seed=3)[0], *(copy.step(np.int64(i % 31))[0] for i in range(20))]
    assert np.array_equal(first, again)
    env.close()
    copy.close()


def test_the_task_has_a_row_for_each_port_in_every_front_end_that_steps() -> None:
    spec = task("Thresholds")
    assert gym.spec(spec.id).id == "ns3_env/Thresholds-v1"
    assert spec.training(1).agent_count == spec.test(0).agent_count == spec.slots
    vector = make("Thresholds", "sb3")
    observations = vector.reset()
    assert observations.shape == (spec.slots, len(ACC_FIELDS))
    for _ in range(30):
        vector.step(np.zeros(spec.slots))
        assert vector.due.all()
    vector.close()
    parallel = make("Thresholds", "pettingzoo")
    parallel.reset(seed=1)
    assert parallel.agents == [f"port_{number}" for number in range(spec.slots)]
    _, rewards, *_ = parallel.step(dict.fromkeys(parallel.agents, 0))
    assert len(rewards) == spec.slots
    parallel.close()


def test_test_scenarios_are_the_same_every_time_and_none_is_trained_on() -> None:
    spec = task("Thresholds")
    assert spec.test(3).to_simulator_text() == spec.test(3).to_simulator_text()
    assert spec.test(39).seed > 2**31
    with pytest.raises(ValueError, match="test scenarios are 0 to 39"):
        spec.test(40)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"fields": ["rtt"]},
            "fields: 'rtt': no field of theirs, as 'switch.ecn_agents' puts agents at ports",
        ),
        ({"reward": "slowdown"}, "reward: Slowdown reads 'cost': no field of theirs"),
        ({"action": "multiplicative_window"}, "action: MultiplicativeWindow sets windows of flows"),
        ({"port": (9, 0)}, "no switch 9 has a port to node 0"),
        ({"others": "hpcc"}, "'flow' and 'others' are of environments with agents at flows"),
    ],
)
def test_what_ports_do_not_have_is_refused_in_a_sentence(arguments: dict[str, Any], text: str) -> None:
    scenario = {
        "topology": {"kind": "dumbbell", "senders": 4},
        "traffic": {"kind": "incast", "size_bytes": 100_000},
        "controllers": ["dcqcn"],
        "switch": {"ecn_agents": {}},
    }
    with pytest.raises(ScenarioError) as caught:
        PortEnv(scenario, **arguments)
    assert text in str(caught.value)


def test_flows_observe_no_port_and_set_no_thresholds() -> None:
    scenario = {"topology": {"kind": "dumbbell"}, "traffic": {"kind": "incast", "size_bytes": 100_000}}
    stream = FlowStream(scenario, task=Task(["port_queue_bytes"], "goodput_delay", EcnThresholds()))
    with pytest.raises(ScenarioError) as caught:
        stream.start()
    assert "fields: 'port_queue_bytes': no field of theirs, as agents are at flows" in str(caught.value)
    assert "action: EcnThresholds sets thresholds of ports" in str(caught.value)
    stream.close()


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ([], "rows of three numbers"),
        ([[2e3, 1e3, 0.1]], r"table\[0\]"),
        ([[1e3, 2e3, 0.1], [0, 1, 2]], r"table\[1\]"),
    ],
)
def test_a_table_of_impossible_thresholds_is_refused(table: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        EcnThresholds(table)


def test_an_action_that_is_no_row_of_the_table_sends_nothing() -> None:
    env = PortEnv()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="rows of the table, 0 to 30"):
        env.step(np.int64(31))
    env.step(np.int64(30))
    env.close()


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

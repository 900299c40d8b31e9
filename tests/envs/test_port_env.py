# SPDX-License-Identifier: GPL-2.0-or-later
"""Front ends with agents at ports: observations, rewards, actions, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from ns3_env.decision.actions import ACC_BYTES, ACC_TABLE, EcnThresholds
from ns3_env.decision.observations import FIELDS, INDEX
from ns3_env.decision.rewards import Acc
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.envs.port_env import ACC_FIELDS, PortEnv, switch_incast
from ns3_env.errors import ScenarioError
from ns3_env.simulator import Simulator
from ns3_env.tasks import make, task


def records(**columns: float) -> Any:
    """A record with these fields."""
    row = np.zeros((1, len(FIELDS)))
    for name, value in columns.items():
        row[0, INDEX[name]] = value
    return row


def test_an_episode_of_default_thresholds_ends_as_without_an_agent() -> None:
    env = PortEnv(switch_incast(4))
    env.reset(seed=5)
    truncated, infos = False, {}
    while not truncated:
        _, _, terminated, truncated, infos = env.step(np.int64(0))
        assert not terminated
    scenario = env.scenario.model_copy(
        update={"switch": env.scenario.switch.model_copy(update={"ecn_agents": None})}
    )
    with Simulator() as simulator:
        results = simulator.play(scenario.with_seed(env._simulator._scenario.seed))  # type: ignore[union-attr]
    assert infos["time_ns"] == results["totals"]["end_ns"]
    env.close()


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy files in the simulator and in Python: equal decisions, sparse telemetry, histories of flows."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.config.imports import trust
from ns3_env.decision import observations
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy, SlotStates
from ns3_env.scenario import AGENT, Controller, PerAck, PerFlowRtt, Scenario, Synchronous
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import decisions_taken
from tests.samples.agents import AGENTS, RECURRENT_PPO, trainer
from tests.samples.policy_files import (
    carried_file,
    constant_file,
    lstm_file,
    mlp_file,
    policy_file,
    rlcc_file,
    tiny,
)
from tests.samples.scenarios import incast

SCENARIO = incast(4, 200_000, spread_ns=20_000, time_limit_ns=400_000)


def fcts(results: dict[str, Any]) -> list[int]:
    durations: list[int] = results["flows"]["fct_ns"]
    return durations


CLOCK = PerFlowRtt(rtt_fraction=0.4, start_bdps=0.5)
SPARING = ({"telemetry_from_bdps": 1.0}, {"telemetry_every_rtts": 0.3}, {"decides_from_bdps": 1.0}, {})


@pytest.mark.parametrize(
    "make",
    [
        mlp_file,
        lstm_file,
        carried_file,
        rlcc_file,
        functools.partial(lstm_file, clock=Synchronous(interval_ns=5_000)),
        functools.partial(carried_file, clock=PerAck()),
        *(functools.partial(mlp_file, clock=CLOCK, **changes) for changes in SPARING),
    ],
)
def test_both_placements_give_the_same_results(tmp_path: Path, make: Any) -> None:
    policy = make(tmp_path / "policy.safetensors")
    results = {}
    for placement in ("simulator", "python"):
        who = Entry(name="mine", checkpoint=str(policy), placement=placement)
        with Simulator() as simulator:
            scenario, results[placement] = played_by(who, SCENARIO, simulator)
            names = [controller.name for controller in scenario.controllers]
            assert names == ["policy" if placement == "simulator" else AGENT]
    assert fcts(results["simulator"]) == fcts(results["python"])
    assert results["simulator"]["queues"] == results["python"]["queues"]


def test_what_the_scenario_says_of_the_agent_holds_for_the_policy(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors")
    for attributes, carried in (({}, 16), ({"TelemetryBytes": 42}, 42)):
        scenario = SCENARIO.model_copy(
            update={"controllers": [Controller(name=AGENT, attributes=attributes)]}
        )
        with Simulator() as simulator:
            results = simulator.play(scenario.playing(policy))
        assert set(results["flows"]["header_bytes"]) == {48 + carried}


def test_some_flows_under_a_policy_and_the_others_not(tmp_path: Path) -> None:
    policy = mlp_file(tmp_path / "policy.safetensors")
    mixed = SCENARIO.model_copy(
        update={"controllers": [Controller(name=AGENT), Controller(name="hpcc")], "controlled_flows": [1, 2]}
    )
    with Simulator() as simulator:
        results = simulator.play(mixed.playing(policy))
    assert results["flows"]["header_bytes"] == [48 + 42, 48 + 16, 48 + 16, 48 + 42]


def test_flows_that_the_traffic_puts_under_the_agent_are_refused(tmp_path: Path) -> None:
    scenario = SCENARIO.model_copy(update={"traffic": Incast(size_bytes=1000, controller=AGENT)})
    with pytest.raises(ScenarioError, match="placement 'python'"):
        scenario.playing(mlp_file(tmp_path / "policy.safetensors"))


def played(policy: PolicyFile, path: Path) -> NetworkPolicy:
    write_policy(path, policy)
    return NetworkPolicy.load(path)


@pytest.fixture(autouse=True)
def recurrent_ppo_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    trust([RECURRENT_PPO])


@pytest.mark.parametrize("agent", AGENTS)
def test_flows_that_decide_apart_get_what_the_agents_own_code_says(tmp_path: Path, agent: str) -> None:
    fields = ["rtt", "qlen", "qlen_slope", "last_action"]
    agent_trainer = trainer(AGENTS[agent], fields=fields)
    file = played(agent_trainer.export(), tmp_path / "policy.safetensors")
    assert isinstance(file, Policy)
    assert file.fields == agent_trainer.policy.fields
    generator, file_states, trainer_states = (
        np.random.default_rng(6),
        SlotStates(file),
        SlotStates(agent_trainer.policy),
    )
    for _ in range(20):
        slots = generator.permutation(5)[: generator.integers(1, 6)]
        rows = generator.uniform(0, 1, (len(slots), len(file.fields))).astype(np.float32)
        if generator.random() < 0.2:
            file_states.forget(slots[:1])
            trainer_states.forget(slots[:1])
        assert np.allclose(
            file_states.predict(rows, slots), trainer_states.predict(rows, slots), rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("kind", ["lstm", "carried"])
def test_it_needs_neither_pytorch_nor_an_agents_code(tmp_path: Path, kind: str) -> None:
    write_policy(tmp_path / "policy.safetensors", tiny(kind))
    blocked = [f"sys.modules[{name!r}] = None" for name in ("torch", "stable_baselines3", "agents")]
    lines = [
        "import sys, pathlib, numpy",
        *blocked,
        "from ns3_env.policies.native_policy import NetworkPolicy",
        "policy = NetworkPolicy.load(pathlib.Path('policy.safetensors'))",
        "print(policy.predict(numpy.ones((2, 3)))[0].shape)",
    ]
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("(2, 1)\n", "")


def test_beside_an_environment_it_acts_by_its_own_settings(tmp_path: Path) -> None:
    action = {"name": "multiplicative_window", "alpha": 0.9, "rounding": "none"}
    file = played(tiny(action=action), tmp_path / "policy.safetensors")
    record = np.zeros((1, len(observations.FIELDS)))
    for name, value in {
        "rtt": 2.0, "qlen": 1.0, "window_bytes": 5e4, "bdp_bytes": 1e5, "packet_bytes": 1090.0,
        "base_rtt_ns": 8e3, "host_rate_bps": 1e11,
    }.items():  # fmt: skip
        record[0, observations.INDEX[name]] = value
    observation = record[:, observations.field_indices(file.fields)].astype(np.float32)
    answer = file.act(observation[None], np.array([1]))
    window = BackgroundPolicy(file).actions(record, np.array([0]))[0, 0]
    factor = 1 + 0.9 * answer[0, 0] if answer[0, 0] >= 0 else 1 / (1 - 0.9 * answer[0, 0])
    assert window == pytest.approx(5e4 * factor)
    assert abs(factor - 1) > 0.05


def test_an_answer_beyond_1_is_1_and_weights_too_large_for_any_are_one_line(tmp_path: Path) -> None:
    network = {"kind": "mlp", "hidden_activation": "relu", "output_activation": "none"}
    large = tiny(network=network)
    for weight in (10.0, 3e38):
        for tensor in large.tensors.values():
            tensor[:] = weight
        file = played(large, tmp_path / f"{weight}.safetensors")
        if weight == 10.0:
            assert file.act(np.ones((1, 1, 3), np.float32), np.array([1])).tolist() == [[1.0]]
    with pytest.raises(ConfigError, match="its weights are too large"):
        file.act(np.ones((1, 1, 3), np.float32), np.array([1]))


#: Bytes of telemetry that differ clearly from all other sizes.
CARRIED = 100
RATE = 100e9


def always(path: Path, answer: float, **changes: Any) -> Path:
    return constant_file(path, answer, telemetry_bytes=CARRIED, **changes)


def alone(size: int, **record: Any) -> Scenario:
    return incast(1, size, time_limit_ns=10_000_000, record=record)


def outcome(policy: Path, scenario: Scenario, placement: str = "simulator") -> dict[str, Any]:
    who = Entry(name="mine", checkpoint=str(policy), placement=placement)
    with Simulator() as simulator:
        return played_by(who, scenario, simulator)[1]


def delay_ns(policy: Path, size: int) -> float:
    """Additional FCT of a single flow compared with one of plain packets."""
    flows = outcome(policy, alone(size))["flows"]
    return float(flows["fct_ns"][0] - flows["standalone_ns"][0])


@pytest.mark.parametrize(
    ("size", "from_bdps", "packets"),
    [(50_000, 0.0, 50), (50_000, 1.0, 0), (20_000, 0.5, 0), (60_000, 0.5, 60)],
)
def test_a_flow_from_so_many_bdps_carries_telemetry_and_a_shorter_one_is_as_fast_as_without(
    size: int, from_bdps: float, packets: int, tmp_path: Path
) -> None:
    """The path's BDP is 78 kB."""
    policy = always(tmp_path / "policy", 0.9, telemetry_from_bdps=from_bdps)
    cost_ns = 8e9 * packets * CARRIED / RATE
    assert delay_ns(policy, size) > 0.99 * cost_ns if packets else delay_ns(policy, size) == 0


def test_a_flow_below_the_line_leaves_at_line_rate_and_decides_nothing(tmp_path: Path) -> None:
    policy = always(tmp_path / "policy", -0.9, decides_from_bdps=2.0)  # it shrinks every window
    assert delay_ns(policy, 150_000) == 0
    assert delay_ns(policy, 160_000) > 10_000
    scenario = alone(150_000, controller_counters=True)
    for placement in ("simulator", "python"):
        assert decisions_taken(outcome(policy, scenario, placement)) == 0


def test_sparse_telemetry_costs_its_bytes_on_as_few_packets_as_were_asked_for(tmp_path: Path) -> None:
    packets, bytes_ = 1000, {}
    for every in (0.0, 0.2, 1e5):  # the last: only the first packet
        policy = always(tmp_path / f"{every}", 0.9, telemetry_every_rtts=every)
        bytes_[every] = outcome(policy, alone(1000 * packets))["totals"]["end_ns"] * RATE / 8e9
    carried = {every: 1 + (took - bytes_[1e5]) / CARRIED for every, took in bytes_.items()}
    assert carried[0.0] == pytest.approx(packets, rel=0.05)
    assert carried[0.2] == pytest.approx(5 * packets * 1048 / 78_000, rel=0.15)


def test_a_flow_decides_at_packets_that_carry_telemetry(tmp_path: Path) -> None:
    counted = {}
    for every in (0.0, 0.25, 2.0):
        clock = PerFlowRtt(rtt_fraction=0.5)
        policy = always(tmp_path / f"{every}", 0.9, telemetry_every_rtts=every, clock=clock)
        results = outcome(policy, alone(2_000_000, controller_counters=True))
        counted[every] = decisions_taken(results)
    assert counted[0.25] == pytest.approx(counted[0.0], rel=0.3)
    assert counted[2.0] == pytest.approx(counted[0.0] / 4, rel=0.3)


def test_the_first_window_is_decided_where_the_clock_says_so(tmp_path: Path) -> None:
    rows = {}
    for start_bdps in (0.0, 1.0, 0.5):
        policy = always(tmp_path / f"{start_bdps}", -0.5, clock=PerFlowRtt(start_bdps=start_bdps))
        rows[start_bdps] = outcome(policy, alone(200_000, windows=True))["windows"]
    bdp = rows[0.0][0][2]
    assert rows[0.0][0][0] == 0
    assert rows[0.0][1][0] > 0
    for start_bdps in (1.0, 0.5):
        at_start = [window for time, _, window, _ in rows[start_bdps] if time == 0]
        assert at_start[-1] == pytest.approx(start_bdps * bdp / 1.25)  # 1 / (1 - alpha a), alpha 0.5


CLOCK = PerFlowRtt(rtt_fraction=0.4, start_bdps=0.5)
EIGHT = incast(8, 120_000, spread_ns=20_000, time_limit_ns=4_000_000)


@pytest.mark.parametrize("changes", [{"telemetry_every_rtts": 0.3}, {"decides_from_bdps": 2.0}])
def test_episodes_across_the_channel_spare_what_the_file_will(
    tmp_path: Path, changes: dict[str, float]
) -> None:
    """A learner configured for it observes the same as its policy will."""
    whole, sparing = (
        policy_file(tmp_path / name, "mlp", 12, clock=CLOCK, **keys)
        for name, keys in (("whole", {}), ("sparing", changes))
    )
    policy = NetworkPolicy.load(whole)
    action = dict(policy.spec.action)
    env = EnvConfig(fields=list(policy.fields), action=action, clock=CLOCK, telemetry_bytes=16, **changes)
    scenario = EIGHT.under("agent").model_copy(update={"clock": CLOCK})
    (episode,) = run_policy(policy, env, scenario, seed=1, seeds=[EIGHT.seed])
    assert episode.results["flows"]["fct_ns"] == outcome(sparing, EIGHT)["flows"]["fct_ns"]
    assert episode.results["flows"]["fct_ns"] != outcome(whole, EIGHT)["flows"]["fct_ns"]


@pytest.mark.parametrize("key", ["decides_from_bdps", "telemetry_from_bdps", "telemetry_every_rtts"])
def test_what_cannot_be_is_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises((ConfigError, ValueError), match=key):
        policy_file(tmp_path / "policy", "mlp", 4, **{key: -1.0})

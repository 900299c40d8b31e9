# SPDX-License-Identifier: GPL-2.0-or-later
"""Trained policies inside the simulator, with the same results as across the channel."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.agents.training.checkpoint import env_of
from ns3_env.agents.training.layout import controller_layout, write_layout
from ns3_env.errors import ScenarioError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import AGENT, POLICY, Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from tests.samples.files import dumped
from tests.samples.policy_files import carried_file, lstm_file, mlp_file, rlcc_file

SCENARIO = Scenario(
    time_limit_ns=400_000,
    topology=Dumbbell(senders=4, rate_bps=100e9),
    traffic=Incast(size_bytes=200_000, spread_ns=20_000),
)


def fcts(results: dict[str, Any]) -> list[int]:
    durations: list[int] = results["flows"]["fct_ns"]
    return durations


@pytest.mark.parametrize("make", [mlp_file, lstm_file, carried_file, rlcc_file])
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


def test_returns_and_decisions_are_the_same_too(tmp_path: Path) -> None:
    policy = NetworkPolicy.load(mlp_file(tmp_path / "policy.safetensors"))
    inside, channel = (
        run_policy(policy, env_of(policy.spec), SCENARIO, 7, 2, placement=placement)
        for placement in ("simulator", "python")
    )
    for a, b in zip(inside, channel, strict=True):
        assert a.seed == b.seed
        assert a.decisions == b.decisions > 0
        assert sorted(a.returns) == pytest.approx(sorted(b.returns))
        assert fcts(a.results) == fcts(b.results)


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


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    scenario = dumped(tmp_path / "scenario.yaml", SCENARIO.model_dump(mode="json"))
    return scenario, mlp_file(tmp_path / "policy.safetensors")


def test_eval_run_and_trace_play_a_policys_file(files: tuple[Path, Path], tmp_path: Path) -> None:
    scenario, policy = files
    out = [str(scenario), "--out", str(tmp_path / "run"), "--json", str(tmp_path / "t.json")]
    assert main(["run", *out, "--controllers", "hpcc", "--checkpoint", f"mine={policy}"]) == 0
    assert list(json.loads((tmp_path / "t.json").read_text())) == ["hpcc", "mine"]
    used = yaml.safe_load((tmp_path / "run" / "mine" / "config.yaml").read_text())
    assert used["scenario"]["controllers"][0]["attributes"]["File"] == str(policy)
    traced = ["run", str(scenario), "--trace", "--checkpoint", f"mine={policy}"]
    assert main([*traced, "--out", str(tmp_path / "trace")]) == 0
    assert (tmp_path / "trace" / "mine" / "trace.png").stat().st_size > 10_000


def test_what_a_search_found_is_run_from_its_checkpoint(files: tuple[Path, Path], tmp_path: Path) -> None:
    scenario, policy = files
    checkpoint = tmp_path / "000000000009"
    checkpoint.mkdir()
    shutil.copy(policy, checkpoint / "policy.safetensors")
    write_layout(checkpoint, controller_layout(Controller(name=POLICY)))
    ran = ["run", str(scenario), "--checkpoint", f"found={checkpoint}"]
    assert main([*ran, "--out", str(tmp_path / "run")]) == 0

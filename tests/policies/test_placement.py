# SPDX-License-Identifier: GPL-2.0-or-later
"""Trained policies inside the simulator, with the same results as across the channel."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import Any

import pytest

from ns3_env.agents.training.layout import controller_layout, write_layout
from ns3_env.errors import ScenarioError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.scenario import AGENT, POLICY, Controller, PerFlowRtt, Scenario
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


CLOCK = PerFlowRtt(rtt_fraction=0.4, start_bdps=0.5)
SPARING = ({"telemetry_from_bdps": 1.0}, {"telemetry_every_rtts": 0.3}, {"decides_from_bdps": 1.0}, {})


@pytest.mark.parametrize(
    "make",
    [
        mlp_file,
        lstm_file,
        carried_file,
        rlcc_file,
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


def test_what_a_search_found_is_run_from_its_checkpoint(tmp_path: Path) -> None:
    scenario = dumped(tmp_path / "scenario.yaml", SCENARIO.model_dump(mode="json"))
    checkpoint = tmp_path / "000000000009"
    checkpoint.mkdir()
    shutil.copy(mlp_file(tmp_path / "policy.safetensors"), checkpoint / "policy.safetensors")
    write_layout(checkpoint, controller_layout(Controller(name=POLICY)))
    ran = ["run", str(scenario), "--checkpoint", f"found={checkpoint}"]
    assert main([*ran, "--out", str(tmp_path / "run")]) == 0

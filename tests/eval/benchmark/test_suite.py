# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites: their cells, errors that name the fault, and the known suites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.entries import check, join
from ns3_env.eval.benchmark.suite import Suite, known_suites
from tests.samples.tables import fits, refusals

TINY: dict[str, Any] = {
    "controllers": ["hpcc", {"name": "slow", "controller": "dcqcn", "attributes": {"Gain": 0.125}}],
    "seeds": [3, 4],
    "scenarios": [{"name": "two", "scenario": {"topology": {"kind": "dumbbell", "senders": 2}}}],
}


def suite_of(tmp_path: Path, **changes: Any) -> Suite:
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump({**TINY, **changes}))
    return Suite.load(path)


def test_cells_are_scenarios_by_controllers_by_seeds(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    assert [(entry.name, who.name, seed) for entry, who, seed in suite.cells()] == [
        ("two", "hpcc", 3), ("two", "hpcc", 4), ("two", "slow", 3), ("two", "slow", 4),
    ]  # fmt: skip
    assert suite.entry("hpcc").controller == "hpcc"
    assert suite.entry("slow").attributes == {"Gain": 0.125}


def test_scenario_files_lie_beside_the_suite_and_become_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_ns\n0,2,50000,0\n1,2,50000,7\n")
    (tmp_path / "two.yaml").write_text(
        "topology: {kind: dumbbell, senders: 2}\ntraffic: {kind: csv, file: flows.csv}\n"
    )
    suite = suite_of(tmp_path, scenarios=[{"name": "two", "scenario": "two.yaml"}])
    (tmp_path / "flows.csv").unlink()
    flows = suite.scenario("two").scenario.flows()
    assert (flows.size_bytes, flows.start_ns) == ([50000, 50000], [0, 7])
    again = Suite.from_mapping(suite.model_dump(mode="json"), "again")
    assert again.scenario("two").scenario == suite.scenario("two").scenario


@pytest.mark.parametrize(("content", "sentence"), refusals("suite"), ids=str)
def test_what_is_wrong_is_named(content: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ScenarioError) as error:
        Suite.from_mapping(content, "s.yaml")
    assert fits(sentence, str(error.value)), error.value


@pytest.mark.parametrize(
    ("policies", "checkpoints", "text"),
    [
        (["a/b=a:b"], [], "--policy: the name 'a/b'"),
        (
            ["x=ns3_env.agents.baselines.mpcc"],
            [],
            "policy x: expected pkg.module:name, found 'ns3_env.agents.baselines.mpcc'; for the file or "
            "folder of a trained policy write checkpoint: instead of policy:",
        ),
        (["x=ns3_env.agents.baselines.mpcc:Mpc"], [], "ns3_env.agents.baselines.mpcc has no 'Mpc'; it has "),
        (
            ["x=builtins:dict"],
            [],
            "policy x: builtins:dict() gave dict, which has no fields, action_map, predict",
        ),
        (
            ["x=ns3_env.agents.baselines.constant:ConstantPolicy"],
            [],
            "policy x: ns3_env.agents.baselines.constant:ConstantPolicy() raised TypeError",
        ),
        ([], ["x=runs/none"], "checkpoint: runs/none does not exist: name runs/NAME"),
        ([], ["x=docs"], "checkpoint: docs is neither a checkpoint nor a training run with one"),
    ],
)
def test_a_wrong_policy_or_checkpoint_is_named(
    tmp_path: Path, policies: list[str], checkpoints: list[str], text: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        check(join(suite_of(tmp_path), policies, checkpoints))
    assert text in str(error.value)


def test_a_policy_whose_source_changed_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from ns3_env.agents.baselines.mpcc import MpccPolicy as make\n"
    (tmp_path / "mine_changes.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    suite = join(suite_of(tmp_path), ["mine=mine_changes:make"], [])
    before = check(suite).entry("mine").content
    (tmp_path / "mine_changes.py").write_text(source + "# better\n")
    assert check(suite).entry("mine").content != before


@pytest.mark.parametrize("name", known_suites())
def test_known_suites_resolve_to_what_the_simulator_reads(name: str) -> None:
    suite = Suite.load(name)
    suite.check_controllers()
    assert all(entry.title and entry.group for entry in suite.scenarios)
    for entry in {entry.group: entry for entry in suite.scenarios}.values():
        who = suite.entries_of(entry)[0]
        scenario = entry.scenario.with_seed(suite.seeds[0]).under(str(who.controller))
        assert scenario.to_simulator_json()["flows"]["src"]

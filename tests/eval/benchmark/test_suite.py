# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites and sweeps: their cells, errors that name the fault, and the known suites."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.suite import Suite, check, join, known_suites
from ns3_env.eval.benchmark.sweep import parse_axes, suite_of
from ns3_env.eval.commands.evaluation import main
from tests.samples.tables import fits, refusals

TINY: dict[str, Any] = {
    "controllers": ["hpcc", {"name": "slow", "controller": "dcqcn", "attributes": {"Gain": 0.125}}],
    "seeds": [3, 4],
    "scenarios": [{"name": "two", "scenario": {"topology": {"kind": "dumbbell", "senders": 2}}}],
}


def loaded(tmp_path: Path, **changes: Any) -> Suite:
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump({**TINY, **changes}))
    return Suite.load(path)


def test_cells_are_scenarios_by_controllers_by_seeds(tmp_path: Path) -> None:
    suite = loaded(tmp_path)
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
    suite = loaded(tmp_path, scenarios=[{"name": "two", "scenario": "two.yaml"}])
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
        check(join(loaded(tmp_path), policies, checkpoints))
    assert text in str(error.value)


def test_a_policy_whose_source_changed_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from ns3_env.agents.baselines.mpcc import MpccPolicy as make\n"
    (tmp_path / "mine_changes.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    suite = join(loaded(tmp_path), ["mine=mine_changes:make"], [])
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


SCENARIO: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 2},
    "traffic": {"kind": "incast", "size_bytes": 30_000, "spread_ns": 5_000},
}


@pytest.fixture(autouse=True)
def _without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has separate tests."""
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "two.yaml"
    file.write_text(yaml.safe_dump(SCENARIO))
    return file


def suite_file(folder: Path, **entry: Any) -> Path:
    file = folder / "suite.yaml"
    whole = {"name": "two", "scenario": SCENARIO, **entry}
    file.write_text(yaml.safe_dump({"controllers": ["hpcc", "dctcp"], "seeds": [1, 2], "scenarios": [whole]}))
    return file


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a sweep over a key and an attribute."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "two.yaml").write_text(yaml.safe_dump(SCENARIO))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
        assert sweep(folder / "two.yaml", folder / "run", "topology.senders=2,4", "hpcc.Eta=0.9,0.95") == 0
    return folder / "run"


def sweep(what: Path, out: Path, *axes: str) -> int:
    options = ["--controllers", "hpcc,dctcp", "--seeds", "1-2", "--jobs", "1", "--out", str(out)]
    return main(["benchmark", str(what), "--over", *axes, *options])


def test_every_point_is_played(swept: Path) -> None:
    folder = BenchFolder.read(swept)
    assert folder.complete
    assert {(cell.scenario, cell.controller) for cell in folder.cells} == {
        (f"two-senders-{senders}", who)
        for senders in (2, 4)
        for who in ("hpcc-Eta-0.9", "hpcc-Eta-0.95", "dctcp")
    }
    config = yaml.safe_load(
        (swept / "cells/two-senders-4/hpcc-Eta-0.9/seed-2/config.yaml").read_text(encoding="utf-8")
    )
    assert config["scenario"]["topology"]["senders"] == 4
    assert float(config["scenario"]["controllers"][0]["attributes"]["Eta"]) == 0.9


def test_the_same_sweep_again_plays_nothing_and_a_wider_one_what_is_new(swept: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    shutil.copytree(swept, out)
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(SCENARIO))
    ages = {file: file.stat().st_mtime_ns for file in out.glob("cells/*/*/*/metrics.json")}
    assert sweep(tmp_path / "two.yaml", out, "topology.senders=2,3,4", "hpcc.Eta=0.9,0.95") == 0
    after = {file: file.stat().st_mtime_ns for file in out.glob("cells/*/*/*/metrics.json")}
    assert {file: after[file] for file in ages} == ages
    assert {file.parts[-4] for file in set(after) - set(ages)} == {"two-senders-3"}


def test_a_value_with_a_unit_is_a_number_in_tables_and_itself_in_names(scenario: Path) -> None:
    suite, _ = suite_of(scenario, ["topology.delay_ns=500ns,2us"], ["hpcc"])
    assert [(entry.name, entry.parameters) for entry in suite.scenarios] == [
        ("two-delay_ns-500ns", {"topology.delay_ns": 500}),
        ("two-delay_ns-2us", {"topology.delay_ns": 2000}),
    ]


def test_a_suite_s_scenarios_are_swept_each(tmp_path: Path) -> None:
    file = suite_file(tmp_path, title="Two", controllers=["hpcc"])
    suite, folder = suite_of(file, ["topology.senders=range(2,4)", "hpcc.Eta=0.9,0.95"])
    assert folder == Path("runs/benchmark-suite-senders-Eta")
    assert [entry.title for entry in suite.scenarios] == ["Two, senders 2", "Two, senders 3"]
    assert {(who.of, who.name) for _, who, _ in suite.cells()} == {
        ("hpcc", "hpcc-Eta-0.9"),
        ("hpcc", "hpcc-Eta-0.95"),
    }
    assert suite.scenarios[0].parameters == {"topology.senders": 2}
    again = Suite.from_mapping(suite.model_dump(mode="json"), "again")
    assert again.scenarios == suite.scenarios


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a=1,2", [1, 2]),
        ("a=0.5", [0.5]),
        ("a=range(0.1,0.9,0.2)", [0.1, 0.3, 0.5, 0.7]),
        ("a=range(0,3)", [0, 1, 2]),
        ("a=range(10, 0, -5)", [10, 5]),
        ("a=1e9,25.0e+9", [1e9, 25e9]),
        ("a={kind: incast},x", [{"kind": "incast"}, "x"]),
    ],
)
def test_values_of_an_axis(text: str, values: list[Any]) -> None:
    assert parse_axes([text]) == {"a": values}


@pytest.mark.parametrize("text", ["0-10000", "3-1", "1,1", "-1", "one", "1-", str(2**63)])
def test_seeds_are_a_range_or_a_list(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["benchmark", "quick", f"--seeds={text}"])
    assert "argument --seeds: " in capsys.readouterr().err


def test_what_is_neither_suite_nor_scenario_is_answered_with_both(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"no such file.*dumbbell_100g_4to1.*suites: clusters, failures"):
        suite_of(Path("quik"), ["topology.senders=2"])
    with pytest.raises(ScenarioError, match=r"none\.yaml: No such file"):
        suite_of(tmp_path / "none.yaml", ["topology.senders=2"])

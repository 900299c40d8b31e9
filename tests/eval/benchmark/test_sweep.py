# SPDX-License-Identifier: GPL-2.0-or-later
"""Sweeps: each point of the grid run once, as cells of a benchmark, and errors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.benchmark.sweep import parse_axes, suite_of
from ns3_env.eval.commands.evaluation import main

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

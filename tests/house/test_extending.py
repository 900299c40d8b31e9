# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies and topologies in a user's Python, run only where the command line names them."""

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main, parser
from tests.paths import ROOT
from tests.samples.files import Refused, dumped

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SCENARIO: dict[str, Any] = {
    "name": "three",
    "scenario": {
        "topology": {"kind": "dumbbell", "senders": 3},
        "traffic": {"kind": "incast", "size_bytes": 200000},
        "switch": {"ecn": {"kmin_bytes": 30000, "kmax_bytes": 30000, "pmax": 1.0, "at_rate_bps": 100e9}},
    },
}


@pytest.fixture(autouse=True)
def _without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)


def played(tmp_path: Path, controllers: list[str], *more: str) -> dict[str, dict[str, float]]:
    """Metrics of one cell for each controller."""
    suite = dumped(tmp_path / "suite.yaml", {"controllers": controllers, "scenarios": [SCENARIO]})
    out = tmp_path / "out"
    assert main(["benchmark", str(suite), "--out", str(out), "--jobs", "1", *more]) == 0
    return {cell.controller: cell.metrics for cell in BenchFolder.read(out).cells}


def documented(option: str) -> str:
    """The option's value in the page's command, which the command line accepts."""
    (command,) = re.findall(rf"\$ \.venv/bin/python -m (eval .*{option} .*)", PAGE)
    return str(getattr(parser().parse_args(shlex.split(command)[1:]), option.strip("-"))[0])


def test_the_page_s_topology_is_made_by_its_file_if_the_command_line_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    part = PAGE.split("## A topology or traffic")[1].split("\n## ")[0]
    for kind, name in (("python", "rings.py"), ("yaml", "my.yaml")):
        Path(name).write_text(part.split(f"```{kind}\n")[1].split("```")[0], encoding="utf-8")
    run = ["run", "my.yaml", "--controllers", "hpcc", "--out", "out"]
    assert "would run the code of 'rings:ring'" in refused(main, *run)
    assert "rings has no 'rong'; it has Graph, ring" in refused(main, *run, "topology.kind=rings:rong")
    run.append("topology.kind=rings:ring")
    assert "unexpected keyword argument 'x'" in refused(main, *run, "topology.x=1")
    assert main(run) == 0
    config = yaml.safe_load(Path("out/hpcc/config.yaml").read_text(encoding="utf-8"))
    written = config["scenario"]["topology"]
    assert (written["kind"], len(written["nodes"]), len(written["links"])) == ("graph", 12, 12)


def test_a_policy_joins_by_module_and_factory(tmp_path: Path) -> None:
    cells = played(tmp_path, ["hpcc"], "--policy", documented("--policy"))
    assert set(cells) == {"hpcc", "target-queue"}
    assert cells["target-queue"]["unfinished_flows"] == 0


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """A policy of a module that leaves a trace when imported, and that a suite names."""
    module = f"mine_{len(request.node.name)}"
    lines = ["from pathlib import Path", "from examples.target_queue import make"]
    (tmp_path / f"{module}.py").write_text("\n".join([*lines, "Path('imported').mkdir(exist_ok=True)", ""]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    controllers = ["hpcc", {"name": "mine", "policy": f"{module}:make"}]
    dumped(tmp_path / "suite.yaml", {"controllers": controllers, "scenarios": [SCENARIO]})
    return f"{module}:make"


BENCHMARK = ["benchmark", "suite.yaml", "--out", "out", "--jobs", "1"]


@pytest.mark.parametrize("option", [[], ["--policy=mine=examples.target_queue:make"]])
def test_a_file_imports_nothing_by_itself(mine: str, option: list[str], refused: Refused) -> None:
    error = refused(main, *BENCHMARK, *option)
    assert f"suite.yaml: controllers.1: policy: would run the code of '{mine}'" in error
    assert f"--policy mine={mine}" in error
    assert "--allow-imports" in error
    assert not Path("imported").exists()
    assert not Path("out").exists()


@pytest.mark.parametrize("option", ["--policy=mine={}", "--allow-imports"])
def test_what_the_command_line_names_is_imported_and_no_cells_file_names_it(
    mine: str, option: str, refused: Refused
) -> None:
    assert main([*BENCHMARK, option.format(mine)]) == 0
    shutil.rmtree("imported")
    cell = "out/cells/three/mine/seed-1/config.yaml"
    error = refused(main, "run", cell, "--trace", "--out", "trace")
    assert f"would run the code of '{mine}'; if you trust it: --allow-imports" in error
    assert not Path("imported").exists()

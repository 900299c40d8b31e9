# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own metric that is added by its name if the command line names it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.metrics import METRICS, load_metrics, registry
from tests.paths import ROOT
from tests.samples.files import Refused, dumped
from tests.samples.suites import SUITE

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
(MODULE,) = re.findall(
    r"```python\n(import numpy as np\n\nfrom ns3_env.eval.metrics .*?)```", PAGE, re.DOTALL
)
SCENARIO = SUITE["scenarios"][0]["scenario"]
METRIC = "from ns3_env.eval.metrics import metric\n@metric('g', 'g', 'lower')\n"


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The page's module in the working directory; whatever joins leaves again."""
    monkeypatch.setenv("NS3_ENV_NAMED_CODE", "")
    monkeypatch.setattr(registry, "_JOINED", {})
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = f"mine_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{module}.py").write_text(MODULE)
    metrics = dict(METRICS)
    yield f"{module}:first_done"
    METRICS.clear()
    METRICS.update(metrics)


def test_run_shows_it(mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dumped(tmp_path / "s.yaml", SCENARIO)
    command = ["run", "s.yaml", "--controllers", "hpcc", "--out", "out", "--json", "t.json"]
    assert main([*command, "--metric", mine]) == 0
    assert "first_done" in capsys.readouterr().out
    value = json.loads((tmp_path / "t.json").read_text())["hpcc"]["first_done"]
    assert 0 < value < 1e6


def test_every_process_of_a_benchmark_has_it_and_another_source_plays_again(
    mine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dumped(tmp_path / "suite.yaml", {**SUITE, "seeds": [1], "scenarios": SUITE["scenarios"][:1]})
    command = ["benchmark", "suite.yaml", "--out", "out", "--jobs", "2", "--metric", mine]
    assert main(command) == 0
    assert "first_done" in capsys.readouterr().out
    folder = BenchFolder.read(tmp_path / "out")
    assert [cell.metrics["first_done"] > 0 for cell in folder.cells] == [True] * 2
    assert "own metrics" in folder.versions
    file = tmp_path / f"{mine.partition(':')[0]}.py"
    file.write_text(file.read_text() + "# another\n")
    written = {cell.folder: cell.folder.stat().st_mtime_ns for cell in folder.cells}
    assert main(command) == 0
    assert all(path.stat().st_mtime_ns > then for path, then in written.items())


def test_only_the_command_line_names_code() -> None:
    with pytest.raises(ConfigError, match="would run the code of 'mine:x'"):
        load_metrics(["mine:x"])


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("def f(results): return 1.0", "f", "is no metric: expected a function of an episode's results w"),
        ("f = 3", "f", "is no metric"),
        ("", "f", "has no 'f'"),
        (METRIC + "def goodput(r): return 1", "goodput", "there is a metric 'goodput' already"),
        (METRIC + "def bad(r): return r['no']", "bad", ":bad raised KeyError: 'no'"),
    ],
)
def test_what_is_no_metric_is_one_line(
    text: str, name: str, says: str, mine: str, tmp_path: Path, refused: Refused
) -> None:
    module = mine.partition(":")[0]
    (tmp_path / f"{module}.py").write_text(text)
    dumped(tmp_path / "s.yaml", SCENARIO)
    command = ["run", "s.yaml", "--controllers", "hpcc", "--out", "out"]
    line = refused(main, *command, "--metric", f"{module}:{name}")
    assert "--metric: " in line
    assert says in line

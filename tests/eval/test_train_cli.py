# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``train.py``: training, interrupts, resumption, and refusals."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import train
from export import main as export_main
from ns3_env.agents.configuration.run_folder import Outcome
from ns3_env.agents.training.progress import StopRequest
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main as eval_main
from tests.paths import ROOT
from tests.processes import shared_memory, wait_until
from tests.samples import searches
from tests.samples.files import Refused, rows
from tests.samples.runs import CURRICULUM, checkpoints, the_run, written


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return written(tmp_path)


def test_a_run_leaves_its_folder_and_the_table(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*files, "--json", str(tmp_path / "t.json"), "seed=5"]) == 0
    run = the_run(tmp_path)
    resolved = yaml.safe_load((run / "config.yaml").read_text())
    assert resolved["seed"] == 5
    assert resolved["versions"]["torch"] != "not installed"
    assert list(run.glob("events.out.tfevents.*"))
    assert "episode/return" in rows(run / "progress.csv")[-1]
    output = capsys.readouterr().out
    numbers = json.loads((tmp_path / "t.json").read_text())
    assert set(numbers) == {"fdcc", "hpcc", "constant window"}
    assert f"{numbers['hpcc']['fct_slowdown_avg']:.2f}" in output
    assert re.search(r"^fdcc .* a constant window of one BDP: slowdown × .* over 1 episode", output, re.M)
    assert (run / "evaluation" / "hpcc.flows.csv").exists()
    # The resolved configuration is a configuration, and the evaluation can be done again.
    assert eval_main(["compare", "policy", str(run), "--json", str(tmp_path / "again.json")]) == 0
    assert json.loads((tmp_path / "again.json").read_text()) == numbers


def test_a_run_says_which_stages_it_reached_and_what_reaches_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = written(tmp_path, curriculum=CURRICULUM.replace("after_episodes: 3", "after_episodes: 90"))
    assert train.main([*files, "--no-evaluation"]) == 0
    match = re.search(
        r"^stages reached: two \(1 of 2\); (.* --resume .*) train.decisions=(\d+) should reach four, ",
        capsys.readouterr().out,
        re.M,
    )
    assert match is not None
    resumed = ["--resume", str(the_run(tmp_path)), f"train.decisions={match[2]}", "--no-evaluation"]
    assert train.main(resumed) == 0
    assert "stages reached: two, four (2 of 2)\n" in capsys.readouterr().out


def test_across_the_channel_stages_are_left_by_count(files: list[str], tmp_path: Path) -> None:
    with (tmp_path / "curriculum.yaml").open("a") as file:
        file.write("validation: {every_episodes: 2, episodes: 1, patience: 1}\n")
    assert train.main([*files, "--no-evaluation"]) == 0
    run = the_run(tmp_path)
    state = json.loads((sorted((run / "checkpoints").iterdir())[-1] / "state.json").read_text())
    planned = yaml.safe_load((run / "curriculum.yaml").read_text(encoding="utf-8"))["stages"][0]
    assert state["curriculum"]["entered"] == [0, planned["advance"]["after_episodes"]]
    assert (run / "best.safetensors").exists()  # which policy is the best one is judged all the same


@pytest.mark.alone
def test_an_end_of_its_time_saves_a_checkpoint_and_leaves_nothing_behind(
    files: list[str], tmp_path: Path
) -> None:
    shared = shared_memory()
    command = [sys.executable, str(ROOT / "train.py"), *files, "train.decisions=10000000"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    try:
        wait_until(lambda: len(list((tmp_path / "runs").glob("*/checkpoints/*/state.json"))) >= 2, 60)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children, "simulators are running"
        os.kill(process.pid, signal.SIGTERM)
        _, error = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "--resume" in error
    filenames = {path.name for path in checkpoints(the_run(tmp_path))[-1].iterdir()}
    assert filenames >= {
        *(f"{x}.npz" for x in ("policy", "optimisers", "replay_buffer")),
        "learner.json",
        "state.json",
    }
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert shared_memory() == shared


def test_a_checkpoint_of_other_fields_is_refused(trained: Path, refused: Refused) -> None:
    error = refused(train.main, "--resume", trained, "env.fields=[rtt]")
    assert "layout.json" in error
    assert "fields" in error


SUITE = """
seeds: [1, 2]
controllers: [hpcc]
scenarios:
  - name: "{senders}-to-1"
    grid: {topology.senders: [2, 3]}
    scenario: {topology: {kind: dumbbell}, traffic: {kind: incast, size_bytes: 30000, spread_ns: 5000}}
"""


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Options of an agent that learns and of a search, both tiny, and of a tiny comparison."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    monkeypatch.setattr("ns3_env.eval.comparisons.trained.SUITE", str(tmp_path / "suite.yaml"))
    monkeypatch.setenv("COLUMNS", "80")
    options = []
    for folder in (tmp_path / "agent", tmp_path / "search"):
        folder.mkdir()
        is_agent = folder.name == "agent"
        options.append((written(folder) if is_agent else searches.written(folder, "attributes"))[:4])
    return options


def test_several_configurations_end_in_one_table_one_figure_and_what_to_do_next(
    two: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert train.main([*two[0], *two[1], "seed=3"]) == 0
    output = capsys.readouterr().out
    agent, search = sorted(Path("runs").iterdir(), key=lambda run: (run / "trials.csv").exists())
    for run in (agent, search):
        assert yaml.safe_load((run / "config.yaml").read_text())["seed"] == 3
    table = output[output.index("\ncontroller") : output.index("figure: ")]
    for name in ("hpcc", "tiny", "tiny-untrained", "hpcc-tuned"):
        assert len(re.findall(rf"^ {name} ", table, re.M)) == 2
    assert max(map(len, table.split("\n"))) <= 80
    assert output.count("\ncontroller ") == 1
    assert (agent / "comparison" / "comparison.png").read_bytes().startswith(b"\x89PNG")
    after = output[output.index("next, ") :].split("\n")
    export, run_scenario, curves = (shlex.split(line) for line in after[1:4])
    assert export_main(export[2:]) == 0
    assert eval_main(["run", str(write_scenario(Path("own.yaml"))), *run_scenario[5:]]) == 0
    assert Path("policy.safetensors").exists()
    assert (Path("runs") / "played" / "hpcc-tuned" / "flows.csv").exists()
    assert curves == ["tensorboard", "--logdir", "runs"]


def write_scenario(path: Path) -> Path:
    path.write_text("{topology: {kind: dumbbell, senders: 2}, traffic: {kind: incast, size_bytes: 30000}}")
    return path


def test_several_that_were_interrupted_go_on_to_the_same_table(
    two: list[list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(StopRequest, "outcome", lambda stop, folder: Outcome(folder, True))
        assert train.main([*two[0], *two[1]]) == 130
    (run,) = Path("runs").iterdir()
    again = re.search(r"all of them go on with: \S+ train.py (.*)", capsys.readouterr().err)
    assert again is not None
    assert shlex.split(again[1]) == ["--resume", str(run), *two[1]]
    with monkeypatch.context() as patched:
        patched.setattr("ns3_env.eval.comparisons.trained.benchmark", interrupted)
        assert train.main(shlex.split(again[1])) == 130
    runs = list(Path("runs").iterdir())
    again = re.search(r"all of them go on with: \S+ train.py (.*)", capsys.readouterr().err)
    assert again is not None
    assert train.main(shlex.split(again[1])) == 0
    assert list(Path("runs").iterdir()) == runs
    assert len(BenchFolder.read(run / "comparison").cells) == 16


def interrupted(*arguments: object, **more: object) -> bool:
    raise KeyboardInterrupt


def test_several_that_cannot_be_compared_are_refused_before_they_run(
    two: list[list[str]], tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    both = [*two[0], *two[1]]
    assert "two to compare are called 'tiny'" in refused(train.main, *two[0], *two[0])
    assert "two to compare are called 'hpcc'" in refused(train.main, *both, "name=hpcc")
    assert "--algo and --json are of one run" in refused(train.main, *both, "--json", "t.json")
    assert "each has its --curriculum" in refused(train.main, *two[0], *two[1][:2])
    assert not Path("runs").exists()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``train.py``: training, interrupts, resumption, and refusals."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

import train
from ns3_env.eval.commands.evaluation import main as eval_main
from tests.paths import ROOT
from tests.processes import shared_memory
from tests.samples.runs import CURRICULUM, the_run, written


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
    with (run / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert "episode/return" in rows[-1]
    shown = capsys.readouterr().out
    numbers = json.loads((tmp_path / "t.json").read_text())
    assert set(numbers) == {"fdcc", "hpcc", "constant window"}
    assert f"{numbers['hpcc']['fct_slowdown_avg']:.2f}" in shown
    assert re.search(r"^fdcc .* a constant window of one BDP: slowdown × .* over 1 episode", shown, re.M)
    assert (run / "evaluation" / "hpcc.flows.csv").exists()
    # The resolved configuration is a configuration, and the evaluation can be done again.
    assert eval_main(["compare", "policy", str(run), "--json", str(tmp_path / "again.json")]) == 0
    assert json.loads((tmp_path / "again.json").read_text()) == numbers


@pytest.mark.parametrize("placement", ["simulator", "python"])
def test_the_log_says_where_the_time_goes(files: list[str], tmp_path: Path, placement: str) -> None:
    with (tmp_path / "curriculum.yaml").open("a") as file:
        file.write("validation: {every_episodes: 2, episodes: 1}\n" if placement == "simulator" else "")
    assert (
        train.main([*files, "--no-evaluation", f"env.placement={placement}", "train.log_every_episodes=4"])
        == 0
    )
    with (the_run(tmp_path) / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["time/simulating"]]
    for row in rows:
        shares = [float(row[f"time/{what}"]) for what in ("simulating", "storing", "learning", "validating")]
        assert min(shares) >= 0
        assert 0 < sum(shares) <= 1
    busy = [row for row in rows if float(row["time/learning"]) > 0]
    assert busy
    assert all(float(row["time/gradient_steps_per_s"]) > 0 for row in busy)
    if placement == "simulator":
        assert any(float(row["time/validating"]) > 0 for row in rows)
        assert any(row["validation/score"] for row in rows)
        assert (the_run(tmp_path) / "best.safetensors").exists()


def test_across_the_channel_stages_are_left_by_count(files: list[str], tmp_path: Path) -> None:
    with (tmp_path / "curriculum.yaml").open("a") as file:
        file.write("validation: {every_episodes: 2, episodes: 1, patience: 1}\n")
    assert train.main([*files, "--no-evaluation"]) == 0
    run = the_run(tmp_path)
    state = json.loads((sorted((run / "checkpoints").iterdir())[-1] / "state.json").read_text())
    planned = yaml.safe_load((run / "curriculum.yaml").read_text(encoding="utf-8"))["stages"][0]
    assert state["curriculum"]["entered"] == [0, planned["advance"]["after_episodes"]]
    assert (run / "best.safetensors").exists()  # which policy is the best one is judged all the same


def test_resume_goes_on_with_buffer_and_stage(files: list[str], tmp_path: Path) -> None:
    assert train.main([*files, "--no-evaluation"]) == 0
    run = the_run(tmp_path)
    last = sorted((run / "checkpoints").iterdir())[-1]
    before = json.loads((last / "state.json").read_text())
    assert before["curriculum"]["stage"] == 1
    stored = (last / "replay_buffer.npz").stat().st_size
    assert train.main(["--resume", str(run), "--no-evaluation", "train.decisions=700"]) == 0
    assert the_run(tmp_path) == run
    newest = sorted((run / "checkpoints").iterdir())[-1]
    after = json.loads((newest / "state.json").read_text())
    assert 700 <= after["decisions"] < 800
    assert after["curriculum"]["stage"] == 1
    assert after["curriculum"]["next_index"] > before["curriculum"]["next_index"]
    assert (newest / "replay_buffer.npz").stat().st_size > stored * 1.3


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [("ppo", "{device: nowhere}"), ("td3", "{seed: 4294967296}"), ("sac", "{train_freq: x}")],
)
def test_options_that_an_algorithm_cannot_take_are_a_line(
    files: list[str], algorithm: str, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*files, "--algo", algorithm, f"agent.options={options}"]) == 2
    (line,) = [x for x in capsys.readouterr().err.splitlines() if "Warning" not in x and x.strip()]
    assert f"agent: {algorithm} does not accept its options: " in line


@pytest.mark.parametrize("algorithm", ["td3", "sac", "ppo"])
def test_plain_algorithms_train_on_the_same_flows(files: list[str], algorithm: str) -> None:
    options = {"ppo": "{n_steps: 32, batch_size: 32}"}.get(algorithm, "{learning_starts: 50}")
    code = train.main([*files, "--algo", algorithm, "train.decisions=200", f"agent.options={options}"])
    assert code == 0


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["agent.hiden=8"], ["config.yaml", "agent: unknown key 'hiden'", "'hidden'"]),
        (["env.fields=[rtt, qlne]"], ["config.yaml", "env.fields", "qlne", "qlen"]),
        (["env.reward={name: stagd}"], ["config.yaml", "env.reward", "stagd"]),
        (["env.action={name: multiplicative_window, alpha: -1}"], ["config.yaml", "env.action", "alpha"]),
        (["env.clock={name: synchronous, interval_ns: 0}"], ["config.yaml", "interval_ns"]),
        (["nonsense"], ["command line", "nonsense"]),
        (
            ["evaluation.scenario.traffic.size_bytes=-1"],
            ["config.yaml: evaluation.scenario: traffic.size_bytes"],
        ),
        (["evaluation.returns={time_limit_ns: 0}"], ["config.yaml: evaluation.returns: time_limit_ns"]),
        (["evaluation.controllers=[hpc]"], ["config.yaml: evaluation.controllers.0", "'hpc'", "'hpcc'"]),
        (["--algo", "sac", "env=3"], ["config.yaml: env"]),
        (["env.hang_timeout_s=30"], ["config.yaml: env: 'hang_timeout_s' is gone: --hang-timeout S"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], words: list[str]
) -> None:
    assert train.main([*files, *extra]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    for word in words:
        assert word in error
    assert not (tmp_path / "runs").exists(), "nothing half-written"


def test_a_mistake_in_the_curriculum_names_file_and_stage(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "curriculum.yaml").write_text(CURRICULUM.replace("size_bytes: 50000", "size_bytes: -1"))
    assert train.main(files) == 2
    error = capsys.readouterr().err
    for word in ("curriculum.yaml", "two", "size_bytes"):
        assert word in error
    assert not (tmp_path / "runs").exists()


def test_a_checkpoint_of_other_fields_is_refused(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main([*files, "--no-evaluation", "train.decisions=100"]) == 0
    capsys.readouterr()
    assert train.main(["--resume", str(the_run(tmp_path)), "env.fields=[rtt]"]) == 2
    error = capsys.readouterr().err
    assert "layout.json" in error
    assert "fields" in error


def test_what_never_ends_in_learning_is_a_line(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for option in ("batch_size=-1", "batch_size=0", "train_freq=-1", "buffer_size=0"):
        assert train.main([*files, "--algo", "td3", f"agent.options.{option}"]) == 2
        name, _, value = option.partition("=")
        said = capsys.readouterr().err
        assert f"agent.options: {name}: must be at least 1, is {value}" in said
        assert said.count("\n") == 1


@pytest.mark.alone
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "time is up"])
def test_an_interrupt_saves_a_checkpoint_and_leaves_nothing_behind(
    files: list[str], tmp_path: Path, how: signal.Signals
) -> None:
    shared = shared_memory()
    command = [sys.executable, str(ROOT / "train.py"), *files, "train.decisions=10000000"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            done = list((tmp_path / "runs").glob("*/checkpoints/*/state.json"))
            if len(done) >= 2:
                break
            time.sleep(0.05)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children, "simulators are running"
        os.kill(process.pid, how)
        _, error = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "--resume" in error
    newest = sorted((the_run(tmp_path) / "checkpoints").iterdir())[-1]
    assert {path.name for path in newest.iterdir()} >= {
        "policy.npz",
        "optimisers.npz",
        "replay_buffer.npz",
        "learner.json",
        "state.json",
    }
    assert not any(Path(f"/proc/{child}").exists() for child in children)
    assert shared_memory() == shared

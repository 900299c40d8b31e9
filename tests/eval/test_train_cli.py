# SPDX-License-Identifier: GPL-2.0-or-later
"""The command ``train.py``: training, interrupts, resumption, and refusals."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import train
from ns3_env.eval.commands.evaluation import main as eval_main
from tests.paths import ROOT
from tests.processes import shared_memory, wait_until
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


@pytest.mark.parametrize("placement", ["simulator", "python"])
def test_the_log_says_where_the_time_goes(files: list[str], tmp_path: Path, placement: str) -> None:
    with (tmp_path / "curriculum.yaml").open("a") as file:
        file.write("validation: {every_episodes: 2, episodes: 1}\n" if placement == "simulator" else "")
    changes = [f"env.placement={placement}", "train.log_every_episodes=4"]
    assert train.main([*files, "--no-evaluation", *changes]) == 0
    timed = [row for row in rows(the_run(tmp_path) / "progress.csv") if row["time/simulating"]]
    for row in timed:
        shares = [float(row[f"time/{what}"]) for what in ("simulating", "storing", "learning", "validating")]
        assert min(shares) >= 0
        assert 0 < sum(shares) <= 1
    busy = [row for row in timed if float(row["time/learning"]) > 0]
    assert busy
    assert all(float(row["time/gradient_steps_per_s"]) > 0 for row in busy)
    if placement == "simulator":
        assert any(float(row["time/validating"]) > 0 for row in timed)
        assert any(row["validation/score"] for row in timed)
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
        wait_until(lambda: len(list((tmp_path / "runs").glob("*/checkpoints/*/state.json"))) >= 2, 60)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children, "simulators are running"
        os.kill(process.pid, how)
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


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["agent.hiden=8"], ["config.yaml", "agent: unknown key 'hiden'", "'hidden'"]),
        (["env.fields=[rtt, qlne]"], ["config.yaml", "env.fields", "qlne", "qlen"]),
        (["env.reward={name: stagd}"], ["config.yaml", "env.reward", "stagd"]),
        (["env.action={name: multiplicative_window, alpha: -1}"], ["config.yaml", "env.action", "alpha"]),
        (["env.clock={name: synchronous, interval_ns: 0}"], ["config.yaml", "interval_ns"]),
        (["nonsense"], ["command line", "nonsense"]),
        (["evaluation.scenario.traffic.size_bytes=-1"], ["config.yaml: evaluation.scenario: traffic.size_b"]),
        (["evaluation.returns={time_limit_ns: 0}"], ["config.yaml: evaluation.returns: time_limit_ns"]),
        (["evaluation.controllers=[hpc]"], ["config.yaml: evaluation.controllers.0", "'hpc'", "'hpcc'"]),
        (["--algo", "sac", "env=3"], ["config.yaml: env"]),
        (["--curriculum", "wrong.yaml"], ["wrong.yaml", "two", "size_bytes"]),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    files: list[str],
    tmp_path: Path,
    extra: list[str],
    words: list[str],
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.yaml").write_text(CURRICULUM.replace("size_bytes: 50000", "size_bytes: -1"))
    error = refused(train.main, *files, *extra)
    assert [word for word in words if word not in error] == []
    assert not (tmp_path / "runs").exists(), "nothing half-written"


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("ppo", "={device: nowhere}", "agent: ppo does not accept its options: "),
        ("td3", "={seed: 4294967296}", "agent: td3 does not accept its options: "),
        ("sac", "={train_freq: x}", "agent: sac does not accept its options: "),
        ("td3", ".batch_size=-1", "agent.options: batch_size: must be at least 1, is -1"),
        ("td3", ".batch_size=0", "agent.options: batch_size: must be at least 1, is 0"),
        ("td3", ".train_freq=-1", "agent.options: train_freq: must be at least 1, is -1"),
        ("td3", ".buffer_size=0", "agent.options: buffer_size: must be at least 1, is 0"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_options_that_an_algorithm_cannot_take_are_a_line(
    files: list[str], name: str, option: str, message: str, refused: Refused
) -> None:
    assert message in refused(train.main, *files, "--algo", name, f"agent.options{option}")


def test_a_checkpoint_of_other_fields_is_refused(trained: Path, refused: Refused) -> None:
    error = refused(train.main, "--resume", trained, "env.fields=[rtt]")
    assert "layout.json" in error
    assert "fields" in error

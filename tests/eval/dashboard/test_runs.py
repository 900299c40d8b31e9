# SPDX-License-Identifier: GPL-2.0-or-later
"""What the dashboard reads of runs: only what is new, and whatever state the files are in."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.commands import evaluation, train
from ns3_env.eval.dashboard.runs import Follower, find_runs
from ns3_env.eval.dashboard.server import Dashboard
from ns3_env.eval.training.progress_file import read_progress
from tests.eval.dashboard import samples
from tests.paths import ROOT


def of(run: Path, follower: Follower | None = None, **known: tuple[int, int]) -> dict[str, Any]:
    (found,) = (follower or Follower()).state([run], known)
    return found


def fetch(address: str, path: str = "", host: str | None = None) -> tuple[str, str]:
    request = urllib.request.Request(address + path, headers={} if host is None else {"Host": host})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_only_new_rows_are_sent(tmp_path: Path) -> None:
    run, follower = samples.write(tmp_path / "a"), Follower()
    first = of(run, follower)
    assert (first["from"], len(first["rows"])) == (0, 6)
    assert of(run, follower, a=(6, first["edition"]))["rows"] == []
    samples.add(run, samples.row(7) + "\n")
    second = of(run, follower, a=(6, first["edition"]))
    assert (second["from"], [row[0] for row in second["rows"]]) == (6, [700])


def test_all_rows_are_sent_again_where_the_page_has_others(tmp_path: Path) -> None:
    run, follower = samples.write(tmp_path / "a"), Follower()
    before = of(run, follower)
    assert of(run, follower, a=(6, 1))["from"] == 0
    assert of(run, follower, a=(9, before["edition"]))["from"] == 0
    assert of(run, a=(6, before["edition"]))["from"] == 0, "another server"
    samples.add(run, samples.row(7) + ",5\n")  # a column more: the file is written anew
    text = (run / "progress.csv").read_text()
    (run / "progress.csv").write_text(text.replace(samples.MORE, f"{samples.MORE},train/critic_loss"))
    after = of(run, follower, a=(6, before["edition"]))
    assert (after["from"], len(after["rows"])) == (0, 7)
    assert after["rows"][-1][after["columns"].index("train/critic_loss")] == 5


def test_a_line_counts_once_it_is_whole(tmp_path: Path) -> None:
    run = samples.write(tmp_path / "a")
    samples.add(run, "700,140")
    assert len(of(run)["rows"]) == 6
    samples.add(run, "," * 7 + "\n")
    assert of(run)["rows"][-1][:2] == [700, 140]


@pytest.mark.parametrize(
    "text", [None, "", "time/total_timesteps", "\0\xff\n\n,,\n", f"{samples.HEADER}\n,,nan,,x,\n"]
)
def test_a_log_that_is_not_there_or_broken_has_no_rows(tmp_path: Path, text: str | None) -> None:
    run = samples.write(tmp_path / "a")
    (run / "progress.csv").unlink()
    (run / "config.yaml").write_text("[")
    if text is not None:
        (run / "progress.csv").write_text(text, encoding="latin-1")
    found = of(run)
    json.dumps(found, allow_nan=False)
    assert not any(value is not None for row in found["rows"] for value in row)


def test_what_was_given_up_when_a_run_went_on_is_not_shown(tmp_path: Path) -> None:
    run = samples.write(tmp_path / "a")
    lines = [samples.MORE, samples.row(5, 2.0), samples.row(6, 2.0)]
    (run / "progress-400.csv").write_text("\n".join(lines) + "\n")
    rows = read_progress(run)
    assert [row["time/total_timesteps"] for row in rows] == [100, 200, 300, 400, 500, 600]
    assert [row["train/actor_loss"] for row in rows] == [1, 2, 3, 4, 10, 12]


def test_a_folder_of_runs_stands_for_them(tmp_path: Path) -> None:
    runs = [samples.write(tmp_path / name) for name in "ab"]
    assert find_runs([tmp_path]) == runs
    assert find_runs([runs[1], tmp_path]) == [runs[1], runs[0]]
    with pytest.raises(ConfigError, match="neither the folder of a training run nor"):
        find_runs([tmp_path / "c"])
    other = samples.write(tmp_path / "more" / "a")
    assert [run["name"] for run in Follower().state([runs[0], other])] == [str(runs[0]), str(other)]


def test_nothing_but_the_page_and_its_data_is_served_and_to_this_machine_alone(tmp_path: Path) -> None:
    run = samples.write(tmp_path / "a")
    with Dashboard(lambda: [run]) as dashboard:
        assert dashboard.address.startswith("http://127.0.0.1:")
        kind, page = fetch(dashboard.address)
        assert kind.startswith("text/html")
        markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
        assert not any(text in markup for text in ("src=", "url(", "@import"))
        assert len(json.loads(fetch(dashboard.address, "data")[1])["runs"][0]["rows"]) == 6
        for path, host in (
            ("config.yaml", None),
            ("../a/config.yaml", None),
            ("data", "elsewhere.example:80"),
        ):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                fetch(dashboard.address, path, host)
        with pytest.raises(ConfigError, match="--port"):
            Dashboard(lambda: [run], int(dashboard.address.rpartition(":")[2].rstrip("/")))


def test_a_folder_that_goes_leaves_what_was_shown(tmp_path: Path) -> None:
    run = samples.write(tmp_path / "runs" / "a")
    with Dashboard(lambda: find_runs([tmp_path / "runs"])) as dashboard:
        fetch(dashboard.address, "data")
        run.rename(tmp_path / "b")
        assert json.loads(fetch(dashboard.address, "data")[1])["runs"][0]["rows"] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "eval", "plot", "dashboard", str(samples.write(tmp_path / "a"))]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job inherits that SIGINT is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert "dashboard: http://127.0.0.1:" in process.stdout.readline()
    process.send_signal(number)
    assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0


def test_what_is_no_run_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluation.main(["plot", "dashboard", str(tmp_path)]) == 2
    assert "neither the folder of a training run nor" in capsys.readouterr().err


def test_a_training_serves_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    leave = Dashboard.__exit__

    def look(self: Dashboard, *error: object) -> None:
        seen.extend(json.loads(fetch(self.address, "data")[1])["runs"])
        leave(self, *error)

    monkeypatch.setattr(Dashboard, "__exit__", look)
    given = ["--config", "configs/fdcc.yaml", "--curriculum", "curricula/incast.yaml", "--no-evaluation"]
    small = ["train.decisions=1500", "train.log_every_episodes=2", "agent.learning_starts=1000"]
    monkeypatch.chdir(ROOT)
    assert train.main([*given, *small, "--runs", str(tmp_path), "--dashboard"]) == 0
    (run,) = seen
    assert run["agent"] == "fdcc"
    assert run["stages"][0] == "2-to-1"
    assert [len(row) for row in run["rows"]] == [len(run["columns"])] * len(run["rows"])
    assert run["kept"] >= 1500
    assert (
        read_progress(tmp_path / run["name"])[-1]["episode/reward"]
        == run["rows"][-1][run["columns"].index("episode/reward")]
    )

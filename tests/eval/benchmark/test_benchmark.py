# SPDX-License-Identifier: GPL-2.0-or-later
"""Benchmarks: every cell run once, finished cells reused, failed and missing cells reported."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ns3_env.config.folders import LOCK
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark import runner
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.metrics import METRICS
from tests.paths import ROOT
from tests.processes import alive, descendants, wait_until
from tests.samples.files import rows
from tests.samples.suites import SUITE, contents, suite_file


def run(suite: Path, out: Path, *more: str) -> int:
    return main(["benchmark", str(suite), "--out", str(out), "--jobs", "1", *more])


@pytest.fixture(autouse=True)
def _without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has separate tests."""
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete folder, by two processes."""
    folder = tmp_path_factory.mktemp("done")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ns3_env.eval.report.write", lambda out, *more: out)
        assert run(suite_file(folder), folder / "out", "--jobs", "2") == 0
    return folder / "out"


@pytest.fixture
def copy(done: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(done, tmp_path / "out"))


def test_a_log_says_how_many_cells_are_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FIRST_S", "MOST_S"):
        monkeypatch.setattr(f"ns3_env.eval.output.progress.{name}", 0.01)
    line, write = runner._View.line, runner._write
    lines: list[str] = []

    def noted(view: runner._View) -> str:
        lines.append(line(view))
        return lines[-1]

    def held(*cells: Any) -> None:
        """Puts cells in place when a line was requested that counts all cells before them."""
        line_count = len(lines)
        assert wait_until(lambda: len(lines) > line_count + 1)
        write(*cells)

    monkeypatch.setattr(runner._View, "line", noted)
    monkeypatch.setattr(runner, "_write", held)
    assert run(suite_file(tmp_path, scenarios=SUITE["scenarios"][:1]), tmp_path / "out") == 0
    output = capsys.readouterr().out
    assert re.search(r"^0 of 4 cells done, \d running, 0 failed; 0:\d\d so far$", output, re.MULTILINE)
    assert re.search(
        r"^[1-3] of 4 cells done, . running, 0 failed, about \d:\d\d left; ", output, re.MULTILINE
    )


def test_every_cell_has_its_folder(done: Path) -> None:
    folder = BenchFolder.read(done)
    assert folder.complete
    assert not folder.stale
    assert len(folder.cells) == 8
    for cell in folder.cells:
        assert list(cell.metrics) == [name for name, metric in METRICS.items() if not metric.section]
        expected = {"metrics.json", "config.yaml", "flows.csv", "queues.csv", "queue_cdf.csv"}
        expected |= {"series.csv"} if cell.scenario == "incast" and cell.seed == 1 else set()
        assert cell.metrics["dropped_packets"] == 0
        assert {path.name for path in cell.folder.iterdir()} == expected
        flows = rows(cell.folder / "flows.csv")
        fct = [float(x["fct_ns"]) / float(x["standalone_ns"]) for x in flows]
        assert cell.metrics["fct_slowdown_avg"] == pytest.approx(np.mean(fct))
        assert {"end_ns", "acked_bytes", "retransmitted_bytes", "pause_ns", "timeouts"} <= set(flows[0])
        shares = [float(x["cdf"]) for x in rows(cell.folder / "queue_cdf.csv")]
        assert shares == sorted(shares)
        assert shares[-1] == 1
        config = yaml.safe_load((cell.folder / "config.yaml").read_text())
        assert config["scenario"]["seed"] == cell.seed
        assert config["controller"]["name"] == cell.controller
    series = rows(done / "cells/incast/hpcc/seed-1/series.csv")
    assert {x["kind"] for x in series} == {"queue", "rate", "window"}
    assert {x["id"] for x in series if x["kind"] == "rate"} == {"0", "1", "2"}


def test_results_do_not_depend_on_which_process_played_a_cell(done: Path, tmp_path: Path) -> None:
    assert run(suite_file(tmp_path), tmp_path / "out", "--jobs", "1") == 0
    assert contents(tmp_path / "out") == contents(done)


def test_what_is_done_is_not_done_again(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = copy / "cells/incast/dctcp/seed-2"
    shutil.rmtree(gone)
    remaining = copy / "cells/incast/hpcc/seed-1"
    (gone.parent / ".seed-1.123.partial").mkdir()  # a crash leaves this behind
    assert BenchFolder.read(copy).missing == [("incast", "dctcp", 2)]
    written = (remaining / "metrics.json").stat().st_mtime_ns
    assert run(suite_file(copy.parent), copy) == 0
    assert (remaining / "metrics.json").stat().st_mtime_ns == written
    assert BenchFolder.read(copy).complete
    assert not list(copy.rglob("*.partial"))
    output = capsys.readouterr().out
    assert "incast" in output
    headings = output.split("───")[0].split()
    assert {"slowdown", "vs", "best", "goodput"} <= set(headings)


def test_a_cell_of_another_version_or_suite_is_stale_and_never_counted(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = copy / "cells/incast/hpcc/seed-1/metrics.json"
    file.write_text(file.read_text().replace('"fingerprint": "', '"fingerprint": "0'))
    shutil.copytree(copy / "cells/apart/hpcc", copy / "cells/apart/timely")
    folder = BenchFolder.read(copy)
    assert {cell.key for cell in folder.stale} == {
        ("incast", "hpcc", 1), ("apart", "timely", 1), ("apart", "timely", 2),
    }  # fmt: skip
    assert folder.missing == [("incast", "hpcc", 1)]
    assert run(suite_file(copy.parent), copy) == 0
    assert len(BenchFolder.read(copy).stale) == 2
    assert "2 cells are of another suite or version and not counted" in capsys.readouterr().out


def test_a_changed_scenario_is_played_again(copy: Path) -> None:
    scenarios = [SUITE["scenarios"][0], {**SUITE["scenarios"][1]}]
    scenarios[1]["scenario"] = {**scenarios[1]["scenario"], "payload_bytes": 500}
    untouched = (copy / "cells/incast/hpcc/seed-1/metrics.json").stat().st_mtime_ns
    assert run(suite_file(copy.parent, scenarios=scenarios), copy) == 0
    assert (copy / "cells/incast/hpcc/seed-1/metrics.json").stat().st_mtime_ns == untouched
    config = yaml.safe_load((copy / "cells/apart/hpcc/seed-1/config.yaml").read_text())
    assert config["scenario"]["payload_bytes"] == 500


MISBEHAVING = (
    ("Raises", "ZeroDivisionError: the user's own mistake"),
    ("KillsWorker", "the worker process was killed by signal 9"),
    ("KillsSimulator", "SimulatorDied: the simulator"),
)


def test_a_cell_that_fails_fails_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies = [f"--policy={name}=tests.eval.benchmark.bench_policies:{name}" for name, _ in MISBEHAVING]
    broken = {"name": "broken", "controller": "dcqcn", "attributes": {"Gain": "much"}}
    changes = {"seeds": [1], "scenarios": SUITE["scenarios"][:1]}
    suite = suite_file(tmp_path, controllers=["hpcc", broken, "dctcp"], **changes)
    assert run(suite, tmp_path / "out", "--jobs", "2", *policies) == 1
    folder = BenchFolder.read(tmp_path / "out")
    assert [cell.controller for cell in folder.cells] == ["hpcc", "dctcp"]
    assert not folder.missing
    for name, text in (*MISBEHAVING, ("broken", "much")):
        assert text in folder.failed["incast", name, 1]
    output = capsys.readouterr().out
    assert "failed: incast / KillsWorker / seed 1" in output.replace("\n", " ")
    # After the mistake is fixed, the same folder continues.
    mended = {**broken, "attributes": {"Gain": 0.5}}
    assert run(suite_file(tmp_path, controllers=["hpcc", mended], **changes), tmp_path / "out") == 0
    assert not list((tmp_path / "out/failed").rglob("broken/*.txt"))


def test_a_cell_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    traffic = {"kind": "incast", "size_bytes": 10**12}
    endless = {"name": "endless", "scenario": {"traffic": traffic, "time_limit_ns": 10**11}}
    changes = {"seeds": [1], "controllers": ["dctcp"], "timeout_s": 3}  # a worker's imports are in it
    suite = suite_file(tmp_path, scenarios=[SUITE["scenarios"][0], endless], **changes)
    assert run(suite, tmp_path / "out") == 1
    folder = BenchFolder.read(tmp_path / "out")
    assert [cell.scenario for cell in folder.cells] == ["incast"]
    assert folder.failed["endless", "dctcp", 1] == "took longer than the suite's timeout_s, 3 s\n"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "crash"])
def test_an_end_amid_cells_leaves_a_folder_to_go_on_with(tmp_path: Path, how: signal.Signals) -> None:
    suite, out = suite_file(tmp_path), tmp_path / "out"
    command = [sys.executable, "-m", "eval", "benchmark", str(suite), "--out", str(out)]
    sleeper = ["--jobs", "2", "--policy", "sleeper=tests.eval.benchmark.bench_policies:Sleeps"]
    process = subprocess.Popen(
        [*command, *sleeper],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # A shell's background job inherits that SIGINT is ignored; this is about one that is not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        # The costliest cells, the sleeper's, come first and occupy both workers, each with a simulator; the
        # process that workers are forked from is a fifth, and Python starts one itself.
        # They come and go (a program that lists controllers is one): the processes at the same instant count.
        deadline = time.monotonic() + 30
        while True:
            children = list(descendants(process.pid))
            workers = sum(map(never_sees_ctrl_c, children))
            if (len(children) >= 6 and workers >= 3) or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        assert workers >= 3, "the workers: else they print what interrupted them"
        if how != signal.SIGKILL:
            os.killpg(process.pid, how)  # like a terminal or a batch system
        else:
            process.kill()
    except BaseException:
        process.kill()  # its workers end with it
        raise
    try:
        output, _ = process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        survivors = [
            Path(f"/proc/{pid}/cmdline").read_text() for pid in (process.pid, *children) if alive(pid)
        ]
        process.kill()
        raise AssertionError(f"20 s later there are still {survivors}") from None
    if how != signal.SIGKILL:
        assert process.returncode == 130
        assert [line for line in output.split("\n") if not line.endswith(" so far")] == [
            "0 of 12 cells are done; the same command goes on from here.",
            "interrupted",
            "",
        ]
        assert not list(out.rglob("*.partial"))
    assert wait_until(lambda: not any(map(alive, children)))
    assert len(BenchFolder.read(out).missing) == 12
    assert run(suite, out) == 0
    assert BenchFolder.read(out).complete


def never_sees_ctrl_c(pid: int) -> bool:
    """A worker, or its fork server, that blocks SIGINT (proc(5), SigBlk); Python's resource tracker
    ignores it by itself."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False  # it has ended
    blocked = int(status.split("SigBlk:")[1].split()[0], 16)
    worker = b"forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return worker and bool(blocked >> (signal.SIGINT - 1) & 1)


def test_two_benchmarks_do_not_share_a_folder(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (copy / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert run(suite_file(copy.parent), copy) == 2
    assert "another benchmark is running" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda out: (out / "suite.yaml").unlink(), "not a benchmark's folder: suite.yaml: No such file"),
        (lambda out: replace(out / "suite.yaml", "format: 1", "format: 7"), "format 7, written by another"),
        (lambda out: replace(out / "suite.yaml", "format: 1", "fromat: 1"), "no key 'format'"),
        (lambda out: replace(out / "suite.yaml", "seeds:", "seeds: 3\nsaads:"), "unknown key 'saads'"),
        (
            lambda out: (out / "cells/incast/hpcc/seed-1/metrics.json").write_text("{"),
            "seed-1/metrics.json: not a cell's metrics; remove",
        ),
    ],
)
def test_a_damaged_folder_is_named(copy: Path, change: Any, text: str) -> None:
    change(copy)
    with pytest.raises(ScenarioError) as error:
        BenchFolder.read(copy)
    assert text in str(error.value)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))

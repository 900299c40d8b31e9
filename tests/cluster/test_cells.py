# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a benchmark on Ray against the local pool's, also when workers, nodes or drivers die."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import ray
from ray._private.ray_constants import DEFAULT_TASK_MAX_RETRIES
from ray.exceptions import RaySystemError

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.commands.evaluation import main
from tests.cluster.nodes import Head, options
from tests.paths import ROOT
from tests.processes import descendants, wait_until
from tests.samples.files import Refused
from tests.samples.suites import SUITE, contents, suite_file

pytestmark = pytest.mark.usefixtures("without_report")


@pytest.fixture
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has separate tests."""
    monkeypatch.setattr("ns3_env.eval.report.write", lambda out, *more: out)


def started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "eval", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def until(
    happened: Callable[[], bool], what: str, driver: subprocess.Popen[str], patience_s: float = 60.0
) -> None:
    if not wait_until(happened, patience_s):
        driver.kill()
        pytest.fail(f"{what}: {driver.communicate()[0]}")


def test_cells_are_those_of_the_local_pool_and_a_killed_node_loses_none(
    head: Head, meeting: Path, tmp_path: Path
) -> None:
    policies = ["--policy=waits=tests.cluster.policies:Waits", "--checkpoint=c=dispatcher"]
    suite = suite_file(tmp_path, seeds=[1])
    second = head.another()
    try:
        driver = started(*options(suite, tmp_path / "ray", "--ray", head.address), *policies)
        # Each node has one core: two cells that run, and wait, are one on each.
        until(lambda: len(list(meeting.glob("*.plays"))) == 2, "both nodes get work", driver)
        node_pids = set(descendants(second.process.pid))
        players = {int(path.stem) for path in meeting.glob("*.plays")}
        assert len(players & node_pids) == 1
    finally:
        second.kill()
    (meeting / "go").touch()
    output, _ = driver.communicate(timeout=90)
    assert driver.returncode == 0, output
    assert BenchFolder.read(tmp_path / "ray").complete
    assert main(options(suite, tmp_path / "local", *policies)) == 0
    here, there = contents(tmp_path / "local"), contents(tmp_path / "ray")
    assert here == there
    assert len(BenchFolder.read(tmp_path / "local").cells) == 8


def test_a_worker_that_dies_costs_a_retry_and_what_fails_fails_alone(
    head: Head, meeting: Path, tmp_path: Path
) -> None:
    suite = suite_file(tmp_path, seeds=[1], controllers=["hpcc"], scenarios=SUITE["scenarios"][:1])
    policies = [f"--policy={name}=tests.cluster.policies:{name}" for name in ("DiesOnce", "DiesAlways")]
    assert main(options(suite, tmp_path / "out", "--ray", head.address, *policies)) == 1
    folder = BenchFolder.read(tmp_path / "out")
    assert [cell.controller for cell in folder.cells] == ["hpcc", "DiesOnce"]
    assert "on the Ray cluster: WorkerCrashedError" in folder.failed["incast", "DiesAlways", 1]
    assert len(list(meeting.glob("*.died"))) == 1 + DEFAULT_TASK_MAX_RETRIES


def test_a_cell_that_takes_too_long_is_ended(head: Head, tmp_path: Path) -> None:
    traffic = {"kind": "incast", "size_bytes": 10**12}
    endless = {"name": "endless", "scenario": {"traffic": traffic, "time_limit_ns": 10**9}}
    changes = {"seeds": [1], "controllers": ["dctcp"], "timeout_s": 1}
    suite = suite_file(tmp_path, scenarios=[SUITE["scenarios"][0], endless], **changes)
    assert main(options(suite, tmp_path / "out", "--ray", head.address)) == 1
    folder = BenchFolder.read(tmp_path / "out")
    assert [cell.scenario for cell in folder.cells] == ["incast"]
    assert folder.failed["endless", "dctcp", 1] == "took longer than the suite's timeout_s, 1 s\n"


def test_a_cluster_that_is_gone_is_named_and_so_is_what_goes_on(
    head: Head, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(ref: object) -> None:
        raise RaySystemError("broken pipe")

    monkeypatch.setattr(ray, "get", gone)
    suite = suite_file(tmp_path, seeds=[1], scenarios=SUITE["scenarios"][:1])
    assert main(options(suite, tmp_path / "out", "--ray", head.address)) == 2
    assert capsys.readouterr().err == (
        "error: the Ray cluster is gone (System error: broken pipe); with one that runs, the same command "
        "goes on from here\n"
    )


def test_the_same_command_goes_on_after_the_driver_s_end(head: Head, meeting: Path, tmp_path: Path) -> None:
    suite, out = suite_file(tmp_path, seeds=[1], scenarios=SUITE["scenarios"][:1]), tmp_path / "out"
    waits = "--policy=waits=tests.cluster.policies:Waits"
    command = options(suite, out, "--ray", head.address, waits, "--jobs=1")
    driver = started(*command)
    until(lambda: len(list(meeting.glob("*.plays"))) == 1, "a cell begins", driver)
    worker = int(next(meeting.glob("*.plays")).stem)
    driver.kill()
    driver.communicate(timeout=30)
    until(lambda: not Path(f"/proc/{worker}").exists(), "what the driver began ends with it", driver, 20)
    assert not list(out.rglob("*.partial"))
    (meeting / "go").touch()
    assert main(command) == 0
    assert BenchFolder.read(out).complete


def test_an_address_where_nobody_answers_is_an_error_in_seconds(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    suite, out = suite_file(tmp_path), tmp_path / "out"
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        for address in (f"127.0.0.1:{mute.getsockname()[1]}", "nonsense", "ray://h:1"):
            start_s = time.monotonic()
            message = refused(main, *options(suite, out, "--ray", address))
            assert f"--ray: no Ray cluster answers at {address!r} (" in message
            assert "`ray start --head`" in message
            assert time.monotonic() - start_s < 10
    assert not out.exists()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Order of flushes and renames when files and folders are written, full disks, and SIGTERM."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.search.trials import Trial, TrialLog
from ns3_env.agents.trainer.arrays import write_arrays
from ns3_env.config.command_line import guarded
from ns3_env.config.files import write_atomically, write_file
from ns3_env.config.folders import replace_folder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """("flushed", path) and ("named", path), in their order; a path is the one it had then."""
    done: list[tuple[str, str]] = []
    fsync, replace = os.fsync, os.replace

    def flushed(number: int) -> None:
        done.append(("flushed", os.readlink(f"/proc/self/fd/{number}")))
        fsync(number)

    def named(partial: Path, final: Path) -> None:
        done.append(("named", str(final)))
        replace(partial, final)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", named)
    return done


def two_files(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "a").write_text("a")
    (folder / "sub" / "b").write_text("b")


def save_checkpoint(folder: Path) -> Path:
    run = RunFolder(folder)
    run.checkpoints.mkdir()
    return run.save_checkpoint(5, two_files, {}, 1)


def finish_cell(folder: Path) -> Path:
    replace_folder(folder / "cell", two_files)
    return folder / "cell"


@pytest.mark.parametrize("make", [save_checkpoint, finish_cell])
def test_a_folder_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, calls: list[tuple[str, str]], make: Callable[[Path], Path]
) -> None:
    made = make(tmp_path)
    at = calls.index(("named", str(made)))
    before = {Path(path).name for what, path in calls[:at] if what == "flushed"}
    assert {path.name for path in made.rglob("*")} <= before
    assert any(name.endswith(".partial") for name in before), "the folder's own names"
    assert ("flushed", str(made.parent)) in calls[at + 1 :]


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, calls: list[tuple[str, str]]) -> None:
    write_atomically(tmp_path / "x", "text")
    partial = str(tmp_path / ".x.partial")
    assert calls == [
        ("flushed", partial), ("named", str(tmp_path / "x")), ("flushed", str(tmp_path)),
    ]  # fmt: skip
    calls.clear()
    TrialLog(tmp_path / "trials.csv", ["A"]).add(Trial(0, {"A": 1}, 0.5))
    assert [what for what, _ in calls] == ["flushed", "named", "flushed"]


def test_an_unfinished_file_is_written_through_no_link(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("notes")
    (tmp_path / ".x.partial").symlink_to(mine)
    write_atomically(tmp_path / "x", "text")
    assert mine.read_text() == "notes"
    assert (tmp_path / "x").read_text() == "text"
    assert not (tmp_path / "x").is_symlink()


@pytest.fixture
def full_disk() -> Iterator[None]:
    """No file may have more than 1000 B: what a full disk does, with another reason."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


MUCH = "x" * 5000


def cell(folder: Path) -> None:
    replace_folder(folder / "a", lambda partial: write_file(partial / "flows.csv", MUCH))


@pytest.mark.parametrize(
    ("write", "named"),
    [
        (lambda folder: write_atomically(folder / "a.json", MUCH), "a.json"),
        (lambda folder: write_file(folder / "a.csv", MUCH), "a.csv"),
        (lambda folder: write_arrays(folder / "a.npz", {"x": np.zeros(9000)}), "a.npz"),
        (cell, "a/flows.csv"),
    ],
)
def test_what_cannot_be_written_is_a_line_that_names_it(
    write: Callable[[Path], None],
    named: str,
    tmp_path: Path,
    full_disk: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def work() -> int:
        write(tmp_path)
        return 0

    assert guarded(work) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / named}: File too large\n"
    assert not list(tmp_path.glob(".*"))  # nothing half-written takes room


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_an_output_folder_that_is_a_file_is_said_so(
    out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    def work() -> int:
        (tmp_path / out).mkdir(parents=True, exist_ok=True)
        return 0

    assert guarded(work) == 2
    wanted = f"error: {tmp_path / 'file'} is a file, where a folder is to be: name another\n"
    assert capsys.readouterr().err == wanted


def test_sigterm_is_ctrl_c_to_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)

    def work() -> int:
        signal.raise_signal(signal.SIGTERM)
        return 0

    assert guarded(work) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGTERM) == before

# SPDX-License-Identifier: GPL-2.0-or-later
"""Is everything on the disk before it has its name? The calls that a power cut would come between."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ns3_env.agents.search.trials import Trial, TrialLog
from ns3_env.agents.training.run_folder import RunFolder
from ns3_env.durable import write_atomically
from ns3_env.eval.play.folders import replace_folder


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

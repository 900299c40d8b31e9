# SPDX-License-Identifier: GPL-2.0-or-later
"""Learning curves of runs, read from their logs and drawn together."""

from __future__ import annotations

from pathlib import Path

import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.training.learning_curves import read_curve


def run(folder: Path, text: str) -> Path:
    """A run's folder with such a log."""
    folder.mkdir()
    (folder / "progress.csv").write_text(text, encoding="utf-8")
    return folder


def test_validations_count_where_there_are_some(tmp_path: Path) -> None:
    text = "time/total_timesteps,episode/reward,validation/score\n10,1,\n20,2,5\n30,3,\n40,4,6\n"
    curve = read_curve(run(tmp_path / "a", text))
    assert (curve.at.tolist(), curve.score.tolist()) == ([20, 40], [5, 6])
    assert curve.judged == "score on held-back episodes"
    plain = read_curve(run(tmp_path / "b", "time/total_timesteps,episode/reward\n10,1\n20,2\n"))
    assert (plain.at.tolist(), plain.score.tolist()) == ([10, 20], [1, 2])


def test_a_run_that_went_on_is_one_curve(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", "tuning/generation,validation/score\n0,1\n5,2\n")
    (folder / "progress-5.csv").write_text("tuning/generation,validation/score\n10,3\n", encoding="utf-8")
    assert read_curve(folder).at.tolist() == [0, 5, 10]


def test_the_command_draws_seeds_together(tmp_path: Path) -> None:
    text = "tuning/generation,validation/score\n0,{}\n5,{}\n"
    runs = [run(tmp_path / str(i), text.format(i, 2 * i)) for i in range(3)]
    assert main(["plot", "learning", *map(str, runs), "--out", str(tmp_path / "curve.png")]) == 0
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_what_has_no_curve_or_another_is_refused(tmp_path: Path) -> None:
    one = run(tmp_path / "a", "tuning/generation,validation/score\n0,1\n5,2\n")
    other = run(tmp_path / "b", "time/total_timesteps,episode/reward\n10,1\n20,2\n")
    (tmp_path / "c").mkdir()
    with pytest.raises(ConfigError, match=r"c: has no progress\.csv with a score"):
        read_curve(tmp_path / "c")
    out = str(tmp_path / "curve.png")
    assert main(["plot", "learning", str(one), str(other), "--out", out]) != 0

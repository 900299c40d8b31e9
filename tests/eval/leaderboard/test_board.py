# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard's rows, its table, its Parquet and its figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.leaderboard.board import Leaderboard, leaderboard
from ns3_env.eval.leaderboard.figures import LearningCurve, draw_improvement, draw_learning, draw_means
from ns3_env.eval.leaderboard.table import frame_of, markdown
from ns3_env.eval.output.files import save
from ns3_env.eval.output.table import write_parquet
from tests.eval.leaderboard.frames import frame

SCORES = {
    "hpcc": {"in|cast": [[-0.4, 0.4]], "fat tree": [[1.0, -1.0]]},
    "oracle": {"in|cast": [[100.0, 100.0]], "fat tree": [[100.0, 100.0]]},
    "fdcc": {"in|cast": [[40.0, 50.0], [60.0, 70.0]], "fat tree": [[-1.0, -1.0], [9.0, 11.0]]},
    "once": {"in|cast": [[-7.0, -7.0]], "fat tree": [[-3.0, -3.0]]},
}


@pytest.fixture(scope="module")
def board() -> Leaderboard:
    return leaderboard(frame(SCORES), "hpcc")


def test_the_best_is_first_and_the_baseline_is_not_compared_with_itself(board: Leaderboard) -> None:
    assert [line.entry for line in board.lines] == ["oracle", "fdcc", "hpcc", "once"]
    assert [line.reference for line in board.lines] == [True, False, False, False]
    by_name = {line.entry: line for line in board.lines}
    assert by_name["hpcc"].improvement is None
    assert by_name["fdcc"].improvement is not None
    assert by_name["fdcc"].improvement.value == 0.75
    assert by_name["fdcc"].tasks == {"in|cast": 55.0, "fat tree": 4.5}


def test_a_baseline_that_nobody_knows_is_named() -> None:
    with pytest.raises(ConfigError, match=r"baseline: no 'hpc'.*hpcc"):
        leaderboard(frame(SCORES), "hpc")


def test_the_table_says_whole_scores_intervals_and_what_they_cover(board: Leaderboard) -> None:
    lines = markdown(board).splitlines()
    assert lines[0] == "| entry | runs | in\\|cast | fat tree | IQM | better than hpcc | each run |"
    assert lines[2] == "| *oracle* | 1 | 100 | 100 | 100 [100, 100] † | 1.00 [1.00, 1.00] † | – |"
    assert lines[3].startswith("| fdcc | 2 | 55 | 4 | 28 [22, 38] | 0.75 [")
    assert lines[3].endswith("] | 22 to 38 |")
    assert lines[4].startswith("| hpcc | 1 | 0 | 0 | 0 [−1, 1] † | – | –")
    assert "| −7 | −3 | −5 [−5, −5] †" in lines[5]


def test_the_parquet_holds_the_same_numbers(board: Leaderboard, tmp_path: Path) -> None:
    rows = pandas.read_parquet(write_parquet(frame_of(board), tmp_path / "board.parquet")).set_index("entry")
    assert list(rows.index) == [line.entry for line in board.lines]
    assert rows.loc["fdcc", "task/in|cast"] == 55.0
    assert rows.loc["fdcc", "iqm_low"] == board.lines[1].mean.low
    assert rows["iqm_covers"].tolist() == ["test seeds", "runs", "test seeds", "test seeds"]
    assert np.isnan(rows.loc["hpcc", "improvement"])
    assert set(rows["baseline"]) == {"hpcc"}


def test_figures_have_a_row_for_each_that_competes_and_references_are_lines(
    board: Leaderboard, tmp_path: Path
) -> None:
    means, better = draw_means(board), draw_improvement(board)
    assert [text.get_text() for text in means.axes[0].get_yticklabels()] == ["fdcc", "hpcc", "once"]
    assert [text.get_text() for text in better.axes[0].get_yticklabels()] == ["fdcc", "once"]
    assert [line.get_label() for line in means.axes[0].lines if line.get_label() == "oracle"] == ["oracle"]
    for name, figure in (("means", means), ("better", better)):
        assert save(figure, tmp_path, name, ["svg", "png"])


def test_learning_is_shaded_where_there_are_runs_and_what_does_not_learn_is_a_line(tmp_path: Path) -> None:
    at = np.linspace(0, 1e5, 5)
    band = np.arange(5.0) - 1, np.arange(5.0) + 1
    curves = [LearningCurve("fdcc", 3, at, np.arange(5.0), band), LearningCurve("td3", 1, at, at / 1e5, None)]
    figure = draw_learning(curves, {"hpcc": 2.0})
    assert len(figure.axes[0].collections) == 1
    assert [line.get_label() for line in figure.axes[0].lines] == ["fdcc", "td3", "hpcc"]
    assert save(figure, tmp_path, "learning", ["png"])


def test_a_board_of_several_objectives_has_a_mean_of_each() -> None:
    scores = {"Incast": 10.0, "Rates": 30.0, "Joining": 80.0}
    rows = [
        {"entry": entry, "run": 0, "task": task, "test_seed": seed, "score": score * (entry == "ppo")}
        for entry in ("ppo", "dcqcn")
        for task, score in scores.items()
        for seed in (1, 2)
    ]
    table = markdown(leaderboard(pandas.DataFrame(rows), "dcqcn")).splitlines()
    assert "| slowdown (2) | max-min fairness (1) | IQM |" in table[0]
    assert "| 10 | 30 | 80 | 20 | 80 |" in table[2]

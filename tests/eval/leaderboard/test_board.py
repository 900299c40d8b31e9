# SPDX-License-Identifier: GPL-2.0-or-later
"""The leaderboard: statistics of scores, tables and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from ns3_env.errors import ConfigError
from ns3_env.eval.leaderboard.board import Leaderboard, leaderboard, sections
from ns3_env.eval.leaderboard.figures import (
    LearningCurve,
    draw_improvement,
    draw_learning,
    draw_means,
    learning_curves,
)
from ns3_env.eval.leaderboard.files import frame_of, markdown
from ns3_env.eval.leaderboard.scores import Scores, interquartile_mean, probability_of_improvement, scores_of
from ns3_env.eval.output.plots import save
from ns3_env.eval.output.table import write_parquet

#: Scores by task, run and test seed.
ByTask = Mapping[str, Sequence[Sequence[float]]]


def frame(entries: Mapping[str, ByTask]) -> pandas.DataFrame:
    """A row for each test."""
    rows: list[dict[str, Any]] = [
        {"entry": entry, "run": run, "task": task, "test_seed": seed, "score": score}
        for entry, tasks in entries.items()
        for task, runs in tasks.items()
        for run, tests in enumerate(runs)
        for seed, score in enumerate(tests)
    ]
    return pandas.DataFrame(rows)


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


def test_the_share_of_what_end_hosts_reach_is_of_the_best_of_their_orders_in_each_task() -> None:
    """50 of 100 in one task and 30 of 60 in another are half; a task without them does not count."""
    scores: dict[str, dict[str, float]] = {
        "dcqcn": {"Incast": 0.0, "Mixed": 0.0},
        "ppo": {"Incast": 50.0, "Mixed": 30.0},
        "clairvoyant": {"Incast": 100.0, "Mixed": 20.0},
        "clairvoyant-fair": {"Incast": -5.0, "Mixed": 60.0},
    }
    ran = frame({entry: {task: [[x, x]] for task, x in tasks.items()} for entry, tasks in scores.items()})
    ((_, board),) = sections(ran)
    assert {line.entry: board.share(line) for line in board.lines} == {
        "end hosts": 100,
        "ppo": 50,
        "dcqcn": 0,
    }
    assert [line.reference for line in board.lines] == [True, False, False]
    assert dict(board.end_hosts) == {"Incast": 100, "Mixed": 60}
    table = markdown(board).splitlines()
    assert table[0].startswith("| entry | runs | Incast | Mixed | of end hosts (%) | IQM |")
    assert table[3].startswith("| ppo | 1 | 50 | 30 | 50 | 40 [")
    assert frame_of(board).set_index("entry").loc["ppo", "of_end_hosts"] == 50
    ((_, alone),) = sections(ran[~ran["entry"].str.startswith("clairvoyant")])
    assert all(math.isnan(alone.share(line)) for line in alone.lines)
    assert "of end hosts" not in markdown(alone)


def of(*tasks: list[list[float]], generalist: bool = False) -> Scores:
    """Scores by task, run and test seed."""
    by_task = {f"task{i}": np.array(runs, dtype=np.float64) for i, runs in enumerate(tasks)}
    return Scores("entry", by_task, generalist)


def runs(*scores: float) -> list[list[float]]:
    """One test each."""
    return [[score] for score in scores]


def test_the_interquartile_mean_leaves_out_a_quarter_at_either_end_of_runs_and_tasks_together() -> None:
    # 0 1 | 2 3 4 5 | 6 1000
    assert interquartile_mean(of(runs(6, 0, 3, 4), runs(1000, 1, 2, 5))).value == 3.5


def test_a_run_counts_by_its_mean_over_test_seeds() -> None:
    few = of([[0.0, 2.0], [10.0, 14.0]])
    assert few.of_runs.tolist() == [[1.0], [12.0]]
    assert few.of_tasks == {"task0": 6.5}


def test_an_improvement_is_the_share_of_pairs_and_ties_are_half_of_one() -> None:
    # Task 0: 2 beats 1, ties with 2; 3 beats both: 3.5 of 4. Task 1: one of two.
    one, other = of(runs(2, 3), runs(5, 0)), of(runs(1, 2), runs(4, 4))
    assert probability_of_improvement(one, other).value == (3.5 / 4 + 0.5) / 2
    assert probability_of_improvement(other, one).value == 1 - (3.5 / 4 + 0.5) / 2
    assert probability_of_improvement(one, one).value == 0.5


def test_numbers_are_those_of_rliable() -> None:
    """rliable 1.2.0 on the same scores, with 9999 resamples."""
    random = np.random.default_rng(0)
    one, other = (Scores(x, _by_task(random.normal(mean, 10, (10, 6)))) for x, mean in (("a", 50), ("b", 45)))
    estimate = interquartile_mean(one)
    assert estimate.value == pytest.approx(50.59748168)
    assert (estimate.low, estimate.high) == pytest.approx((48.23, 53.10), abs=0.15)
    improved = probability_of_improvement(one, other)
    assert improved.value == pytest.approx(0.60166667)
    assert (improved.low, improved.high) == pytest.approx((0.497, 0.702), abs=0.01)


def _by_task(of_runs: np.ndarray) -> dict[str, np.ndarray]:
    return {f"task{i}": column[:, None] for i, column in enumerate(of_runs.T)}


def test_intervals_cover_the_true_value_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(1)
    means = [interquartile_mean(Scores("a", _by_task(random.normal(50, 10, (10, 4))))) for _ in range(80)]
    assert 0.86 < np.mean([x.low <= 50 <= x.high for x in means]) < 0.99


def test_a_resample_has_every_task() -> None:
    """Runs of a task are equal: the mean would change only if a task were drawn instead of another."""
    mean = interquartile_mean(of(runs(0, 0, 0), runs(50, 50, 50), runs(100, 100, 100)))
    assert (mean.low, mean.high) == (mean.value, mean.value)


def test_a_generalists_run_is_drawn_with_its_scores_in_all_tasks() -> None:
    """Runs that are good or bad in every task vary more than separate runs for each task would."""
    tasks = [runs(0, 10, 20, 30, 40, 50) for _ in range(8)]
    apart, whole = interquartile_mean(of(*tasks)), interquartile_mean(of(*tasks, generalist=True))
    assert apart.value == whole.value
    assert whole.high - whole.low > 2 * (apart.high - apart.low)


def test_the_interval_of_one_run_is_of_test_seeds_and_of_one_test_there_is_none() -> None:
    rule, short = interquartile_mean(of([[1.0, 2.0, 3.0, 9.0]])), interquartile_mean(of([[5.0]]))
    assert rule.covers == "test seeds"
    assert rule.low < rule.value < rule.high
    assert interquartile_mean(of([[1.0, 2.0], [3.0, 4.0]])).covers == "runs"
    assert short.covers is None
    assert math.isnan(short.low)
    assert math.isnan(short.high)


def test_two_rules_are_compared_on_the_same_test_seeds() -> None:
    """Tests differ by 100, the controllers on each of them by 1: every resample has the same winner."""
    better, worse = of([[101.0, 1.0, 201.0]]), of([[100.0, 0.0, 200.0]])
    estimate = probability_of_improvement(better, worse)
    assert (estimate.value, estimate.low, estimate.high, estimate.covers) == (1.0, 1.0, 1.0, "test seeds")


def test_runs_of_two_entries_are_drawn_apart() -> None:
    """Two entries with equal scores: resamples differ, as runs are drawn separately for each entry."""
    estimate = probability_of_improvement(of(runs(0, 1, 2, 3)), of(runs(0, 1, 2, 3)))
    assert estimate.value == 0.5
    assert estimate.low < 0.4 < 0.6 < estimate.high


def test_a_rule_beside_runs_stays_as_it_is() -> None:
    estimate = probability_of_improvement(of(runs(1, 3, 5, 7)), of([[2.0, 3.0]]))
    assert (estimate.value, estimate.covers) == (0.75, "runs")
    assert estimate.low < 0.75


def test_same_scores_same_intervals() -> None:
    scores = Scores("a", _by_task(np.random.default_rng(2).normal(50, 10, (10, 3))))
    assert interquartile_mean(scores) == interquartile_mean(scores)


def test_a_frame_is_read_whatever_its_rows_order() -> None:
    rows = frame(
        {"a": {"x": [[1.0, 2.0], [3.0, 4.0]], "y": [[5.0], [6.0]]}, "b": {"x": [[0, 0]], "y": [[7]]}}
    )
    scores = scores_of(rows.sample(frac=1, random_state=3), generalists=["a"])
    assert scores["a"].by_task["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert scores["a"].by_task["y"].tolist() == [[5.0], [6.0]]
    assert (scores["a"].generalist, scores["b"].generalist, scores["b"].runs) == (True, False, 1)


WHOLE = {"a": {"x": [[1.0, 2.0], [3.0, 4.0]]}, "b": {"x": [[0.0, 0.0]]}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="test_seed"), "lacks test_seed"),
        (lambda f: f[:0], "no rows"),
        (lambda f: f[1:], "a: task x, run 0, test seed 0 has no finite score"),
        (lambda f: f[:-1], "b: task x, run 0, test seed 1 has no finite score"),
        (lambda f: f.assign(score=f["score"].replace(4.0, math.inf)), "run 1, test seed 1 has no finite"),
        (lambda f: pandas.concat([f, f[:1]]), "a: task x, run 0, test seed 0 is there twice"),
        (lambda f: pandas.concat([f, f[:4].assign(task="y")]), "b: has no score in task y"),
        (lambda f: pandas.concat([f, f[f["run"] == 0].assign(task="y")]), "a: each task needs as many runs"),
    ],
)
def test_a_frame_that_compares_unlike_things_is_refused(change: object, message: str) -> None:
    assert callable(change)
    with pytest.raises(ConfigError, match=message):
        scores_of(change(frame(WHOLE)))


def test_a_generalist_that_has_no_scores_is_named() -> None:
    with pytest.raises(ConfigError, match="generalists: 'c'"):
        scores_of(frame(WHOLE), generalists=["c"])


def test_learning_curves_are_means_of_runs_where_all_were_judged() -> None:
    rows = [
        ("a", 0, 0, 0.0),
        ("a", 0, 100, 10.0),
        ("a", 1, 50, 20.0),
        ("a", 1, 100, 20.0),
        ("a", 1, 100, 40.0),
    ]
    rows += [("b", 0, 0, 1.0), ("b", 0, 10, 1.0)]
    both = pandas.DataFrame(rows, columns=["entry", "run", "decisions", "score"])
    curve, other = learning_curves(both)
    assert (curve.decisions[0], curve.decisions[-1]) == (50, 100)
    assert (curve.score[0], curve.score[-1]) == pytest.approx(((5 + 20) / 2, (10 + 30) / 2))
    assert curve.interval is not None
    assert (curve.interval[0][-1], curve.interval[1][-1]) == pytest.approx((10, 30))  # of two: both ends
    assert (other.entry, other.runs, other.interval) == ("b", 1, None)

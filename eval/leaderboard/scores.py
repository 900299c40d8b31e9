# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of a leaderboard's entries as arrays, interquartile means, probabilities of improvement.

Estimates follow Agarwal et al. 2021. Tasks are the strata: resampling is done within each task, so
that every resample has every task. An interval shows how far the number would move if something were done
again, and each names it:

- "runs", of an entry with several: other trainings of the same entry, on the same tests. A task's runs are
  drawn apart from other tasks'; a generalist's runs are drawn as units, with their scores in all tasks.
- "test seeds", of an entry with one run (hand-designed controllers have one): other test scenarios of
  the same tasks, for this policy. It does not cover another training.
- None: one run and one test seed in each task. There is no interval.

No interval covers other tasks. Intervals of few runs are narrow: with three, they contain the true
value less often than their nominal level.

SciPy's trimmed mean and NumPy's draws compute it: rliable, the reference of the tests, resamples only runs,
and needs releases of arch that are incompatible with pandas 3.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.statistics import RESAMPLES, FloatArray, percentiles

if TYPE_CHECKING:
    import pandas

#: Columns of a frame of scores.
COLUMNS = ("entry", "run", "task", "test_seed", "score")


@dataclass(frozen=True)
class Scores:
    """One entry's scores; 0 is the deployed controller, 100 the reference.

    Attributes:
        entry: name of the entry.
        by_task: (runs, test seeds) of each task.
        generalist: true if a run is one policy for all tasks, so that its scores are correlated.
    """

    entry: str
    by_task: Mapping[str, FloatArray]
    generalist: bool = False

    @property
    def runs(self) -> int:
        """The number of trainings, the same for each task; 1 of a hand-designed controller."""
        return len(next(iter(self.by_task.values())))

    @property
    def of_runs(self) -> FloatArray:
        """(runs, tasks): each run's mean over test seeds."""
        return np.stack([scores.mean(axis=1) for scores in self.by_task.values()], axis=1)

    @property
    def of_tasks(self) -> dict[str, float]:
        """The mean over runs and test seeds, by task."""
        return {task: float(scores.mean()) for task, scores in self.by_task.items()}


def scores_of(frame: pandas.DataFrame, generalists: Collection[str] = ()) -> dict[str, Scores]:
    """Each entry's scores, by name, entries and tasks in the order in which the frame first names them.

    Args:
        frame: a row for each test, with ``COLUMNS``; further columns are ignored. ``run`` distinguishes an
            entry's trainings: a hand-designed controller has one.
        generalists: entries whose runs are one policy for all tasks; a run of any other entry is one policy
            per task.

    Raises:
        ConfigError: a column is missing; a test is listed twice; an entry lacks a test that another has, or
            has a score there that is no finite number; an entry has more runs in one task than in another;
            a generalist does not exist.
    """
    require(frame, COLUMNS)
    frame = frame.astype({"entry": str, "task": str})
    for entry in generalists:
        if entry not in set(frame["entry"]):
            raise ConfigError(f"generalists: {entry!r} has no scores")
    tests = {
        str(task): sorted(rows["test_seed"].unique()) for task, rows in frame.groupby("task", sort=False)
    }
    by_entry = {}
    for name, rows in frame.groupby("entry", sort=False):
        entry = str(name)
        by_task = {task: _of_task(rows[rows["task"] == task], entry, task, tests[task]) for task in tests}
        counts = {task: len(scores) for task, scores in by_task.items()}
        if len(set(counts.values())) > 1:
            numbers = ", ".join(f"{count} in {task}" for task, count in counts.items())
            raise ConfigError(f"{entry}: each task needs as many runs as any other, found {numbers}")
        by_entry[entry] = Scores(entry, by_task, entry in generalists)
    return by_entry


def require(frame: pandas.DataFrame, columns: Collection[str]) -> None:
    """Raises ConfigError if the frame has no rows, or lacks one of these columns."""
    lacking = [name for name in columns if name not in frame]
    if lacking:
        raise ConfigError(f"the frame lacks {', '.join(lacking)}; it needs {', '.join(columns)}")
    if len(frame) == 0:
        raise ConfigError("the frame has no rows")


def _of_task(rows: Any, entry: str, task: str, seeds: list[Any]) -> FloatArray:
    twice = rows[rows.duplicated(["run", "test_seed"])]
    if len(twice):
        run, seed = twice.iloc[0][["run", "test_seed"]]
        raise ConfigError(f"{entry}: task {task}, run {run}, test seed {seed} is there twice")
    table = rows.pivot(index="run", columns="test_seed", values="score").reindex(columns=seeds)
    if len(table) == 0:
        raise ConfigError(f"{entry}: has no score in task {task}")
    scores: FloatArray = table.to_numpy(dtype=np.float64)
    unknown = np.argwhere(~np.isfinite(scores))
    if len(unknown):
        run, seed = table.index[unknown[0][0]], seeds[unknown[0][1]]
        raise ConfigError(f"{entry}: task {task}, run {run}, test seed {seed} has no finite score")
    return scores


#: Coverage of an interval.
Covers = Literal["runs", "test seeds"]
#: Share of the scores that is discarded at either end.
_TRIMMED = 0.25


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; NaN at both ends, and ``covers`` None, without an interval."""

    value: float
    low: float
    high: float
    covers: Covers | None

    @property
    def known(self) -> bool:
        """True if there is an interval."""
        return self.covers is not None


def interquartile_mean(scores: Scores) -> Estimate:
    """The mean of the middle half of the scores of one entry, runs and tasks together.

    The same scores have the same interval.
    """
    covers, value = _covered(scores), _trimmed(scores.of_runs[None])
    if covers is None:
        return _estimate(value, None, value)
    return _estimate(value, covers, _trimmed(_resamples(scores, covers, np.random.default_rng(0))))


def _estimate(value: FloatArray, covers: Covers | None, resampled: FloatArray) -> Estimate:
    """The estimate of a ``value`` (1,) from the same of resamples (B,)."""
    low, high = percentiles(resampled) if covers else (math.nan, math.nan)
    return Estimate(float(value[0]), float(low), float(high), covers)


def range_of_runs(scores: Scores) -> tuple[float, float]:
    """The minimum and the maximum over runs of a run's interquartile mean over its tasks."""
    means = _trimmed(scores.of_runs[:, None])
    return float(means.min()), float(means.max())


def probability_of_improvement(scores: Scores, others: Scores) -> Estimate:
    """Estimates the probability that a run of one entry beats one of the other in a task, mean over tasks.

    Ties count half.

    The interval covers the runs if either entry has several; the other's single run stays as it is. If
    each has one, it covers the test seeds, the same for both: they run the same flows.

    Args:
        scores: scores of the entry.
        others: scores of the entry to compare with, in the same tasks.

    Raises:
        ValueError: the tasks differ.
    """
    if list(scores.by_task) != list(others.by_task):
        raise ValueError(f"{scores.entry} and {others.entry} have not the same tasks")
    value = _share_better(scores.of_runs[None], others.of_runs[None])
    several = scores.runs > 1 or others.runs > 1
    covers: Covers | None = "runs" if several else _covered(scores)
    if covers is None:
        return _estimate(value, None, value)
    first, second = np.random.default_rng(0), np.random.default_rng([0, 1] if several else 0)
    drawings = _resamples(scores, covers, first), _resamples(others, covers, second)
    return _estimate(value, covers, _share_better(*drawings))


def resampled_means(runs: FloatArray) -> FloatArray:
    """Means of ``runs`` (n, ...) drawn as units, with replacement: (B, ...)."""
    count = len(runs)
    counts = np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), RESAMPLES)
    means: FloatArray = np.tensordot(counts / count, runs, axes=1)
    return means


def _covered(scores: Scores) -> Covers | None:
    if scores.runs > 1:
        return "runs"
    several = any(tests.shape[1] > 1 for tests in scores.by_task.values())
    return "test seeds" if several else None


def _trimmed(scores: FloatArray) -> FloatArray:
    """Interquartile means of (B, runs, tasks): (B,)."""
    from scipy import stats  # its import needs half a second

    means: FloatArray = stats.trim_mean(scores.reshape(len(scores), -1), _TRIMMED, axis=1)
    return means


def _resamples(scores: Scores, covers: Covers, random: np.random.Generator) -> FloatArray:
    """Scores of runs, drawn again within each task: (B, runs, tasks)."""
    if covers == "test seeds":
        return np.stack([_other_tests(tests, random) for tests in scores.by_task.values()], axis=2)
    of_runs = scores.of_runs
    runs, tasks = of_runs.shape
    rows = random.integers(0, runs, (RESAMPLES, runs, 1 if scores.generalist else tasks))
    result: FloatArray = of_runs[rows, np.arange(tasks)]
    return result


def _other_tests(tests: FloatArray, random: np.random.Generator) -> FloatArray:
    """Means of the tests (1, S) of a task, drawn again: (B, 1)."""
    count = tests.shape[1]
    means: FloatArray = tests[0, random.integers(0, count, (RESAMPLES, count))].mean(axis=1, keepdims=True)
    return means


def _share_better(first: FloatArray, second: FloatArray) -> FloatArray:
    """Share of pairs of (B, n, tasks) and (B, m, tasks) whose first is better, mean over tasks: (B,)."""
    shares = []
    for task in range(first.shape[2]):
        one, other = first[:, :, None, task], second[:, None, :, task]
        shares.append(((one > other) + 0.5 * (one == other)).mean(axis=(1, 2)))
    means: FloatArray = np.mean(shares, axis=0)
    return means

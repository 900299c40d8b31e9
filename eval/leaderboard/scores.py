# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of a leaderboard's entries as arrays, all of the same tests, from a frame's rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.statistics import FloatArray

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaderboards, one for each group of tasks: scores, interquartile means, chances against a baseline."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ns3_env.config.model import nearest, shown
from ns3_env.errors import ConfigError
from ns3_env.eval.leaderboard.anchors import GROUPS, Group, group_of
from ns3_env.eval.leaderboard.scores import (
    Estimate,
    interquartile_mean,
    probability_of_improvement,
    range_of_runs,
    scores_of,
)
from ns3_env.tasks import TASKS

if TYPE_CHECKING:
    import pandas

#: Objectives of tasks, by their measure.
OBJECTIVES = {"slowdown": "slowdown", "max_min": "max-min fairness", "job_time": "job time"}
#: End hosts that know all live flows, in one order each.
CLAIRVOYANT = ("clairvoyant", "clairvoyant-slowdown", "clairvoyant-fair")
#: Entries with knowledge that no controller can have: upper bounds that do not compete.
REFERENCES = ("oracle", "max_min", *CLAIRVOYANT)
#: Row of the best of ``CLAIRVOYANT`` in each task.
END_HOSTS = "end hosts"


@dataclass(frozen=True)
class Line:
    """One entry.

    Attributes:
        entry: name of the entry.
        runs: trainings; 1 for a hand-designed controller.
        tasks: mean score over runs and test seeds, by task.
        mean: the interquartile mean.
        range: interquartile means of only its worst run and of only its best run.
        improvement: the probability of improvement over the baseline; None for the baseline itself.
        reference: true for an entry that does not compete.
    """

    entry: str
    runs: int
    tasks: Mapping[str, float]
    mean: Estimate
    range: tuple[float, float]
    improvement: Estimate | None
    reference: bool

    def mean_over(self, tasks: Collection[str]) -> float:
        """Mean score over those of these tasks that the entry has; NaN without one."""
        scores = [self.tasks[task] for task in tasks if task in self.tasks]
        return sum(scores) / len(scores) if scores else math.nan


@dataclass(frozen=True)
class Leaderboard:
    """Entries with the greatest interquartile mean first, and the one that all are compared with."""

    baseline: str
    lines: Sequence[Line]

    @property
    def tasks(self) -> list[str]:
        """Names, in the frame's order."""
        return list(max(self.lines, key=lambda line: len(line.tasks)).tasks)

    @property
    def objectives(self) -> dict[str, list[str]]:
        """Known tasks by what they score ("slowdown", "max-min fairness", "job time"), in order; empty if all
        score the same."""
        tasks: dict[str, list[str]] = {}
        for task in filter(TASKS.__contains__, self.tasks):
            tasks.setdefault(OBJECTIVES[TASKS[task].measure], []).append(task)
        return tasks if len(tasks) > 1 else {}

    @property
    def end_hosts(self) -> Mapping[str, float]:
        """Scores of the clairvoyant end hosts, by task; empty if they were not run."""
        return next((line.tasks for line in self.lines if line.entry == END_HOSTS), {})

    def share(self, line: Line) -> float:
        """Share of what end hosts reach, %: 100 score / score of ``END_HOSTS``, mean over tasks.

        In a task it is the way from the base to the best known schedule of senders that know all live flows,
        while a score is the way to the reference: 0 stays 0. NaN without a task of both.
        """
        shares = [
            100 * line.tasks[task] / best
            for task, best in self.end_hosts.items()
            if task in line.tasks and best > 0
        ]
        return sum(shares) / len(shares) if shares else math.nan

    def lacks(self, line: Line) -> bool:
        """Returns whether the entry lacks scores in some task; its numbers cover its other tasks."""
        return len(line.tasks) < len(self.tasks)


def leaderboard(
    frame: pandas.DataFrame,
    baseline: str,
    references: Collection[str] = (*REFERENCES, END_HOSTS),
    generalists: Collection[str] = (),
) -> Leaderboard:
    """The leaderboard of a frame of scores.

    Args:
        frame: a row for each test: ``entry``, ``run``, ``task``, ``test_seed``, ``score``.
        baseline: entry that all entries are compared with.
        references: entries that do not compete; those without scores are ignored.
        generalists: entries whose runs are one policy for all tasks.

    Raises:
        ConfigError: the frame is not complete (``scores_of``), or has no such baseline.
    """
    by_entry = scores_of(frame, generalists)
    if baseline not in by_entry:
        entries = list(by_entry)
        raise ConfigError(
            f"baseline: no {shown(baseline)}{nearest(baseline, entries)} of {', '.join(entries)}"
        )
    lines = [
        Line(
            entry=name,
            runs=scores.runs,
            tasks=scores.of_tasks,
            mean=interquartile_mean(scores),
            range=range_of_runs(scores),
            improvement=None if name == baseline else probability_of_improvement(scores, by_entry[baseline]),
            reference=name in references,
        )
        for name, scores in by_entry.items()
    ]
    return Leaderboard(baseline, sorted(lines, key=lambda line: -line.mean.value))


def sections(frame: pandas.DataFrame, generalists: Collection[str] = ()) -> list[tuple[Group, Leaderboard]]:
    """The groups that the frame has tasks of, each with its leaderboard.

    Entries that lack a task of the group are ranked last, over the tasks that they have run.

    Raises:
        ConfigError: the frame is empty, or an entry's number of runs differs between tasks.
    """
    if len(frame) == 0:
        raise ConfigError("the folder has no task that is played whole: the same command goes on with it")
    frame = _with_end_hosts(frame)
    groups = frame["task"].map(lambda name: group_of(TASKS[name]).name)
    return [
        (group, _board(rows, group.base, generalists))
        for group in GROUPS
        if len(rows := frame[groups == group.name])
    ]


def _with_end_hosts(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The frame with ``END_HOSTS``, the best of ``CLAIRVOYANT`` in each task, instead of these."""
    import pandas

    clairvoyant = frame["entry"].isin(CLAIRVOYANT)
    means = frame[clairvoyant].groupby(["entry", "task"])["score"].mean().unstack()
    best = frame["task"].map(means.idxmax())
    chosen = frame[frame["entry"] == best].assign(entry=END_HOSTS)
    return pandas.concat([frame[~clairvoyant], chosen], ignore_index=True)


def _board(frame: pandas.DataFrame, base: str, generalists: Collection[str]) -> Leaderboard:
    tasks = frame.groupby("entry", sort=False)["task"].agg(set)
    of_base = tasks.get(base, set())
    whole = [name for name, task_names in tasks.items() if task_names >= of_base]

    def compared(names: Collection[str], task_names: set[str]) -> Leaderboard:
        some = frame[frame["entry"].isin(names) & frame["task"].isin(task_names)]
        return leaderboard(some, base, generalists=set(names) & set(generalists))

    board = compared(whole, of_base)
    partial = [
        line
        for name, task_names in tasks.items()
        if name not in whole and task_names & of_base
        for line in compared([name, base], task_names & of_base).lines
        if line.entry == name
    ]
    partial.sort(key=lambda line: -line.mean.value)
    return Leaderboard(board.baseline, [*board.lines, *partial])


def beaten(frame: pandas.DataFrame) -> str:
    """A line on the tests in which an entry is better than the reference."""
    words: list[str] = []
    count, tests = 0, 0
    for name, rows in frame.groupby("task", sort=False):
        spec = TASKS[str(name)]
        values = rows[rows["entry"] == spec.reference].set_index("test_seed")["value"]
        others = rows[~rows["entry"].isin(REFERENCES)]
        ratios = others["value"] / others["test_seed"].map(values)
        best = others.assign(ratio=ratios).sort_values("ratio").groupby("test_seed").first()
        better = best[best["ratio"] < 1 - 1e-9].sort_values("ratio")
        tests += len(values)
        count += len(better)
        if len(better):
            most = better.iloc[0]
            words.append(f"{name} {len(better)} ({most['entry']} by {100 * (1 - most['ratio']):.1f} %)")
    what = f"In {count} of {tests} tests an entry is better than the reference"
    return what + (f", at most: {', '.join(words)}." if words else ".")

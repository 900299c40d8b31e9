# SPDX-License-Identifier: GPL-2.0-or-later
"""Learning curves of a leaderboard's entries: the mean score of runs over decisions, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ns3_env.eval.benchmark.statistics import FloatArray
from ns3_env.eval.comparisons.learning_curves import together
from ns3_env.eval.leaderboard.scores import require
from ns3_env.eval.leaderboard.statistics import percentiles, resampled_means

if TYPE_CHECKING:
    import pandas

#: What a frame of curves holds.
COLUMNS = ("entry", "run", "decisions", "score")


def newest(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A frame of scores with the newest checkpoint of each run, and all that are none."""
    if "decisions" not in frame:
        return frame
    last = frame.groupby(["entry", "run"])["decisions"].transform("max")
    return frame[frame["decisions"].isna() | (frame["decisions"] == last)]


def checkpoints_in(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of a frame of scores that are checkpoints', of those that have played as many tasks as any."""
    if "decisions" not in frame:
        return frame.iloc[:0]
    own = frame[frame["decisions"].notna()]
    tasks = own.groupby(["entry", "run", "decisions"])["task"].transform("nunique")
    return own[tasks == tasks.max()]


@dataclass(frozen=True)
class LearningCurve:
    """Mean score over runs (n,) at ``decisions`` (n,), and its interval at each of them; None of one run.

    The interval covers other trainings of the same entry, at each point by itself.
    """

    entry: str
    runs: int
    decisions: FloatArray
    score: FloatArray
    interval: tuple[FloatArray, FloatArray] | None


def learning_curves(frame: pandas.DataFrame, seed: int = 0) -> list[LearningCurve]:
    """A curve for each entry, where all its runs have been judged: between them runs are straight lines.

    Args:
        frame: a row for each time that a run was judged, with ``COLUMNS``; several rows of one run at the
            same decisions (tasks, test seeds) are averaged.
        seed: of the resampling: the same frame has the same intervals.

    Raises:
        ConfigError: a column lacks.
    """
    require(frame, COLUMNS)
    curves = []
    for entry, own in frame.groupby("entry", sort=False):
        judged = own.groupby(["run", "decisions"])["score"].mean().reset_index()
        runs = [
            (run["decisions"].to_numpy(float), run["score"].to_numpy(float))
            for _, run in judged.groupby("run")
        ]
        at, scores = together(runs)
        interval = None
        if len(runs) > 1:
            low, high = percentiles(resampled_means(scores, seed))
            interval = low, high
        curves.append(LearningCurve(str(entry), len(runs), at, scores.mean(axis=0), interval))
    return curves

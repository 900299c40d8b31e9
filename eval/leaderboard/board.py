# SPDX-License-Identifier: GPL-2.0-or-later
"""A leaderboard: its entries' scores by task, interquartile means and chances against a baseline."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ns3_env.config.model import nearest, shown
from ns3_env.errors import ConfigError
from ns3_env.eval.leaderboard.scores import scores_of
from ns3_env.eval.leaderboard.statistics import (
    Estimate,
    interquartile_mean,
    probability_of_improvement,
    range_of_runs,
)

if TYPE_CHECKING:
    import pandas

#: Entries that know what no controller can: they say what is possible, and do not compete.
REFERENCES = ("oracle", "max_min")


@dataclass(frozen=True)
class Line:
    """One entry.

    Attributes:
        entry: its name.
        runs: trainings; 1 of a rule.
        tasks: mean score over runs and test seeds, by task.
        mean: the interquartile mean.
        range: interquartile means of its worst and of its best run alone.
        improvement: the probability of improvement over the baseline; None of the baseline itself.
        reference: it does not compete.
    """

    entry: str
    runs: int
    tasks: Mapping[str, float]
    mean: Estimate
    range: tuple[float, float]
    improvement: Estimate | None
    reference: bool


@dataclass(frozen=True)
class Leaderboard:
    """Entries with the greatest interquartile mean first, and the one that all are compared with."""

    baseline: str
    lines: Sequence[Line]

    @property
    def tasks(self) -> list[str]:
        """Names, in the frame's order."""
        return list(max(self.lines, key=lambda line: len(line.tasks)).tasks)

    def lacks(self, line: Line) -> bool:
        """Whether the entry has no scores in some task: its numbers are those of the others."""
        return len(line.tasks) < len(self.tasks)


def leaderboard(
    frame: pandas.DataFrame,
    baseline: str,
    references: Collection[str] = REFERENCES,
    generalists: Collection[str] = (),
    seed: int = 0,
) -> Leaderboard:
    """The leaderboard of a frame of scores.

    Args:
        frame: a row for each test: ``entry``, ``run``, ``task``, ``test_seed``, ``score``.
        baseline: entry that the others are compared with.
        references: entries that do not compete; those that have no scores are none.
        generalists: entries of which a run is one policy for all tasks.
        seed: of the resampling: the same frame has the same numbers.

    Raises:
        ConfigError: the frame is not complete (``scores_of``), or has no such baseline.
    """
    found = scores_of(frame, generalists)
    if baseline not in found:
        known = list(found)
        raise ConfigError(f"baseline: no {shown(baseline)}{nearest(baseline, known)} of {', '.join(known)}")
    lines = [
        Line(
            entry=name,
            runs=scores.runs,
            tasks=scores.of_tasks,
            mean=interquartile_mean(scores, seed),
            range=range_of_runs(scores),
            improvement=None
            if name == baseline
            else probability_of_improvement(scores, found[baseline], seed),
            reference=name in references,
        )
        for name, scores in found.items()
    ]
    return Leaderboard(baseline, sorted(lines, key=lambda line: -line.mean.value))

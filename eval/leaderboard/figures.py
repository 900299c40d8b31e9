# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a leaderboard: interquartile means, chances against a baseline, learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from ns3_env.eval.benchmark.statistics import FloatArray, percentiles
from ns3_env.eval.comparisons.learning_curves import together
from ns3_env.eval.leaderboard.board import Leaderboard
from ns3_env.eval.leaderboard.scores import Estimate, require, resampled_means
from ns3_env.eval.output.plots import figure_font, legend, new_axes, styles

if TYPE_CHECKING:
    import pandas

#: Columns of a frame of curves.
COLUMNS = ("entry", "run", "decisions", "score")


def newest(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A frame of scores with the newest checkpoint of each run, and all rows that are not checkpoints."""
    if "decisions" not in frame:
        return frame
    last = frame.groupby(["entry", "run"])["decisions"].transform("max")
    return frame[frame["decisions"].isna() | (frame["decisions"] == last)]


def checkpoints_in(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of a frame of scores of the checkpoints that have run the maximum number of tasks."""
    if "decisions" not in frame:
        return frame.iloc[:0]
    checkpoints = frame[frame["decisions"].notna()]
    tasks = checkpoints.groupby(["entry", "run", "decisions"])["task"].transform("nunique")
    return checkpoints[tasks == tasks.max()]


@dataclass(frozen=True)
class LearningCurve:
    """Mean score over runs (n,) at ``decisions`` (n,), and its interval at each of them; None for one run.

    The interval covers other trainings of the same entry, at each point by itself.
    """

    entry: str
    runs: int
    decisions: FloatArray
    score: FloatArray
    interval: tuple[FloatArray, FloatArray] | None


def learning_curves(frame: pandas.DataFrame) -> list[LearningCurve]:
    """A curve for each entry, at points where all its runs were evaluated; runs are interpolated linearly.

    Args:
        frame: a row for each evaluation of a run, with ``COLUMNS``; several rows of one run at the
            same decisions (tasks, test seeds) are averaged.

    Raises:
        ConfigError: a column lacks.
    """
    require(frame, COLUMNS)
    curves = []
    for entry, rows in frame.groupby("entry", sort=False):
        judged = rows.groupby(["run", "decisions"])["score"].mean().reset_index()
        runs = [
            (run["decisions"].to_numpy(float), run["score"].to_numpy(float))
            for _, run in judged.groupby("run")
        ]
        at, scores = together(runs)
        low, high = percentiles(resampled_means(scores))
        interval = (low, high) if len(runs) > 1 else None
        curves.append(LearningCurve(str(entry), len(runs), at, scores.mean(axis=0), interval))
    return curves


#: Style of lines that do not compete: a reference, an even chance.
_ASIDE = "#777777"
_DASHES = ((0, (5, 2)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.5, 1.5)))


def draw_means(board: Leaderboard) -> Figure:
    """Interquartile means with intervals, the greatest on top; references are lines.

    Intervals of a filled point are of runs, those of a hollow one of test seeds.
    """
    competing = [(line.entry, line.mean) for line in board.lines if not line.reference]
    figure, axes = _points(competing)
    axes.set_xlabel("interquartile mean of the scores (0: deployed, 100: possible)")
    _levels(figure, axes, {line.entry: line.mean.value for line in board.lines if line.reference}, "x")
    return figure


def draw_improvement(board: Leaderboard) -> Figure:
    """Probabilities of improvement over the baseline, in the order of the means; a line at an even chance."""
    lines = [line for line in board.lines if not line.reference]
    improvements = [(line.entry, line.improvement) for line in lines if line.improvement is not None]
    figure, axes = _points(improvements)
    axes.axvline(0.5, color=_ASIDE, linewidth=0.9, zorder=0)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xlabel(f"probability of improvement over {board.baseline}")
    return figure


def draw_learning(curves: Sequence[LearningCurve], levels: Mapping[str, float] | None = None) -> Figure:
    """Mean scores over decisions, shaded over their intervals.

    ``levels``: scores of entries that do not learn, lines by name.
    """
    figure, axes = new_axes()
    for number, curve in enumerate(curves):
        colour = f"C{number % 10}"  # most entries have no assigned style, and would share one
        axes.plot(curve.decisions, curve.score, label=curve.entry, color=colour)
        if curve.interval is not None:
            axes.fill_between(curve.decisions, *curve.interval, color=colour, alpha=0.2, linewidth=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set(xlabel="decisions", ylabel="score (0: deployed, 100: possible)")
    _levels(figure, axes, levels or {}, "y")
    return figure


def _points(rows: Sequence[tuple[str, Estimate]]) -> tuple[Figure, Axes]:
    """A row for each entry, the first on top."""
    figure, axes = new_axes(4.9, 1.1 + 0.28 * len(rows))
    looks = styles([entry for entry, _ in rows])
    for place, (entry, estimate) in enumerate(rows):
        look = looks[entry]
        if estimate.known:
            axes.plot([estimate.low, estimate.high], [place, place], color=look.colour, linewidth=2)
        filled = look.colour if estimate.covers == "runs" else "white"
        axes.plot(estimate.value, place, "o", color=look.colour, markerfacecolor=filled, markersize=5)
    axes.set_yticks(range(len(rows)), [entry for entry, _ in rows], fontsize=0.9 * figure_font())
    axes.set_ylim(len(rows) - 0.5, -0.5)
    return figure, axes


def _levels(figure: Figure, axes: Axes, levels: Mapping[str, float], axis: str) -> None:
    """Lines across the axes at these scores, and the legend."""
    draw = axes.axvline if axis == "x" else axes.axhline
    for number, (name, level) in enumerate(levels.items()):
        dashes = _DASHES[number % len(_DASHES)]
        draw(level, color=_ASIDE, linestyle=dashes, linewidth=1.1, label=name, zorder=0)
    legend(figure, axes)

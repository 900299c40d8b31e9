# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws learning curves: runs' scores over training, seeds together."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from ns3_env.errors import ConfigError
from ns3_env.eval.output.plots import OTHERS, Floats, new_axes, styles, write_picture

#: Possible x axes of a run; the first that its table has is used.
COUNTS = {"time/total_timesteps": "decisions", "tuning/generation": "generations"}
_FILE = re.compile(r"progress(?:-(\d+))?\.csv")


def read_progress(run: Path) -> list[dict[str, float]]:
    """Rows of numbers by column, in the order of training; a column that a row leaves empty is not in it.

    Work after the checkpoint from which a run was resumed was discarded, and is left out. A file
    that is not there or has no line yet has no rows; of one that is being written, the last line counts
    once it is complete.
    """
    rows: list[dict[str, float]] = []
    for begin, file in sorted(_files(run)):
        rows = [row for row in rows if not row.get("time/total_timesteps", 0.0) > begin]
        rows += _rows(file)
    return rows


def _files(run: Path) -> list[tuple[int, Path]]:
    """The decisions or trials after which a file starts, and the file."""
    matches = [(_FILE.fullmatch(path.name), path) for path in run.glob("progress*.csv")]
    return [(int(match[1] or 0), path) for match, path in matches if match is not None]


def _rows(file: Path) -> list[dict[str, float]]:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    lines = csv.DictReader(text[: text.rfind("\n") + 1].splitlines(), restval="")
    # A longer line is of a file that is being rewritten with more columns.
    return [row for line in lines if None not in line and (row := _numbers(line))]


def _numbers(line: Mapping[str, str]) -> dict[str, float]:
    row = {}
    for name, cell in line.items():
        with suppress(ValueError):  # empty, or no number
            row[name] = float(cell)
    return row


#: Possible scores of a run; the first that its table has is drawn.
_SCORES = {
    "validation/score": "score on held-back episodes",
    "episode/reward": "reward of a decision, while learning",
}
_LINE = "#0072B2"
_STAGE = "curriculum/stage"


@dataclass(frozen=True)
class Curve:
    """A run's score (n,) over its x values (n,), and the names of both.

    ``stages`` are the curves of each stage of a curriculum by name, in the order in which they were entered;
    none of a run with a single stage.
    """

    at: Floats
    score: Floats
    counted: str
    judged: str
    stages: Mapping[str, tuple[Floats, Floats]]


def read_curve(run: Path) -> Curve:
    """The curve in a run's progress.csv, and in those with which it went on. Raises ConfigError."""
    rows = read_progress(run)
    count = next((name for name in COUNTS if any(name in row for row in rows)), None)
    score = next((name for name in _SCORES if any(name in row for row in rows)), None)
    if count is None or score is None:
        raise ConfigError(f"{run}: has no progress.csv with a score: name a run that has learned")
    at, scores = _points(rows, count, score)
    return Curve(at, scores, COUNTS[count], _SCORES[score], _stages(rows, count, score))


def _points(rows: Sequence[Mapping[str, float]], count: str, score: str) -> tuple[Floats, Floats]:
    """The points (n,) and the scores there (n,)."""
    at, scores = np.array([(row[count], row[score]) for row in rows if count in row and score in row]).T
    return at, scores


def _stages(rows: Sequence[Mapping[str, float]], count: str, score: str) -> dict[str, tuple[Floats, Floats]]:
    """The curves of a curriculum's stages: of each the validations, or the episodes while it was the last."""
    prefix = "validation/"
    names = [name for row in rows for name in row if name.startswith(prefix) and name != score]
    if score.startswith(prefix):
        curves = {name.removeprefix(prefix): _points(rows, count, name) for name in dict.fromkeys(names)}
    else:
        entered = dict.fromkeys(int(row[_STAGE]) for row in rows if {_STAGE, count, score} <= row.keys())
        curves = {
            f"stage {stage + 1}": _points([row for row in rows if row.get(_STAGE) == stage], count, score)
            for stage in entered
        }
    if len(curves) < 2:
        return {}
    numbers = {name: tuple(map(int, re.findall(r"\d+", name))) for name in curves}
    return dict(sorted(curves.items(), key=lambda item: (item[1][0][0], numbers[item[0]])))


def together(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Curves, each of points in ascending order and values there, at the same points, which all have.

    Returns:
        (200,) points and (n, 200) values.
    """
    common = np.linspace(max(at[0] for at, _ in curves), min(at[-1] for at, _ in curves), 200)
    return common, np.array([np.interp(common, at, values) for at, values in curves])


def draw_learning(runs: Sequence[Path], out: Path) -> Path:
    """Draws the runs' curves, thin; of several their mean, and the range from minimum to maximum.

    Stages get harder, so that a mean over them falls: of runs with a curriculum each stage has its own curve
    (of several runs their mean and range), and a single run's background changes when a stage starts.

    Args:
        runs: folders of runs that differ in their seeds.
        out: the picture's file, .png or .svg.

    Raises:
        ConfigError: a run has no curve, or its x axis or score differs from the other runs'.
    """
    curves = [read_curve(run) for run in runs]
    first = curves[0]
    for run, curve in zip(runs, curves, strict=True):
        if (curve.counted, curve.judged) != (first.counted, first.judged):
            raise ConfigError(
                f"{run}: its {curve.judged} over {curve.counted} does not compare with the others'"
            )
    figure, axes = new_axes(6.2, 3.6)
    thin = 0.7 if len(curves) > 1 else 1.6
    if first.stages:
        _draw_stages(axes, curves, thin)
    else:
        _draw_scores(axes, curves, thin)
    axes.set_xlabel(first.counted)
    axes.set_ylabel(first.judged)
    return write_picture(figure, out)


def _draw_stages(axes: Axes, curves: Sequence[Curve], width: float) -> None:
    """Draws each stage's curve: of several runs mean and range, of a single run also the starts of stages."""
    names = list(dict.fromkeys(name for curve in curves for name in curve.stages))
    looks = styles(names)
    for i, name in enumerate(names):
        several = len(names) > len(OTHERS)  # ordered colours, like the stages
        colour = colormaps["viridis"](0.95 * i / (len(names) - 1)) if several else looks[name].colour
        points = [curve.stages[name] for curve in curves if name in curve.stages]
        if len(points) == 1:
            axes.plot(*points[0], color=colour, marker=".", linewidth=width, label=name)
            continue
        _draw_range(axes, points, colour, name)
    if len(curves) == 1:
        begins = [at[0] for at, _ in curves[0].stages.values()]
        for number, (begin, end) in enumerate(zip(begins, [*begins[1:], curves[0].at[-1]], strict=True)):
            axes.axvspan(begin, end, color="0.5", alpha=0.12 if number % 2 else 0.0, linewidth=0)
    axes.legend(frameon=False, fontsize=9, ncols=1 + (len(names) > 5))


def _draw_range(axes: Axes, curves: Sequence[tuple[Floats, Floats]], colour: Any, label: str) -> None:
    """Draws the mean of several curves, and the range from minimum to maximum."""
    at, scores = together(curves)
    axes.fill_between(at, scores.min(axis=0), scores.max(axis=0), color=colour, alpha=0.15, linewidth=0)
    axes.plot(at, scores.mean(axis=0), color=colour, linewidth=1.6, label=label)


def _draw_scores(axes: Axes, curves: Sequence[Curve], width: float) -> None:
    """Draws each run's score; of several also the mean and the range."""
    for curve in curves:
        axes.plot(curve.at, curve.score, color=_LINE, linewidth=width, alpha=0.6 if len(curves) > 1 else 1.0)
    if len(curves) > 1:
        _draw_range(axes, [(curve.at, curve.score) for curve in curves], _LINE, f"mean of {len(curves)}")
        axes.legend(frameon=False, fontsize=9)

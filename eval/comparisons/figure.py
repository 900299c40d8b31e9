# SPDX-License-Identifier: GPL-2.0-or-later
"""Figure of a comparison: queue over time and flows' slowdowns, from a run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ns3_env.config.command_line import typed
from ns3_env.config.files import write_file
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ScenarioError
from ns3_env.eval.output.files import FOLDER, save
from ns3_env.eval.output.multiples import draw_queues, panels_in
from ns3_env.eval.output.plots import (
    COLOURS,
    Floats,
    Style,
    for_paper,
    legend,
    picture,
    settings,
    size,
    styles,
)
from ns3_env.eval.output.table import read_csv
from ns3_env.programs.executable import references
from ns3_env.simulator.results import bottleneck


def draw_comparison(evaluation: Path, target: Path | None = None, formats: Sequence[str] = ()) -> Path:
    """Draws the first episode of every controller in an evaluation folder.

    Args:
        evaluation: the folder ``evaluation`` of a run.
        target: the picture; ``comparison.png`` in that folder when None.
        formats: both panels also become files of these formats, in ``figures`` of the folder.

    Returns:
        The picture's path.

    Raises:
        ScenarioError: the folder holds no episodes, or the picture is a symbolic link.
    """
    target = target or evaluation / "comparison.png"
    refuse_link(target)
    names = [path.name.removesuffix(".queues.json") for path in sorted(evaluation.glob("*.queues.json"))]
    if not names:
        raise ScenarioError(
            f"{evaluation}: no episodes here (no NAME.queues.json): run `{typed('eval')} compare policy RUN`"
        )
    names.sort(key=lambda name: (list(COLOURS).index(name) if name in COLOURS else len(COLOURS), name))

    figure = Figure(figsize=size(11, max(4.0, 1.3 + 0.95 * len(names))), layout="constrained")
    left, right = np.asarray(figure.subfigures(1, 2)).flat
    looks = styles(names, references=references())
    _draw_queues(left, evaluation, names, looks)
    left.suptitle("Bottleneck queue", fontsize=11)
    _draw_slowdowns(right, evaluation, names, looks).set_title("Flow completion times", fontsize=11)
    write_file(target, picture(figure, "png"))
    if formats:
        _write_files(evaluation, names, formats)
    return target


def _write_files(evaluation: Path, names: Sequence[str], formats: Sequence[str]) -> None:
    """Both panels by themselves, as files for a paper."""
    with for_paper():
        looks = styles(names, references=references())
        for name, draw in (("queue", _draw_queues), ("slowdown", _draw_slowdowns)):
            height = 3.5 if name == "slowdown" else max(3.5, 1.0 + 0.8 * len(names))
            figure = Figure(figsize=size(4.9, height), layout="constrained")
            draw(figure, evaluation, names, looks)
            save(figure, evaluation / FOLDER, name, formats)


def _draw_queues(
    where: Figure | SubFigure, evaluation: Path, names: Sequence[str], looks: Mapping[str, Style]
) -> None:
    """The bottleneck's queue over time, a panel for each controller."""
    queues = {name: _first_queue(evaluation / f"{name}.queues.json").get("series") for name in names}
    curves = {name: _curve(series) for name, series in queues.items() if series}
    if not curves:
        return
    draw_queues(where, panels_in(where, list(curves), looks), list(curves.values()), "ms")


def _draw_slowdowns(
    where: Figure | SubFigure, evaluation: Path, names: Sequence[str], looks: Mapping[str, Style]
) -> Axes:
    """The share of flows that are done by each slowdown, the names above."""
    with matplotlib.rc_context(settings()):
        axes = where.subplots()
    for name in names:
        slowdowns = sorted(_first_slowdowns(evaluation / f"{name}.flows.csv"))
        shares = [(i + 1) / len(slowdowns) for i in range(len(slowdowns))]
        axes.step(slowdowns, shares, where="post", label=name, **looks[name].of_points)
    axes.set(xlabel="flow completion time / time alone", ylabel="flows done (share)", ylim=(0, 1.03))
    axes.grid(alpha=0.3)
    legend(where, axes)
    return axes


def _curve(series: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """(times in ms, lengths in kB)."""
    return np.asarray(series["t_ns"]) / 1e6, np.asarray(series["bytes"]) / 1e3


def _first_queue(path: Path) -> Mapping[str, Any]:
    episodes = json.loads(path.read_text(encoding="utf-8"))
    return bottleneck(episodes[0]) or {}


def _first_slowdowns(path: Path) -> list[float]:
    rows = read_csv(path, ("episode", "fct_ns", "standalone_ns"), ("counted",), hint="compare again")
    rows = rows[(rows["episode"] == 0) & (rows["fct_ns"] >= 0) & (rows.get("counted", 1.0) == 1)]
    return list(rows["fct_ns"] / rows["standalone_ns"])

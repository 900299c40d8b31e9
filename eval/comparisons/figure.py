# SPDX-License-Identifier: GPL-2.0-or-later
"""Figure of a comparison: queue over time and flows' slowdowns, from a run's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure, SubFigure

from ns3_env.config.command_line import typed
from ns3_env.config.folders import refuse_link
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.frames import flows_in
from ns3_env.eval.output.files import FOLDER, save, write_picture
from ns3_env.eval.output.multiples import draw_queues, panels_in
from ns3_env.eval.output.plots import COLOURS, Style, for_paper, legend, settings, size, styles
from ns3_env.eval.report.figures import draw_slowdowns
from ns3_env.programs.executable import references
from ns3_env.simulator.results import bottleneck


def draw_comparison(evaluation: Path, formats: Sequence[str] = ()) -> Path:
    """Draws the queue of every controller's first episode in an evaluation folder, and all its flows.

    Args:
        evaluation: the folder ``evaluation`` of a run; gets ``comparison.png``.
        formats: both panels also become files of these formats, in ``figures`` of the folder.

    Returns:
        The picture's path.

    Raises:
        ScenarioError: the folder contains no episodes, or the picture is a symbolic link.
    """
    target = evaluation / "comparison.png"
    refuse_link(target)
    names = [path.name.removesuffix(".queues.json") for path in sorted(evaluation.glob("*.queues.json"))]
    if not names:
        raise ScenarioError(
            f"{evaluation}: no episodes here (no NAME.queues.json): run `{typed('eval')} compare policy RUN`"
        )
    names.sort(key=lambda name: (list(COLOURS).index(name) if name in COLOURS else len(COLOURS), name))
    looks = styles(names, references=references())
    height = max(4.0, 1.3 + 0.95 * len(names))
    figure = Figure(figsize=size(11, height), layout="constrained")
    for part, draw in zip(np.asarray(figure.subfigures(1, 2)).flat, _PANELS.values(), strict=True):
        draw(part, evaluation, looks)
    write_picture(figure, target)
    with for_paper():
        for name, draw in _PANELS.items() if formats else ():
            figure = Figure(figsize=size(4.9, max(3.5, 0.8 * height)), layout="constrained")
            draw(figure, evaluation, looks)
            save(figure, evaluation / FOLDER, name, formats)
    return target


def _draw_queues(where: Figure | SubFigure, evaluation: Path, looks: Mapping[str, Style]) -> None:
    """Draws the bottleneck's queue over time, a panel for each controller, in ms and kB."""
    queues = {name: _first_queue(evaluation / f"{name}.queues.json").get("series") for name in looks}
    curves = {
        name: (np.asarray(series["t_ns"]) / 1e6, np.asarray(series["bytes"]) / 1e3)
        for name, series in queues.items()
        if series
    }
    if curves:
        draw_queues(where, panels_in(where, list(curves), looks), list(curves.values()), "ms")


def _first_queue(path: Path) -> Mapping[str, Any]:
    return bottleneck(json.loads(path.read_text(encoding="utf-8"))[0]) or {}


def _draw_slowdowns(where: Figure | SubFigure, evaluation: Path, looks: Mapping[str, Style]) -> None:
    with matplotlib.rc_context(settings()):
        axes = where.subplots()
    flows = {name: [flows_in(evaluation / f"{name}.flows.csv", "compare again")] for name in looks}
    draw_slowdowns(axes, flows, looks)
    axes.grid(alpha=0.3, linewidth=0.6)
    legend(where, axes)


#: A panel's file, and the function that draws it.
_PANELS = {"queue": _draw_queues, "slowdown": _draw_slowdowns}

# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a comparison look like? Queue over time and completion of each flow, from a run's folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ns3_env.errors import ScenarioError
from ns3_env.eval.play.folders import refuse_link
from ns3_env.eval.show.plots import COLOURS, styles
from ns3_env.results import bottleneck


def draw_comparison(evaluation: Path, target: Path | None = None) -> Path:
    """Draws the first episode of every controller in an evaluation folder.

    Args:
        evaluation: the folder ``evaluation`` of a run.
        target: the picture; ``comparison.png`` in that folder when None.

    Returns:
        The picture's path.

    Raises:
        ScenarioError: the folder holds no episodes, or the picture is a symbolic link.
    """
    target = target or evaluation / "comparison.png"
    refuse_link(target)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [path.name.removesuffix(".queues.json") for path in sorted(evaluation.glob("*.queues.json"))]
    if not names:
        raise ScenarioError(
            f"{evaluation}: no episodes here (no NAME.queues.json): run `python -m eval evaluate RUN`"
        )
    names.sort(key=lambda name: (list(COLOURS).index(name) if name in COLOURS else len(COLOURS), name))

    figure, (queue_axes, flow_axes) = pyplot.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    looks = styles(names)
    for name in names:
        line = looks[name].of_line
        queue = _first_queue(evaluation / f"{name}.queues.json")
        series = queue.get("series")
        if series:
            times = [t / 1e6 for t in series["t_ns"]]
            queue_axes.plot(times, [b / 1e3 for b in series["bytes"]], label=name, **line)
        slowdowns = sorted(_first_slowdowns(evaluation / f"{name}.flows.csv"))
        shares = [(i + 1) / len(slowdowns) for i in range(len(slowdowns))]
        flow_axes.step(slowdowns, shares, where="post", label=name, **looks[name].of_points)
    queue_axes.set(xlabel="time (ms)", ylabel="bottleneck queue (kB)", yscale="symlog", ylim=(0, None))
    queue_axes.set_title("The queue that the incast builds")
    flow_axes.set(xlabel="flow completion time / time alone", ylabel="flows done (share)", ylim=(0, 1.03))
    flow_axes.set_title("How long the flows take")
    for axes in (queue_axes, flow_axes):
        axes.grid(alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(frameon=False)
    figure.savefig(target, dpi=110)
    pyplot.close(figure)
    return target


def _first_queue(path: Path) -> Mapping[str, Any]:
    episodes = json.loads(path.read_text(encoding="utf-8"))
    return bottleneck(episodes[0]) or {}


def _first_slowdowns(path: Path) -> list[float]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["episode"] == "0" and float(row["fct_ns"]) >= 0]
    rows = [row for row in rows if row.get("counted", "1") == "1"]
    return [float(row["fct_ns"]) / float(row["standalone_ns"]) for row in rows]

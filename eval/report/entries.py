# SPDX-License-Identifier: GPL-2.0-or-later
"""Figure of a run: entries of one scenario compared in slowdown, queue, goodput and fairness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ns3_env.config.folders import refuse_link
from ns3_env.eval.benchmark.folder import Cell, read_flows
from ns3_env.eval.benchmark.standings import mean_of, values_of
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.eval.metrics import METRICS
from ns3_env.eval.output.plots import (
    FOLDER,
    Style,
    figure_font,
    for_paper,
    label_of,
    labelled,
    legend,
    new_axes,
    save,
    settings,
    size,
    styles,
    write_picture,
)
from ns3_env.eval.report.figures import draw_slowdowns
from ns3_env.eval.results.loading import episodes_in
from ns3_env.programs.executable import references

#: The figure in a run's folder.
FILE = "comparison.png"
#: Metrics drawn as bars: words, and divisors.
_BARS = {
    "queue_p99_bytes": ("queue, p99 (kB)", 1e3),
    "goodput": ("goodput / receivers' links", 1.0),
    "unfair_ratio": ("unfair ratio", 1.0),
}


def draw_entries(
    folder: Path, entries: Sequence[str], labels: Mapping[str, str], formats: Sequence[str] = ()
) -> Path:
    """Draws ``comparison.png`` into the folder of a run.

    Args:
        folder: folder written by ``eval run``.
        entries: names of the entries, in the order of the figure.
        labels: texts that replace entries' names and axes' words.
        formats: each panel also becomes a file of these formats, in ``figures`` of the folder.

    Returns:
        The figure's path.

    Raises:
        ScenarioError: a file of an episode cannot be read, or the figure is a symbolic link.
    """
    refuse_link(folder / FILE)
    cells: dict[str, list[Cell]] = {name: [] for name in entries}
    for cell in episodes_in(folder):
        cells[cell.controller].append(cell)
    looks = styles(entries, references={*references("rdma"), *references("tcp")})
    flows = {name: [read_flows(cell) for cell in several] for name, several in cells.items()}
    panels: dict[str, Callable[[Axes], None]] = {
        "slowdown": partial(draw_slowdowns, of_flows=flows, looks=looks)
    }
    panels |= {name: partial(_draw_bars, cells=cells, metric=name, looks=looks) for name in _BARS}
    with labelled(labels):
        height = max(2.4, 0.8 + 0.28 * len(entries))
        with matplotlib.rc_context(settings()):
            figure = Figure(figsize=size(9.0, 2 * height), layout="constrained")
            several = figure.subplots(2, 2).flat
        for axes, draw in zip(several, panels.values(), strict=True):
            axes.set_axisbelow(True)
            axes.grid(alpha=0.3, linewidth=0.6)
            draw(axes)
        legend(figure, figure.axes[0])
        write_picture(figure, folder / FILE)
        with for_paper():
            for name, draw in panels.items() if formats else ():
                figure, axes = new_axes(height=max(2.6, 0.6 + 0.3 * len(entries)))
                axes.set_axisbelow(True)
                draw(axes)
                legend(figure, axes)
                save(figure, folder / FOLDER, name, formats)
    return folder / FILE


def _draw_bars(
    axes: Axes, cells: Mapping[str, Sequence[Cell]], metric: str, looks: Mapping[str, Style]
) -> None:
    """Draws an entry's mean over seeds as a bar, its 95 % interval as a line; without seeds no line."""
    words, divisor = _BARS[metric]
    for place, (name, several) in enumerate(cells.items()):
        values = values_of(several, metric) / divisor
        mean, (low, high) = mean_of(values), bootstrap_interval(values)
        axes.barh(place, mean, color=looks[name].colour, height=0.7)
        if not np.isnan(low):
            axes.errorbar(mean, place, xerr=[[mean - low], [high - mean]], color="black", capsize=2)
        if not np.isnan(mean):
            text = format(mean, METRICS[metric].format if divisor == 1 else ",.0f")
            axes.annotate(
                text, (high if high > mean else mean, place), (4, 0), textcoords="offset points", va="center",
                fontsize=0.8 * figure_font(),
            )  # fmt: skip
    axes.set_yticks(range(len(cells)), [label_of(name) for name in cells])
    axes.invert_yaxis()
    axes.set(xlabel=words)
    axes.margins(x=0.18)
    axes.grid(False, axis="y")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Small multiples: a panel for each controller, all on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from ns3_env.eval.output.plots import Floats, Style, figure_font, of_as_many, queue_scale, settings, size

#: Stretches of time into which a curve of more points is divided.
BINS = 250


def multiples(
    names: Sequence[str], looks: Mapping[str, Style], height: float = 1.25
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each name, which have both axes in common.

    Args:
        names: the panels' titles.
        looks: styles of controllers; a title that is the name of one has its colour.
        height: height of one row of panels, inches.

    Returns:
        The figure and (names,) axes.
    """
    _, rows = _shape(len(names))
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=size(4.9, max(3.5, 0.5 + height * rows)))
    return figure, panels_in(figure, names, looks)


def panels_in(where: Figure | SubFigure, names: Sequence[str], looks: Mapping[str, Style]) -> list[Axes]:
    """Panels for the names in a figure, or in a part of one; see ``multiples``."""
    columns, rows = _shape(len(names))
    with matplotlib.rc_context(settings()):
        grid = where.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels: list[Axes] = []
    for place, axes in enumerate(grid.flat):
        if place >= len(names):
            axes.remove()
            continue
        axes.grid(alpha=0.3, linewidth=0.6)
        name = names[place]
        colour = looks[name].colour if name in looks else "black"
        axes.set_title(name, color=colour, fontsize=0.9 * figure_font(), pad=3)
        axes.tick_params(labelsize=0.85 * figure_font(), labelbottom=place + columns >= len(names))
        panels.append(axes)
    return panels


def band(axes: Axes, times: Floats, values: Floats, colour: Any, last: float = 0.0, bins: int = BINS) -> None:
    """The curve: shaded from the minimum to the maximum of each stretch, a line along the medians.

    A curve that ends before ``last`` is marked there.

    Args:
        axes: axes to draw on.
        times: (n,) ascending, in the axis' unit.
        values: (n,) values.
        colour: colour of line and shade.
        last: the end of the time axis.
        bins: number of stretches.
    """
    middle, low, median, high = stretches(times, values, bins)
    axes.fill_between(middle, low, high, color=colour, alpha=0.35, linewidth=0)
    axes.plot(middle, median, color=colour, linewidth=0.9)
    if len(times) and times[-1] < 0.98 * last:
        axes.axvline(times[-1], color="#888888", linewidth=0.8, linestyle=(0, (3, 2)), zorder=0)


def draw_queues(
    where: Figure | SubFigure, panels: Sequence[Axes], curves: Sequence[tuple[Floats, Floats]], unit: str
) -> None:
    """Draws the bottleneck's queue over time, a panel for each controller, all on the same scales.

    Args:
        where: the figure, or the part of one, that gets the labels.
        panels: (n,) axes, with the colours of their titles.
        curves: (n,) pairs of times in the unit, ascending, and lengths in kB.
        unit: name of the time axis's unit.
    """
    last = max(float(times[-1]) for times, _ in curves)
    for axes, (times, lengths) in zip(panels, curves, strict=True):
        band(axes, times, lengths, axes.title.get_color(), last)
    queue_scale(panels[0], "y")
    panels[0].set_xlim(0, last)
    panels[0].set_ylim(0, max(1.0, 1.2 * max(float(lengths.max()) for _, lengths in curves)))
    where.supxlabel(f"time ({unit})", fontsize=figure_font())
    where.supylabel("bottleneck queue (kB)", fontsize=figure_font())


def stretches(times: Floats, values: Floats, bins: int = BINS) -> tuple[Floats, Floats, Floats, Floats]:
    """(times, minimum, median, maximum) of at most ``bins`` runs of equally many points."""
    if len(times) <= bins:
        return times, values, values, values
    rows_of_bins = np.empty((4, bins))
    filled = 0
    for rows in of_as_many(len(times), bins):
        cut = values[rows]
        several = times[rows].mean(axis=1), cut.min(axis=1), np.median(cut, axis=1), cut.max(axis=1)
        rows_of_bins[:, filled : (filled := filled + len(rows))] = several
    middle, low, median, high = rows_of_bins[:, rows_of_bins[0].argsort()]
    return middle, low, median, high


def _shape(count: int) -> tuple[int, int]:
    """(columns, rows): panels that are wider than high, with few enough rows to fit next to other figures."""
    columns = 1 if count <= 3 else 2 if count <= 8 else 3
    return columns, -(-count // columns)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of several panels under one legend, in the style of every other figure."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator
from PIL import Image

from ns3_env.eval.output.plots import OTHERS, Floats, Style, envelope, picture, styles
from ns3_env.eval.output.table import csv_text

#: Looks of the open-loop figures; the model is thin and dashed, to be drawn over the measured curve.
MODEL = Style("#000000", (0, (4, 2.5)), "*")
SWITCH, SENDER, FREE = (Style(colour, "-", "o") for colour in (OTHERS[0], OTHERS[3], OTHERS[1]))
#: A thin dashed line, as the model's curves are.
DASHED: Mapping[str, Any] = {"color": "#000000", "linewidth": 0.8, "linestyle": "--"}
#: Number of colours of a finished picture.
_COLOURS = 48
#: Positions, values, name in the legend (None: none), keywords of matplotlib; "kind" selects which of its
#: functions draws: "plot" by default, "step", "bar".
Curve = tuple[Any, Any, str | None, Mapping[str, Any]]


@dataclass(frozen=True)
class Panel:
    """One panel of a figure, declared.

    Attributes:
        title: title of the panel.
        curves: curves in drawing order.
        axes: keywords of ``Axes.set``.
        levels: heights of horizontal lines, their names in the legend (None: none), keywords of matplotlib.
        ticks: positions and names along the x axis, and keywords of their names.
        legend: keywords of the panel's legend; None: no legend.
        more: function that draws the rest of this panel.
    """

    title: str
    curves: Iterable[Curve]
    axes: Mapping[str, Any] = field(default_factory=dict)
    levels: Sequence[tuple[float, str | None, Mapping[str, Any]]] = ()
    ticks: tuple[Any, Sequence[str], Mapping[str, Any]] | None = None
    legend: Mapping[str, Any] | None = None
    more: Callable[[Axes], object] = lambda axes: None


@dataclass(frozen=True)
class Drawing:
    """A figure, declared.

    Attributes:
        panels: the panels, row by row.
        columns: number of panels in a row.
        height: height of a row, inches.
        legend: number of the panel whose curves the legend names; None: a legend for each panel.
    """

    panels: Sequence[Panel]
    columns: int = 2
    height: float = 2.5
    legend: int | None = 0

    def png(self) -> bytes:
        """Draws it."""
        figure, several = panels([panel.title for panel in self.panels], self.columns, self.height)
        for axes, panel in zip(several, self.panels, strict=True):
            for x, y, name, look in panel.curves:
                keywords = dict(look)
                getattr(axes, keywords.pop("kind", "plot"))(x, y, label=name, **keywords)
            for level, name, look in panel.levels:
                axes.axhline(level, label=name, **look)
            axes.set(**panel.axes)
            if panel.ticks is not None:
                places, names, look = panel.ticks
                axes.set_xticks(places, names, **look)
            panel.more(axes)
            if panel.legend is not None:
                axes.legend(frameon=False, **panel.legend)
        return finished(figure, None if self.legend is None else several[self.legend])

    def csv(self) -> str:
        """The points of all curves as CSV; "" without one. A curve without a name has its number."""
        rows = [
            (panel.title, i if name is None else name, f"{u:.7g}", f"{v:.7g}")
            for panel in self.panels
            for i, (x, y, name, _) in enumerate(panel.curves)
            for u, v in np.broadcast(np.asarray(x, float), np.asarray(y, float))
        ]
        return csv_text(("panel", "curve", "x", "y"), rows) if rows else ""


def panels(titles: Sequence[str], columns: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """A figure with a pair of axes for each title, ``columns`` in a row; ``height`` of a row in inches."""
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(4.2 * columns, height * rows), layout="constrained", facecolor="white")
    places = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in places[len(titles) :]:
        spare.set_axis_off()
    for axes, title in zip(places, titles, strict=False):
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, places[: len(titles)]


def labels(x: str, y: str, **more: Any) -> dict[str, Any]:
    """Keywords of ``Axes.set``: the axes' names, and more."""
    return {"xlabel": x, "ylabel": y, **more}


def curve(
    times: Floats,
    values: Floats,
    name: str | None,
    look: Style,
    unit: tuple[float, float] = (1, 1),
    thin: bool = False,
    until: float = math.inf,
) -> Curve:
    """A curve over ascending times from 0 on, thinned to a picture's resolution; ``unit``: of times and
    values, in those of the axes; ``thin``: for a curve that oscillates, or covers another."""
    part = (times >= 0) & (times <= until)
    times, values = envelope(times[part], values[part])
    return times / unit[0], values / unit[1], name, {**look.of_line, "linewidth": 1.0 if thin else 2.0}


def marked(x: Any, heights: Mapping[str, Any]) -> list[Curve]:
    """A curve for each name over the same positions, with a mark at each."""
    return [(x, heights[name], name, look.of_points) for name, look in styles(heights).items()]


def step(x: Floats, y: Floats, name: str | None, look: Style) -> Curve:
    """A curve of steps, as of a distribution."""
    return x, y, name, {"kind": "step", "where": "post", **look.of_line}


def bars(heights: Mapping[str, Any], names: bool = True) -> list[Curve]:
    """Bars side by side at places 0, 1, ...: of each entry a height for each place; with names or without."""
    looks, width = styles(heights), 0.8 / len(heights)
    return [
        (
            np.arange(len(record)) + (number - (len(heights) - 1) / 2) * width,
            record,
            name if names else None,
            {"kind": "bar", "width": width, "color": looks[name].colour},
        )
        for number, (name, record) in enumerate(heights.items())
    ]


def few_log_ticks(axes: Axes, subs: Sequence[float]) -> None:
    """Labels a logarithmic y axis only at these multiples of each power of ten."""
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_locator(NullLocator())


def note(axes: Axes, words: str, place: tuple[float, float]) -> None:
    """Small words that end at a place: a share of the axes' width, and a height in their numbers."""
    axes.annotate(words, place, xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8)


def finished(figure: Figure, axes: Axes | None) -> bytes:
    """The figure as PNG, with the names of the curves of ``axes`` above it all (None: panels have their own);
    of few colours, as a page contains many figures."""
    if axes is not None:
        handles, labels = axes.get_legend_handles_labels()
        column = max(1.4, 0.55 + 0.065 * max(map(len, labels), default=0))  # inches: a line, and its name
        figure.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=max(1, int(figure.get_figwidth() / column)),
            frameon=False,
            fontsize=8.5,
            handlelength=3,
        )
    small = io.BytesIO()
    with Image.open(io.BytesIO(picture(figure, "png"))) as image:
        image.convert("RGB").quantize(_COLOURS).save(small, "png", optimize=True)
    return small.getvalue()

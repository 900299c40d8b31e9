# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of several panels under one legend, in the style of every other figure."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from ns3_env.eval.output.plots import OTHERS, Floats, Style, envelope, picture

#: What the open-loop figures show; the model is thin and dashed, to be drawn over what it predicts.
MODEL = Style("#000000", (0, (4, 2.5)), "*")
SWITCH, SENDER, FREE = (Style(colour, "-", "o") for colour in (OTHERS[0], OTHERS[3], OTHERS[1]))

#: Of a finished picture.
_COLOURS = 48


def panels(titles: Sequence[str], columns: int, height: float = 2.5) -> tuple[Figure, list[Axes]]:
    """A figure with a pair of axes for each title, ``columns`` in a row; ``height`` of a row in inches."""
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(4.2 * columns, height * rows), layout="constrained", facecolor="white")
    found = list(figure.subplots(rows, columns, squeeze=False).flat)
    for spare in found[len(titles) :]:
        spare.set_axis_off()
    found = found[: len(titles)]
    for axes, title in zip(found, titles, strict=True):
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, found


def curve(
    axes: Axes,
    times: Floats,
    values: Floats,
    name: str,
    look: Style,
    unit: tuple[float, float],
    thin: bool = False,
) -> None:
    """A curve over time, thinned to what a picture can show.

    Args:
        axes: gets it.
        times: (n,) ascending.
        values: (n,).
        name: in the legend.
        look: its style.
        unit: of times and values, in those of the axes.
        thin: for a curve that swings, or lies over another.
    """
    times, values = envelope(times, values)
    keywords = {**look.of_line, "linewidth": 1.0} if thin else {**look.of_line, "linewidth": 2.0}
    axes.plot(times / unit[0], values / unit[1], label=name, **keywords)


def level(axes: Axes, height: float, label: str | None = None) -> None:
    """A thin dashed line across the axes, as the model's curves are."""
    axes.axhline(height, color=MODEL.colour, linestyle=MODEL.line, linewidth=0.8, label=label)


def told(axes: Axes, words: str, place: tuple[float, float]) -> None:
    """Small words that end at a place: a share of the axes' width, and a height in their numbers."""
    axes.annotate(words, place, xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8)


def finished(figure: Figure, axes: Axes | None) -> bytes:
    """The figure as PNG, with the names of the curves of ``axes`` above it all (None: panels have their own);
    of few colours, as a page holds many figures."""
    if axes is not None:
        figure.legend(
            *axes.get_legend_handles_labels(),
            loc="outside upper center",
            ncols=int(figure.get_figwidth() / 1.4),
            frameon=False,
            fontsize=8.5,
            handlelength=3,
        )
    small = io.BytesIO()
    with Image.open(io.BytesIO(picture(figure, "png"))) as image:
        image.convert("RGB").quantize(_COLOURS).save(small, "png", optimize=True)
    return small.getvalue()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Margins of a figure as its labels need them, measured once."""

from __future__ import annotations

from matplotlib import rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Around a figure and between its parts, inches.
_PAD_IN = 0.05


def lay_out(figure: Figure) -> None:
    """Puts the axes of a figure without a layout engine as far from its edges as their labels need.

    All axes are of one grid, and share their scales where they are several. matplotlib's constrained layout
    measures every one of them twice, and has the figure drawn once more.
    """
    if figure.get_layout_engine() is not None or not figure.axes:
        return
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    first, last = figure.axes[0], figure.axes[-1]
    grid = first.get_gridspec()
    assert grid is not None
    pad, width, height = _PAD_IN * figure.dpi, figure.bbox.width, figure.bbox.height
    of_x = last.xaxis.get_tightbbox(renderer)
    bottom, beyond = (last.bbox.y0 - of_x.y0, max(0.0, of_x.x1 - last.bbox.x1)) if of_x else (0.0, 0.0)
    title = first.title.get_window_extent(renderer).height + pad if first.get_title() else 0.0
    half_a_label = 0.6 * rcParams["font.size"] * figure.dpi / 72  # of the highest tick
    top = title or half_a_label
    left = 0.0
    for label in figure.texts:
        box = label.get_window_extent(renderer)
        upright = label.get_text() == figure.get_supylabel()
        left, bottom = (left + box.width + pad, bottom) if upright else (left, bottom + box.height + pad)
    for names in figure.legends:
        box = names.get_window_extent(renderer)
        above = box.y0 + box.y1 > height
        top, bottom = (top + box.height, bottom) if above else (top, bottom + box.height)
    bottom = min(bottom, 0.35 * height)  # beside ever so many names there is room for the axes
    top = min(top, 0.7 * height - bottom)
    high, down = height - top - bottom - 2 * pad, pad + title
    figure.subplots_adjust(
        bottom=(bottom + pad) / height,
        top=1 - (top + pad) / height,
        hspace=down / ((high - down * (grid.nrows - 1)) / grid.nrows),
    )
    if of_y := first.yaxis.get_tightbbox(renderer):  # its ticks depend on the height
        left += first.bbox.x0 - of_y.x0
    wide, across = width - left - beyond - 2 * pad, 4 * pad + beyond
    figure.subplots_adjust(
        left=(left + pad) / width,
        right=1 - (beyond + pad) / width,
        wspace=across / ((wide - across * (grid.ncols - 1)) / grid.ncols),
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Common look of figures: a style for each controller, axes, margins; figures as text and as files."""

from __future__ import annotations

import base64
import io
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import matplotlib
import numpy as np
import numpy.typing as npt
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.text import Text
from matplotlib.ticker import NullLocator

from ns3_env.config.files import file_name, write_atomically, write_file
from ns3_env.config.folders import refuse_link
from ns3_env.config.model import nearest, shown
from ns3_env.errors import ConfigError

#: Around a figure and between its parts, inches.
_PAD_IN = 0.05


def lay_out(figure: Figure) -> None:
    """Puts the axes of a figure without a layout engine as far from its edges as their labels need.

    All axes are of one grid, and share their scales if there are several. matplotlib's constrained layout
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
    bottom = min(bottom, 0.35 * height)  # leaves room for the axes however many names there are
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


Floats = npt.NDArray[np.float64]

#: Okabe and Ito's colours, which colour-blind readers can distinguish; a controller keeps its colour.
COLOURS = {
    "fdcc": "#0072B2",
    "mpcc": "#D55E00",
    "hpcc": "#009E73",
    "dcqcn": "#CC79A7",
    "dctcp": "#E69F00",
    "timely": "#56B4E9",
    "swift": "#000000",
}
#: For names without an assigned colour (Tol's "muted", dark enough for thin lines on white).
OTHERS = ("#882255", "#999933", "#777777", "#332288", "#661100", "#117733")
_Line = str | tuple[float, tuple[float, ...]]
_LINES: tuple[_Line, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (1.2, 1.2)),
    (0, (3, 1)),
    (0, (4, 1.5, 1, 1.5, 1, 1.5)),
    (0, (8, 2)),
)
_MARKERS = "osD^vPX"
_OTHER_LINES = tuple(_LINES[place] for place in (0, 1, 3, 2, 4, 6))
_OTHER_MARKERS = "*<>hpd"

#: Precision of an SVG's coordinates, which are in points, 1/72 inch: a hundredth is finer than any screen.
_TOO_FINE = re.compile(rb"(?<=\.\d\d)\d+")
#: An SVG longer than this becomes a PNG.
LARGEST_SVG = 200_000
#: Pictures are the same bytes for the same numbers, and their letters need no font on the reader's side.
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "eval",
    "svg.fonttype": "path",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titley": 1.0,  # an automatic position would be measured at every draw
    "figure.facecolor": "white",
}
#: The same for a paper: fonts inside a PDF as TrueType, letters as small as its captions.
_PAPER_SETTINGS: dict[Any, Any] = {
    **_SETTINGS,
    "pdf.fonttype": 42,
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
}
#: Widths of one and of both columns of a paper, in inches (ACM's; IEEE's are a little wider).
COLUMN_IN, PAGE_IN = 3.33, 7.0
#: Figures that are wider on a page, in inches, fill both columns.
_ONE_COLUMN_UP_TO_IN = 6.5
_on_paper: ContextVar[bool] = ContextVar("on_paper", default=False)
_labels: ContextVar[Mapping[str, str]] = ContextVar("labels", default=MappingProxyType({}))


@contextmanager
def for_paper() -> Iterator[None]:
    """Figures that are made and saved within the block have a paper's sizes."""
    before = _on_paper.set(True)
    try:
        yield
    finally:
        _on_paper.reset(before)


@contextmanager
def labelled(labels: Mapping[str, str]) -> Iterator[None]:
    """Figures that are written within the block show these texts instead of names of entries and
    words of axes."""
    before = _labels.set(labels)
    try:
        yield
    finally:
        _labels.reset(before)


def label_of(name: str) -> str:
    """The text that :func:`labelled` has for a name; by default the name itself."""
    return _labels.get().get(name, name)


def relabel(figure: Figure) -> None:
    """Puts the labels of :func:`labelled` into a figure; texts of ticks are for :func:`label_of`."""
    for text in figure.findobj(Text) if _labels.get() else ():
        text.set_text(label_of(text.get_text()))


def settings() -> dict[Any, Any]:
    """matplotlib's settings for figures of a page, or of a paper."""
    return _PAPER_SETTINGS if _on_paper.get() else _SETTINGS


def size(width: float, height: float) -> tuple[float, float]:
    """The size of a figure, given in inches on a page; on paper it is as wide as one column or two."""
    if not _on_paper.get():
        return width, height
    target = COLUMN_IN if width <= _ONE_COLUMN_UP_TO_IN else PAGE_IN
    return target, height * target / width


@dataclass(frozen=True)
class Style:
    """The look of one controller: colour, line and marker differ, so figures do not depend only on colour."""

    colour: str
    line: Any
    marker: str

    @property
    def of_line(self) -> dict[str, Any]:
        """Keywords of ``Axes.plot`` for a curve."""
        return {
            "color": self.colour,
            "linestyle": self.line,
            "linewidth": 1.1 if _on_paper.get() else 1.5,
        }

    @property
    def of_points(self) -> dict[str, Any]:
        """Keywords of ``Axes.plot`` for a curve with a marker at each point."""
        return {**self.of_line, "marker": self.marker, "markersize": 3.5 if _on_paper.get() else 5}


_OF_NAMES = dict(zip(COLOURS, map(Style, COLOURS.values(), _LINES, _MARKERS), strict=True))
#: Grey styles of bounds, distinct from those of the contenders.
_BOUNDS = (Style("#888888", "--", "_"), Style("#888888", ":", "|"))


def styles(
    names: Iterable[str], families: Mapping[str, str] | None = None, references: Collection[str] = ()
) -> dict[str, Style]:
    """A style for each name, in the order given: known controllers have theirs, the rest the next one.
    Names among ``references`` are bounds: grey, dashed or dotted.

    ``families``: name -> the name of the controller that it is a variant of. Variants of one have its colour,
    the later the lighter, and lines and markers that differ.
    """
    of = {name: (families or {}).get(name, name) for name in names}
    family_styles = _own_styles(
        dict.fromkeys(family for name, family in of.items() if name not in references)
    )
    bounds = itertools.cycle(_BOUNDS)
    looks = {}
    for name, family in of.items():
        if name in references:
            looks[name] = next(bounds)
            continue
        variants = [other for other, its in of.items() if its == family]
        looks[name] = (
            family_styles[family]
            if len(variants) == 1
            else _variant(family_styles[family], variants.index(name), len(variants))
        )
    return looks


def _variant(style: Style, number: int, count: int) -> Style:
    white = 0.55 * number / max(1, count - 1)
    red, green, blue = (0.6 * part + (1 - 0.6 * part) * white for part in to_rgb(style.colour))
    return Style(to_hex((red, green, blue)), _LINES[number % len(_LINES)], _MARKERS[number % len(_MARKERS)])


def _own_styles(names: Iterable[str]) -> dict[str, Style]:
    others = itertools.cycle(map(Style, OTHERS, _OTHER_LINES, _OTHER_MARKERS))
    return {name: _OF_NAMES[name] if name in _OF_NAMES else next(others) for name in names}


def figure_font() -> float:
    """Points of a figure's ordinary letters."""
    return float(settings()["font.size"])


def new_axes(width: float = 4.9, height: float = 3.5) -> tuple[Figure, Axes]:
    """An empty figure (inches) with one pair of axes and a light grid."""
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=size(width, height))
        axes = figure.subplots()
    axes.grid(alpha=0.3, linewidth=0.6)
    return figure, axes


def legend(figure: Figure | SubFigure, axes: Axes) -> None:
    """The names above the axes, so that they hide no curve: four in a row, fewer if they are long."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        figure.legend(
            handles,
            labels,
            loc="outside upper center",
            ncols=max(1, min(4, len(labels), 48 // max(map(len, labels)))),
            frameon=False,
            fontsize=0.85 * settings()["font.size"],
            handlelength=3,
        )


def queue_scale(axes: Axes, axis: Literal["x", "y"]) -> None:
    """kB on a logarithmic scale that is linear up to 1: zero is a length that queues often have."""
    set_scale, which = (axes.set_xscale, axes.xaxis) if axis == "x" else (axes.set_yscale, axes.yaxis)
    set_scale("symlog", linthresh=1.0, linscale=0.5)
    which.set_major_formatter("{x:,g}")
    which.set_minor_locator(NullLocator())


def picture(figure: Figure, kind: Literal["svg", "png"] = "svg") -> bytes:
    """The figure as PNG, or as SVG if that is no longer than ``LARGEST_SVG``."""
    relabel(figure)
    with matplotlib.rc_context(settings()):
        lay_out(figure)
        if kind == "svg" and len(image := _svg(figure)) <= LARGEST_SVG:
            return image
        target = io.BytesIO()
        figure.savefig(target, format="png", dpi=160)
    return target.getvalue()


def _svg(figure: Figure) -> bytes:
    target = io.BytesIO()
    figure.savefig(target, format="svg", metadata={"Date": None})
    return re.sub(rb' d="[^"]*"', lambda path: _TOO_FINE.sub(b"", path[0]), target.getvalue())


def is_png(image: bytes) -> bool:
    """Returns whether a picture is PNG (else SVG)."""
    return image.startswith(b"\x89PNG")


def data_uri(image: bytes) -> str:
    """The picture as a data URI."""
    kind = "image/png" if is_png(image) else "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(image).decode('ascii')}"


def envelope(times: Floats, values: Floats, bins: int = 400) -> tuple[Floats, Floats]:
    """A curve of at most 2·``bins`` points that keeps the minimum and maximum of each stretch of time.

    Args:
        times: (n,) ascending.
        values: (n,).
        bins: number of stretches, all with the same number of points.
    """
    if len(times) <= 2 * bins:
        return times, values
    extremes = []
    for rows in of_as_many(len(times), bins):
        cut = values[rows]
        extremes += [rows[:, 0] + cut.argmin(axis=1), rows[:, 0] + cut.argmax(axis=1)]
    indices = np.unique(np.concatenate(extremes))
    return times[indices], values[indices]


def of_as_many(count: int, bins: int) -> list[npt.NDArray[np.int64]]:
    """Indices of ``count`` points, split into ``bins`` runs whose lengths differ by at most one.

    Returns:
        For each length a table with a row for each stretch.
    """
    edges = np.linspace(0, count, bins + 1).astype(np.int64)
    lengths = np.diff(edges)
    return [edges[:-1][lengths == length, None] + np.arange(length) for length in np.unique(lengths)]


def time_unit(longest_ns: float) -> tuple[float, str]:
    """(ns per unit, name) in which a time axis of this length reads well."""
    return (1e9, "s") if longest_ns >= 2e9 else (1e6, "ms") if longest_ns >= 1e6 else (1e3, "µs")


#: Formats of figures; letters of an SVG are shapes, those of a PDF embedded TrueType.
FORMATS = ("pdf", "svg", "png")
#: Folder of a run's figures.
FOLDER = "figures"
_PNG_DPI = 300


def parse_formats(text: str) -> list[str]:
    """ "pdf,svg" as a list. Raises ConfigError for an unknown format."""
    formats = [part.strip().lower() for part in text.split(",") if part.strip()]
    for name in formats:
        if name not in FORMATS:
            names = ", ".join(FORMATS)
            raise ConfigError(f"--format: {shown(name)} is none of {names}{nearest(name, FORMATS)}")
    return list(dict.fromkeys(formats))


def write_picture(figure: Figure, file: Path) -> Path:
    """Writes a figure as .svg, or as .png under any other name, and returns the file's path."""
    write_file(file, picture(figure, "svg" if file.suffix == ".svg" else "png"))
    return file


def save(figure: Figure, folder: Path, name: str, formats: Sequence[str]) -> list[Path]:
    """Writes FOLDER/NAME.FORMAT for each format, the same bytes for the same figure.

    Args:
        figure: figure made within ``ns3_env.eval.output.plots.for_paper``; this call must be within it as
            well.
        folder: folder, created if missing.
        name: name of the files; characters that a file's name should not have become "_".
        formats: formats, a selection of ``FORMATS``.

    Returns:
        The files.

    Raises:
        ScenarioError: a file is a symbolic link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    relabel(figure)
    with matplotlib.rc_context(settings()):
        lay_out(figure)
    for kind in formats:
        target = folder / f"{file_name(name)}.{kind}"
        refuse_link(target)
        content = io.BytesIO()
        undated = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}[kind]
        with matplotlib.rc_context(settings()):
            figure.savefig(content, format=kind, dpi=_PNG_DPI, metadata=undated)
        write_atomically(target, content.getvalue())
        written.append(target)
    return written

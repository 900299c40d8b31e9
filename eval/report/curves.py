# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of metrics over the axes of a suite's grids."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from ns3_env.eval.benchmark.grid import short_names
from ns3_env.eval.benchmark.standings import Score, Standing, headlines
from ns3_env.eval.benchmark.suite import Suite, SuiteScenario
from ns3_env.eval.episodes.entry import OfGrid, Parameter
from ns3_env.eval.metrics import METRICS, Metric
from ns3_env.eval.output.multiples import multiples
from ns3_env.eval.output.plots import (
    Floats,
    Style,
    figure_font,
    label_of,
    legend,
    queue_scale,
    settings,
    size,
)
from ns3_env.eval.report.figures import Panel

#: Panels of one figure; for a grid of more axes, the first combinations of the other axes are drawn.
MAX_PANELS = 12
#: From this ratio of the largest to the smallest value on an axis is logarithmic.
_LOG_FROM_X, _LOG_FROM_Y = 30, 20

#: (scenario, controller) of a point on a line, by the parameter's value.
Line = dict[Parameter, tuple[str, str]]
#: Panel's title -> line's name -> line.
Panels = dict[str, dict[str, Line]]
Entry = TypeVar("Entry", bound=OfGrid)


@dataclass(frozen=True)
class Sweep:
    """One axis of a grid, and the curves over it.

    Attributes:
        key: short name, as in a file's name: "load".
        axis: the parameter's whole key: "traffic.load", "hpcc.Eta".
        of: owner of the grid: a scenario's name in the suite, or a controller's.
        panels: title -> line's name -> its points; the points of a line without the parameter are the same.
        left_out: number of panels that are not drawn.
    """

    key: str
    axis: str
    of: str
    panels: Panels
    left_out: int


def sweeps(suite: Suite) -> list[Sweep]:
    """Every axis with two values or more: those of scenarios, then those of controllers."""
    of_scenarios = [
        _sweep(cases, axis, axis, _over_scenarios(suite, cases, axis))
        for cases in _families(suite.scenarios)
        for axis in _axes(cases)
    ]
    of_controllers = [
        _sweep(entries, axis, f"{entries[0].of}.{axis}", _over_attribute(suite, entries[0].of, axis))
        for entries in _families(suite.controllers)
        for axis in _axes(entries)
    ]
    return of_scenarios + of_controllers


def _over_scenarios(suite: Suite, entries: Sequence[SuiteScenario], axis: str) -> Panels:
    """A panel for each combination of the other axes; a line for each controller."""
    panels: Panels = {}
    for case in entries:
        lines = panels.setdefault("\n".join(_others(case, axis)), {})
        for entry in suite.entries_of(case):
            lines.setdefault(entry.name, {})[case.parameters[axis]] = (case.name, entry.name)
    return panels


def _over_attribute(suite: Suite, family: str, axis: str) -> Panels:
    """A panel for each scenario; lines for the combinations of the family's other attributes, and for each
    other controller, which has one value wherever the attribute is."""
    panels: Panels = {}
    for scenario in suite.scenarios:
        lines = panels.setdefault(scenario.name, {})
        playing = suite.entries_of(scenario)
        values = dict.fromkeys(entry.parameters[axis] for entry in playing if entry.of == family)
        for entry in playing:
            cell = (scenario.name, entry.name)
            if entry.of != family:
                lines[entry.name] = dict.fromkeys(values, cell)
            else:
                line = lines.setdefault(", ".join([family, *_others(entry, axis)]), {})
                line[entry.parameters[axis]] = cell
    return panels


def of_sweep(sweep: Sweep, summary: Sequence[Standing], looks: Mapping[str, Style]) -> Iterator[Panel]:
    """A figure for each main metric that is not the same everywhere."""
    scores = {(scenario.name, row.controller): row.scores for scenario in summary for row in scenario.rows}
    for name in headlines(summary):
        cells = {cell for lines in sweep.panels.values() for line in lines.values() for cell in line.values()}
        means = {scores[cell][name].mean for cell in cells if cell in scores}
        numbers = {mean for mean in means if not math.isnan(mean)}
        if len(numbers) > 1:
            of_metric = {cell: cell_scores[name] for cell, cell_scores in scores.items()}
            yield _figure(sweep, METRICS[name], of_metric, looks)


def _figure(
    sweep: Sweep,
    metric: Metric,
    scores: Mapping[tuple[str, str], Score],
    looks: Mapping[str, Style],
) -> Panel:
    titles = list(sweep.panels)
    figure, several = multiples(titles, {}, height=1.9)
    if len(titles) == 1:
        several[0].set_title("")
    unit, scale = ("kB", 1e3) if metric.unit == "B" else (metric.unit, 1.0)
    across = _Across.of(sweep)
    heights: list[float] = []
    for axes, lines in zip(several, sweep.panels.values(), strict=True):
        heights += _draw(axes, across, lines, scores, scale, looks)
    if max(heights) > _LOG_FROM_Y * min(heights):
        if unit == "kB":
            queue_scale(several[0], "y")
            several[0].set_ylim(bottom=0)
        elif min(heights) > 0:
            several[0].set_yscale("log")
            several[0].yaxis.set_major_formatter("{x:,g}")
    figure.supxlabel(words_of(sweep.axis), fontsize=figure_font())
    figure.supylabel(metric.heading + (f" ({unit})" if unit else ""), fontsize=figure_font())
    legend(figure, several[0])
    better = {"lower": "Lower is better. ", "higher": "Higher is better. ", None: ""}[metric.better]
    more = f" The first {len(titles)} of {len(titles) + sweep.left_out} panels." if sweep.left_out else ""
    return Panel(
        f"{metric.name}-over-{sweep.key}",
        figure,
        f"{metric.heading} over {sweep.axis}",
        f"{better}Means over seeds; bars: their bootstrap intervals (95 %), side by side for the eye.{more}",
    )


@dataclass(frozen=True)
class _Across:
    """The horizontal axis of a sweep: its values, their positions, and the scale."""

    values: Sequence[Parameter]
    places: Mapping[Parameter, float]
    numeric: bool
    log: bool

    @classmethod
    def of(cls, sweep: Sweep) -> _Across:
        lines = [line for lines in sweep.panels.values() for line in lines.values()]
        values = list(dict.fromkeys(x for line in lines for x in line))
        numeric = all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)
        places = {x: float(x) if numeric else float(place) for place, x in enumerate(values)}
        least, most = min(places.values()), max(places.values())
        return cls(values, places, numeric, numeric and least > 0 and most >= _LOG_FROM_X * least)

    def aside(self, at: Floats, place: float, count: int) -> Floats:
        """Moves points of one of several lines a little to the side, so that bars do not overlap."""
        if not self.numeric:
            return np.asarray(at + 0.6 * place / count)
        if self.log:
            return np.asarray(at * (at.max() / at.min()) ** (0.008 * place))
        return np.asarray(at + 0.008 * place * (at.max() - at.min()))

    def scale(self, axes: Axes) -> None:
        """Scales the axis, and names each value if they are few."""
        if self.log:
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
        if len(self.values) <= 6:
            labels = [f"{x:g}" if isinstance(x, float) else str(x) for x in self.values]
            axes.set_xticks([self.places[x] for x in self.values], labels)
        axes.margins(x=0.05 if self.numeric else 0.25)


def _draw(
    axes: Axes,
    across: _Across,
    lines: Mapping[str, Line],
    scores: Mapping[tuple[str, str], Score],
    scale: float,
    looks: Mapping[str, Style],
) -> list[float]:
    """Draws a panel's lines of one metric over ``scale``, with intervals; returns the means, without NaN."""
    heights: list[float] = []
    moving = [name for name, line in lines.items() if len(set(line.values())) > 1]
    for name, line in lines.items():
        look = looks.get(name) or looks[next(iter(line.values()))[1]]
        points = sorted((across.places[x], scores[cell]) for x, cell in line.items() if cell in scores)
        mean, low, high = (
            np.array([getattr(score, which) for _, score in points]) / scale
            for which in ("mean", "low", "high")
        )
        heights += [float(x) for x in mean if not math.isnan(x)]
        at = np.array([x for x, _ in points])
        if name not in moving:  # another controller's parameter
            axes.plot(at, mean, label=name, **look.of_line)
            continue
        place = moving.index(name) - (len(moving) - 1) / 2
        aside = across.aside(at, place, len(moving))
        points_alone = {} if across.numeric else {"linestyle": "none"}
        axes.plot(aside, mean, label=name, **{**look.of_points, **points_alone})
        bars = np.nan_to_num([np.maximum(mean - low, 0), np.maximum(high - mean, 0)])
        axes.errorbar(aside, mean, bars, fmt="none", ecolor=look.colour, elinewidth=0.8, capsize=2)
    across.scale(axes)
    return heights


def overview(
    sweep: Sweep, summary: Sequence[Standing], looks: Mapping[str, Style], metrics: Sequence[str]
) -> Figure:
    """One figure of four metrics over a sweep of scenarios; of the first, ratios to each scenario's best."""
    with matplotlib.rc_context(settings()):
        figure = Figure(figsize=size(9.0, 6.4), layout="constrained")
        several = figure.subplots(2, 2, sharex=True).flat
    (lines,), across = sweep.panels.values(), _Across.of(sweep)
    for axes, name in zip(several, metrics, strict=True):
        metric, beside = METRICS[name], name == metrics[0]
        scores = {
            (standing.name, row.controller): _beside_best(row.scores[name]) if beside else row.scores[name]
            for standing in summary
            for row in standing.rows
        }
        unit, scale = (" (kB)", 1e3) if metric.unit == "B" else ("", 1.0)
        heights = _draw(axes, across, lines, scores, scale, looks)
        if min(heights) > 0 and max(heights) > _LOG_FROM_Y * min(heights):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:,g}")
        axes.set_title(metric.heading + (" / the best one's" if beside else unit))
        axes.grid(alpha=0.3, linewidth=0.6)
    figure.supxlabel(words_of(sweep.axis), fontsize=figure_font())
    legend(figure, axes)
    return figure


#: Ends of keys that are units.
_UNITS = {"_bps": "bit/s", "_bytes": "B", "_ns": "ns", "_us": "µs", "_ms": "ms"}


def words_of(key: str) -> str:
    """Words for a key at an axis: its label, or "size (B)" for "traffic.size_bytes", "Eta of hpcc" for
    "hpcc.Eta"."""
    if (label := label_of(key)) != key:
        return label
    section, _, name = key.rpartition(".")
    for end, unit in _UNITS.items():
        if name.endswith(end):
            return f"{name.removesuffix(end).replace('_', ' ')} ({unit})"
    words = name.replace("_", " ")
    return f"{words} of {section}" if name[:1].isupper() else words


def _beside_best(score: Score) -> Score:
    """The ratio to the best one's, seed by seed, with its interval; 1 of the best itself."""
    if score.edge is None:
        return replace(score, mean=1.0, low=1.0, high=1.0)
    ratio = score.edge.difference
    return replace(score, mean=ratio.estimate, low=ratio.low, high=ratio.high)


def _families(entries: Sequence[Entry]) -> list[list[Entry]]:
    """The entries that each grid of the suite made."""
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.parameters:
            families.setdefault(entry.of, []).append(entry)
    return list(families.values())


def _axes(entries: Sequence[OfGrid]) -> list[str]:
    """Keys that have two values or more, and that every entry has."""
    keys = [key for key in entries[0].parameters if all(key in entry.parameters for entry in entries)]
    return [key for key in keys if len({entry.parameters[key] for entry in entries}) > 1]


def _others(entry: OfGrid, axis: str) -> list[str]:
    """The point's values on the other axes: "senders=4", "delay_ns=1000"."""
    names = short_names(list(entry.parameters))
    return [f"{names[key]}={value}" for key, value in entry.parameters.items() if key != axis]


def _sweep(family: Sequence[OfGrid], key: str, axis: str, panels: Panels) -> Sweep:
    """The sweep over the family's ``key``, which is called ``axis`` in the suite."""
    short = short_names(list(family[0].parameters))[key]
    first = dict(itertools.islice(panels.items(), MAX_PANELS))
    return Sweep(short, axis, family[0].of, first, len(panels) - len(first))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of a scenario: slowdown, queue and rates, of controllers next to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from ns3_env.eval.benchmark.folder import Cell, Flows, Series, read_flows, read_queue_cdf, read_series
from ns3_env.eval.benchmark.standings import Standing
from ns3_env.eval.episodes.critical_path import FILE as PATHS
from ns3_env.eval.episodes.critical_path import in_words, read_critical_paths, slowest
from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.output.multiples import draw_queues, multiples
from ns3_env.eval.output.plots import (
    Floats,
    Style,
    envelope,
    legend,
    new_axes,
    queue_scale,
    time_unit,
)
from ns3_env.eval.report.timelines import small_figures

#: Shaded curves of more panels are always longer as SVG than a page's figures may be.
_SVG_PANELS = 10

#: Flow -> (times in ns, values).
Curves = Mapping[str, tuple[Floats, Floats]]


@dataclass(frozen=True)
class Panel:
    """A figure: its name in a file's, its subject, how to read it; ``small`` ones share a row.

    ``image``: the picture on the page; PNG if the SVG is too long.
    """

    name: str
    figure: Figure
    title: str
    reading: str
    small: bool = False
    image: Literal["svg", "png"] = "svg"


def of_scenario(
    summary: Standing, cells: Mapping[str, Sequence[Cell]], looks: Mapping[str, Style]
) -> Iterator[Panel]:
    """Every figure that the cells have the numbers for; draw each before requesting the next.

    Args:
        summary: the scenario's.
        cells: complete cells by controller, in the suite's order; first seed first.
        looks: each controller's style.

    Raises:
        ScenarioError: a cell's file cannot be read.
    """
    cells = {name: controller_cells for name, controller_cells in cells.items() if controller_cells}
    if not cells:
        return
    of_flows = {
        name: [read_flows(cell) for cell in controller_cells] for name, controller_cells in cells.items()
    }
    recorded = {name: read_series(controller_cells[0]) for name, controller_cells in cells.items()}
    ports = {name: read_queue_cdf(controller_cells[0])[0] for name, controller_cells in cells.items()}
    yield from _slowdowns(of_flows, looks)
    yield _queue_cdfs(cells, looks)
    yield from _queues(recorded, ports, looks)
    yield from _pareto(summary, looks)
    yield from _timelines(cells, looks)
    yield from _rates(recorded, {name: several[0].ends for name, several in of_flows.items()}, looks)


def _slowdowns(of_flows: Mapping[str, Sequence[Flows]], looks: Mapping[str, Style]) -> list[Panel]:
    """Draws slowdowns by size; a CDF if all flows are in one bucket."""
    sizes = np.concatenate([one.sizes for several in of_flows.values() for one in several])
    used = [bucket for bucket in SIZE_BUCKETS if ((sizes > bucket[2]) & (sizes <= bucket[3])).any()]
    if len(used) < 2:
        return [_slowdown_cdf(of_flows, looks)]
    return [
        _slowdown_by_size(of_flows, looks, used, "mean", lambda values: float(values.mean())),
        _slowdown_by_size(of_flows, looks, used, "p99", lambda values: float(np.percentile(values, 99))),
    ]


def _slowdown_cdf(of_flows: Mapping[str, Sequence[Flows]], looks: Mapping[str, Style]) -> Panel:
    figure, axes = new_axes()
    draw_slowdowns(axes, of_flows, looks)
    legend(figure, axes)
    return Panel(
        "slowdown-cdf",
        figure,
        "FCT slowdown of the flows (CDF)",
        "Further left is better. A curve that ends below 1 left flows unfinished: their slowdown is unknown.",
    )


def draw_slowdowns(axes: Axes, of_flows: Mapping[str, Sequence[Flows]], looks: Mapping[str, Style]) -> None:
    """Draws the distribution of slowdowns of each name's flows, over all seeds.

    Shares are of all flows that end, including unfinished ones: a curve below 1 at its end has some.
    """
    for name, several in of_flows.items():
        slowdowns = np.concatenate([one.slowdowns for one in several])
        slowdowns = np.sort(slowdowns[~np.isnan(slowdowns)])
        if not len(slowdowns):
            continue
        ending = sum(np.count_nonzero(~np.isnan(one.sizes)) for one in several)
        shares = np.arange(1, len(slowdowns) + 1) / ending
        indices = np.unique(np.linspace(0, len(shares) - 1, 500).astype(int))
        axes.step(slowdowns[indices], shares[indices], where="post", label=name, **looks[name].of_line)
    axes.set(xlabel="FCT slowdown", ylabel="share of all flows", ylim=(0, 1.03))


def _slowdown_by_size(
    of_flows: Mapping[str, Sequence[Flows]],
    looks: Mapping[str, Style],
    buckets: Sequence[tuple[str, str, float, float]],
    what: str,
    of: Callable[[Floats], float],
) -> Panel:
    figure, axes = new_axes()
    places = np.arange(len(buckets))
    for name, several in of_flows.items():
        sizes = np.concatenate([one.sizes for one in several])
        slowdowns = np.concatenate([one.slowdowns for one in several])
        heights = []
        for _, _, above, up_to in buckets:
            within = slowdowns[(sizes > above) & (sizes <= up_to) & ~np.isnan(slowdowns)]
            heights.append(of(within) if len(within) else np.nan)
        axes.plot(places, heights, label=name, **looks[name].of_points)
    axes.set(xlabel="flow size", ylabel=f"FCT slowdown, {what}", yscale="log")
    axes.set_xticks(places, [words for _, words, _, _ in buckets])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_minor_locator(NullLocator())
    legend(figure, axes)
    return Panel(
        f"slowdown-by-size-{what}",
        figure,
        f"FCT slowdown by flow size, {what}",
        "Lower is better; 1 is an idle path. Flows of all seeds together, finished ones only"
        + (
            "; in a bucket of fewer than 100 flows the p99 is all but the slowest one."
            if what == "p99"
            else "."
        ),
    )


def _queue_cdfs(cells: Mapping[str, Sequence[Cell]], looks: Mapping[str, Style]) -> Panel:
    figure, axes = new_axes()
    for name, controller_cells in cells.items():
        curves = [read_queue_cdf(cell)[1:] for cell in controller_cells]
        lengths, shares = _mean_cdf([curve for curve in curves if len(curve[0])])
        if len(lengths):
            axes.step(lengths / 1e3, shares, where="post", label=name, **looks[name].of_line)
    queue_scale(axes, "x")
    axes.set(xlabel="queue of the bottleneck port (kB)", ylabel="share of time", ylim=(0, 1.03))
    axes.set_xlim(left=0)
    legend(figure, axes)
    return Panel(
        "queue-cdf",
        figure,
        "Queue length (CDF over time)",
        "Share of the time for which the queue was no longer than x; further left is better. "
        "Mean of the seeds' curves; logarithmic above 1 kB.",
    )


def _mean_cdf(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The mean of step functions (lengths ascending, shares), at every length at which any of them steps."""
    if not curves:
        return np.zeros(0), np.zeros(0)
    grid = np.unique(np.concatenate([lengths for lengths, _ in curves]))
    total = np.zeros(len(grid))
    for lengths, shares in curves:
        total += np.concatenate([[0.0], shares])[np.searchsorted(lengths, grid, side="right")]
    return grid, total / len(curves)


def _queues(
    recorded: Mapping[str, Series], ports: Mapping[str, str], looks: Mapping[str, Style]
) -> list[Panel]:
    """The bottleneck's queue over time, a panel for each controller; no figure without series."""
    curves = {}
    for name, series in recorded.items():
        queues = series.get("queue", {})
        port = ports[name] if ports[name] in queues else next(iter(queues), None)
        if port is not None:
            curves[name] = queues[port]
    if not curves:
        return []
    unit, unit_name = time_unit(max(float(times[-1]) for times, _ in curves.values()))
    figure, panels = multiples(list(curves), looks)
    scaled = [(times / unit, lengths / 1e3) for times, lengths in curves.values()]
    draw_queues(figure, panels, scaled, unit_name)
    return [
        Panel(
            "queue-over-time",
            figure,
            "Queue over time, first seed",
            "One seed, an example and no mean. Shaded: from the shortest to the longest queue of a stretch "
            "of time; line: the median. The grey line marks the end of the controller's last flow: earlier "
            "is faster. Logarithmic above 1 kB.",
            image="svg" if len(curves) <= _SVG_PANELS else "png",
        )
    ]


def _pareto(summary: Standing, looks: Mapping[str, Style]) -> list[Panel]:
    """Goodput against the queue's p99, with intervals over seeds, and the Pareto front."""
    points: dict[str, tuple[float, float]] = {}
    figure, axes = new_axes()
    for row in summary.rows:
        queue, goodput = row.scores["queue_p99_bytes"], row.scores["goodput"]
        if np.isnan(queue.mean) or np.isnan(goodput.mean):
            continue
        x, y, look = queue.mean / 1e3, goodput.mean, looks[row.controller]
        points[row.controller] = (x, y)
        if queue.interval and goodput.interval:
            wide = [[max(0.0, x - queue.low / 1e3)], [max(0.0, queue.high / 1e3 - x)]]
            high = [[max(0.0, y - goodput.low)], [max(0.0, goodput.high - y)]]
            axes.errorbar(x, y, xerr=wide, yerr=high, color=look.colour, linewidth=1, capsize=2)
        axes.plot(
            x, y, linestyle="none", marker=look.marker, color=look.colour, markersize=8, label=row.controller
        )
    if not points:
        return []
    ranked = {
        row.controller: points[row.controller]
        for row in summary.rows
        if row.controller in points and not row.reference
    }
    front = [points[name] for name in pareto_front(ranked)]
    if front:
        axes.plot(*zip(*front, strict=True), color="#888888", linewidth=0.8, linestyle=":", zorder=0)
    axes.margins(x=0.1, y=0.15)
    if min(x for x, _ in points.values()) < 1:
        queue_scale(axes, "x")
        axes.set_xlim(left=-0.1)
    else:
        axes.set_xscale("log")
        decades = max(x for x, _ in points.values()) > 100 * min(x for x, _ in points.values())
        axes.xaxis.set_major_locator(LogLocator(subs=(1,) if decades else (1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.xaxis.set_minor_locator(NullLocator())
    axes.set(xlabel="queue p99 (kB)", ylabel="goodput / receivers' links")
    legend(figure, axes)
    return [
        Panel(
            "goodput-against-queue",
            figure,
            "Goodput against queue",
            "Up and left is better. The dotted line joins the controllers that no other beats in both; "
            "bars are the seeds' intervals.",
        )
    ]


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names of the (queue, goodput) that no other one beats in one without losing in the other, by queue."""
    front = [
        name
        for name, (queue, goodput) in points.items()
        if not any(q <= queue and g >= goodput and (q, g) != (queue, goodput) for q, g in points.values())
    ]
    return sorted(front, key=lambda name: points[name])


def _timelines(cells: Mapping[str, Sequence[Cell]], looks: Mapping[str, Style]) -> list[Panel]:
    """A small figure for each controller, of its first seed's first job; no figure without training jobs."""
    paths = {name: controller_cells[0].folder / "tasks.csv" for name, controller_cells in cells.items()}
    reading = "Dark: the rank computes; coloured: it only sends or receives; white: it waits. First seed."
    return [
        Panel(
            f"timeline-{name}",
            figure,
            f"Ranks of {job}: {name}",
            " ".join([reading, *map(in_words, slowest(read_critical_paths(paths[name].parent / PATHS))[:1])]),
            small=True,
        )
        for name, job, figure in small_figures(paths, looks)
    ]


def _rates(
    recorded: Mapping[str, Series],
    ends: Mapping[str, Floats],
    looks: Mapping[str, Style],
) -> Iterator[Panel]:
    """A small figure for each controller, all with the same time axis: its flows' rates, or windows.

    Args:
        recorded: each controller's series, of its first seed.
        ends: end of each flow, (flows,) in ns, NaN for unfinished flows.
        looks: style of each controller.
    """
    with_rates = {name: series for name, series in recorded.items() if series.get("rate")}
    if not with_rates:
        return
    every = [curve for series in with_rates.values() for curve in series["rate"].values()]
    last = max(float(times[-1]) for times, _ in every)
    last = max([last, *(float(np.nanmax(x)) for x in ends.values() if not np.isnan(x).all())])
    most = max(float(np.nanmax(values)) for _, values in every)
    unit, unit_name = time_unit(last)

    for name, series in with_rates.items():
        what, lines, reading = _what_binds(series, most)
        figure, axes = new_axes(4.2, 2.7)
        label, scale, highest = "rate (Gb/s)", 1e9, most
        if what == "window":
            label, scale, highest = "window (kB)", 1e3, max(float(np.nanmax(x)) for _, x in lines.values())
        axes.set(xlabel=f"time ({unit_name})", xlim=(0, last / unit))
        axes.set(ylabel=label, ylim=(0, 1.05 * (highest / scale)))
        if lines:
            curves = _steps(lines, ends[name], last, looks[name], (unit, scale))
            axes.add_collection(curves, autolim=False)
        else:
            axes.text(0.5, 0.5, "no change recorded", transform=axes.transAxes, ha="center", color="#555555")
        title = f"{what.capitalize()} of each flow: {name}"
        yield Panel(f"rates-{name}", figure, title, reading, small=True)


def _what_binds(series: Series, most: float) -> tuple[str, Curves, str]:
    """Chooses the curves: ("rate" or "window", curves by flow, how to read them).

    A window of a BDP or more allows the line's rate, however long the queue makes the round trip: where
    rates tell no more than that for most of their changes, windows do.
    """
    rates = series["rate"]
    if np.median(np.concatenate([values for _, values in rates.values()])) >= 0.99 * most:
        every = series.get("window", {})
        window = {flow: curve for flow, curve in every.items() if not np.isnan(curve[1]).all()}
        if window and not _steady(window):
            reading = f"Windows of {len(window)} flows; they mostly allow the full rate. First seed."
            return "window", window, reading
    if _steady(rates):
        return "rate", {}, "No change was recorded: none was made, or a timer made it, which is not recorded."
    return "rate", rates, f"What rate and window allow each of {len(rates)} flows to send. First seed."


def _steady(curves: Curves) -> bool:
    return all(bool(np.all(values == values[0])) for _, values in curves.values())


def _steps(
    curves: Curves, ends: Floats, last: float, look: Style, scales: tuple[float, float]
) -> LineCollection:
    """A line for each flow from its start to its end (or ``last``); ``scales``: units of time and value."""
    lines = []
    for flow, (all_times, all_values) in curves.items():
        times, values = envelope(all_times, all_values, bins=100)
        end = ends[int(flow)] if int(flow) < len(ends) else np.nan
        at = np.append(times, max(last if np.isnan(end) else end, times[-1])) / scales[0]
        lines.append(np.column_stack((np.repeat(at, 2)[1:-1], np.repeat(values, 2) / scales[1])))
    alpha = 0.9 if len(curves) <= 4 else 0.5
    return LineCollection(
        lines, colors=look.colour, linewidths=0.8, alpha=alpha, capstyle="projecting", joinstyle="round"
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace of one run: its figure, rates, windows, queue, marks and pauses above one time axis; files."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from ns3_env.config.files import write_file
from ns3_env.eval.episodes.flow_series import MANY_FLOWS, draw_flow_series
from ns3_env.eval.episodes.recording import COLUMNS, recorded_series
from ns3_env.eval.output.multiples import band
from ns3_env.eval.output.plots import (
    FOLDER,
    Floats,
    figure_font,
    for_paper,
    new_axes,
    picture,
    save,
    settings,
    time_unit,
)
from ns3_env.simulator.results import bottleneck

Results = Mapping[str, Any]

#: Cells of the heat map of many flows' marks: stretches of time, groups of flows.
_TIMES, _GROUPS = 200, 50
#: Paused ports that are named at the axis.
_NAMED_PORTS = 8


@dataclass(frozen=True)
class Panel:
    """One of the panels: its name in a file's, its relative height, the function that draws it."""

    name: str
    height: float
    draw: Callable[[Axes], None]


def panels(results: Results) -> list[Panel]:
    """Rates, windows, the bottleneck's queue, ECN marks, PFC pauses (of RDMA), and each state of the
    controllers."""
    end = float(results["totals"]["end_ns"])
    unit, _ = time_unit(end)
    windows = np.asarray(results.get("windows", []), dtype=np.float64).reshape(-1, 4)
    changes = results.get("controller_state", ())
    panels_of_run = [
        Panel("rates", 3, partial(_draw_rates, results=results, windows=windows, end=end, unit=unit)),
        Panel("windows", 3, partial(_draw_windows, results=results, windows=windows, end=end, unit=unit)),
        Panel("queue", 3, partial(_draw_queue, results=results, unit=unit)),
        Panel("marks", 1.6, partial(_draw_marks, results=results, end=end, unit=unit)),
    ]
    if not _is_tcp(results):
        panels_of_run.append(Panel("pauses", 1.6, partial(_draw_pauses, results=results, end=end, unit=unit)))
    for state in sorted({name for _, _, name, _ in changes}):
        rows = [(time, flow, value) for time, flow, name, value in changes if name == state]
        of_state = np.asarray(rows, dtype=np.float64)
        draw = partial(_draw_state, results=results, rows=of_state, state=state, end=end, unit=unit)
        panels_of_run.append(Panel(f"state-{state}", 2.2, draw))
    return panels_of_run


def draw(results: Results, title: str) -> Figure:
    """All panels above one time axis."""
    time_panels = panels(results)
    states = sum(panel.name.startswith("state-") for panel in time_panels)
    figure = Figure(figsize=(10, 11 + 2 * states), layout="constrained", facecolor="white")
    several = figure.subplots(
        len(time_panels), 1, sharex=True, height_ratios=[panel.height for panel in time_panels]
    )
    figure.suptitle(title, fontsize=11)
    for axes, panel in zip(several, time_panels, strict=True):
        panel.draw(axes)
        _finish(axes)
    legends = (axes.get_legend_handles_labels() for axes in several)
    handles, labels = next((pair for pair in legends if pair[1]), ([], []))
    if labels:
        columns = min(6, len(labels)) if len(results["flows"]["src"]) > MANY_FLOWS else len(labels)
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
    else:
        several[0].annotate(
            f"dark: flow 0, light: flow {len(results['flows']['src']) - 1}",
            (1, 1.02),
            xycoords="axes fraction",
            ha="right",
            fontsize=8,
        )
    _say_time(several[-1], results)
    return figure


def separately(results: Results) -> list[tuple[str, Figure]]:
    """(name, figure) of each panel by itself."""
    figures = []
    for panel in panels(results):
        figure, axes = new_axes(4.9, 2.7)
        with matplotlib.rc_context(settings()):
            panel.draw(axes)
            axes.set_title(axes.get_title(), fontsize=0.9 * figure_font(), wrap=True)
            if axes.get_legend_handles_labels()[0]:
                figure.legend(
                    loc="outside lower center", ncols=2, frameon=False, fontsize=0.8 * figure_font()
                )
        _finish(axes)
        _say_time(axes, results)
        figures.append((panel.name, figure))
    return figures


def _is_tcp(results: Results) -> bool:
    """Only TCP's senders measure RTTs for the results."""
    return "rtt" in results


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.3, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _say_time(axes: Axes, results: Results) -> None:
    end = float(results["totals"]["end_ns"])
    unit, name = time_unit(end)
    axes.set(xlabel=f"time ({name})", xlim=(0, end / unit))


def _draw_rates(axes: Axes, results: Results, windows: Floats, end: float, unit: float) -> None:
    axes.set(ylabel="pacing rate (Gb/s)", title="Pacing rate of each flow")
    if 0 < len(windows) <= len(results["flows"]["src"]):
        axes.set_title("Pacing rate: no change after the start")
    if _is_tcp(results) and len(np.unique(windows[:, 3])) <= 1:  # the link's rate, whatever the window
        _say(axes, "this controller does not pace")
    elif not draw_flow_series(axes, results, windows, 3, 1e9, end, unit):
        _say(axes, "this controller sets none")


def _draw_windows(axes: Axes, results: Results, windows: Floats, end: float, unit: float) -> None:
    name = "cwnd" if _is_tcp(results) else "window"
    axes.set(ylabel=f"{name} (kB)", title=f"{name.capitalize()} of each flow")
    if not draw_flow_series(axes, results, windows, 2, 1e3, end, unit):
        _say(axes, "this controller sets none")


def _draw_state(axes: Axes, results: Results, rows: Floats, state: str, end: float, unit: float) -> None:
    axes.set(ylabel=state, title=f"State of the controller: {state}")
    draw_flow_series(axes, results, rows, 2, 1.0, end, unit)
    axes.autoscale(axis="y")  # a gradient may be negative


def _draw_queue(axes: Axes, results: Results, unit: float) -> None:
    port = bottleneck(results)
    axes.set(ylabel="queue (kB)", title="Bottleneck queue")
    if port is None or "series" not in port:
        _say(axes, "no port sent anything")
        return
    times, lengths = (np.asarray(port["series"][key], dtype=np.float64) for key in ("t_ns", "bytes"))
    band(axes, times / unit, lengths / 1e3, "#0072B2", bins=600)
    axes.axhline(port["p99_bytes"] / 1e3, color="#555555", linewidth=0.8, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_title(f"Bottleneck queue (node {port['node']}, port {port['port']}); dashed: p99 in time")


def _draw_marks(axes: Axes, results: Results, end: float, unit: float) -> None:
    """A tick for each marked ACK, a row for each flow, or for many flows their number over time; from
    ``results["marks"]``, rows (t_ns, flow)."""
    axes.set(ylabel="flow", title="ECN marks")
    if "marks" not in results:
        _say(axes, "the simulator does not record marks over time")
        return
    marks = np.asarray(results["marks"], dtype=np.float64).reshape(-1, 2)
    axes.set_title(f"ECN marks: {len(marks)}")
    flows = len(results["flows"]["src"])
    if flows > MANY_FLOWS:
        _draw_heat(axes, marks, flows, end, unit)
        return
    axes.scatter(marks[:, 0] / unit, marks[:, 1], marker="|", s=18, linewidths=0.6, color="#D55E00")
    axes.set_ylim(-0.5, flows - 0.5)


def _draw_heat(axes: Axes, marks: Floats, flows: int, end: float, unit: float) -> None:
    """Marks in each stretch of time, of each group of flows: the darker the more."""
    groups = np.linspace(0, flows, min(flows, _GROUPS) + 1)
    times = np.linspace(0, end, _TIMES + 1)
    counts, _, _ = np.histogram2d(marks[:, 1], marks[:, 0], bins=(groups, times))
    most = int(counts.max(initial=0))
    if most == 0:
        return
    heat = np.where(counts > 0, counts, np.nan)
    axes.pcolormesh(times / unit, groups, heat, cmap="OrRd", norm=LogNorm(0.3, max(most, 2)), rasterized=True)
    name = time_unit(end)[1]
    width = (times[1] - times[0]) / unit
    axes.set_title(
        f"ECN marks: {len(marks):,}; darkest: {most:,} in {width:.3g} {name} of {groups[1]:.3g} flows"
    )
    axes.set_ylim(0, flows)


def _draw_pauses(axes: Axes, results: Results, end: float, unit: float) -> None:
    """A bar for each interval during which PFC paused a port, from ``results["pauses"]``, rows (t_ns, node,
    port, paused 0 or 1); without it, the totals in words."""
    flows = results["flows"]
    frames = results["totals"]["pfc_frames"]
    axes.set(title=f"PFC: {frames:,} pause frames")
    if "pauses" not in results:
        paused = [(ns, flow) for flow, ns in enumerate(flows["pause_ns"]) if ns > 0]
        worst = ", ".join(f"flow {flow}: {ns / unit:.3g}" for ns, flow in sorted(paused, reverse=True)[:4])
        name = time_unit(end)[1]
        _say(axes, f"{len(paused)} flows were paused ({name}): {worst}" if paused else "no flow was paused")
        return
    intervals = pause_intervals(results["pauses"], end)
    for row, spans in enumerate(intervals.values()):
        axes.broken_barh([(a / unit, (b - a) / unit) for a, b in spans], (row - 0.4, 0.8), color="#CC79A7")
    step = -(-len(intervals) // _NAMED_PORTS) if intervals else 1
    ticks = list(enumerate(intervals))[::step]
    axes.set_yticks([row for row, _ in ticks], [f"{node}:{port}" for _, (node, port) in ticks], fontsize=7)
    axes.set_ylabel("node:port")
    if not intervals:
        _say(axes, "no port was paused")


def pause_intervals(
    rows: Sequence[Sequence[float]], end: float
) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """(start, end) in ns of each pause, by (node, port); one that has not ended lasts until ``end``.

    Args:
        rows: (t_ns, node, port, paused 0 or 1), ascending in time for each port.
        end: end of the episode, ns.
    """
    intervals: dict[tuple[int, int], list[tuple[float, float]]] = {}
    since: dict[tuple[int, int], float] = {}
    for time, node, port, paused in rows:
        place = (int(node), int(port))
        if paused:
            since.setdefault(place, time)
        elif place in since:
            intervals.setdefault(place, []).append((since.pop(place), time))
    for place, begin in since.items():
        intervals.setdefault(place, []).append((begin, end))
    return dict(sorted(intervals.items()))


def _say(axes: Axes, text: str) -> None:
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#555555")


#: Columns with fractions; "name" is text, other columns are integers.
_REAL = {"t_ns", "time_ns", "window_bytes", "rate_bps", "value"}


@dataclass(frozen=True)
class TraceFiles:
    """trace.png, a Parquet file for each series if pyarrow is installed, and each panel by itself.

    Attributes:
        formats: formats of the panels' own files, in the folder ``figures``.
    """

    formats: Sequence[str] = ()
    files: Sequence[str] = ("trace.png", FOLDER, *(f"{name}.parquet" for name in COLUMNS))

    def write(self, folder: Path, results: Results, title: str) -> None:
        """Writes them into a run's folder; ``results`` has windows, events, states and queue series."""
        if importlib.util.find_spec("pyarrow") is not None:
            _write_parquet(folder, results)
        write_file(folder / "trace.png", picture(draw(results, title), "png"))
        if self.formats:
            with for_paper():
                for name, figure in separately(results):
                    save(figure, folder / FOLDER, name, self.formats)


def _write_parquet(folder: Path, results: Results) -> None:
    """A Parquet file next to each series' CSV."""
    import pyarrow
    from pyarrow import parquet

    def kind(column: str) -> pyarrow.DataType:
        text = pyarrow.string() if column == "name" else pyarrow.int64()
        return pyarrow.float64() if column in _REAL else text

    for series, rows in recorded_series(results).items():
        columns = COLUMNS[series]
        values = list(zip(*rows, strict=True)) if rows else [()] * len(columns)
        table = {
            name: pyarrow.array(column, kind(name)) for name, column in zip(columns, values, strict=True)
        }
        parquet.write_table(pyarrow.table(table), folder / f"{series}.parquet")

# SPDX-License-Identifier: GPL-2.0-or-later
"""What does one run look like from inside? Rates, windows, queue, marks and pauses above one time axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ns3_env.eval.show.plots import Floats, envelope, time_unit
from ns3_env.results import bottleneck

Results = Mapping[str, Any]

#: More flows than this share one colour scale instead of a legend's entry each.
NAMED_FLOWS = 8


def draw(results: Results, title: str) -> Figure:
    """One panel each for rates, windows, the bottleneck's queue, ECN marks, PFC pauses and each state."""
    end = float(results["totals"]["end_ns"])
    unit, name = time_unit(end)
    changes = results.get("controller_state", ())
    states = sorted({name for _, _, name, _ in changes})
    figure = Figure(figsize=(10, 11 + 2 * len(states)), layout="constrained", facecolor="white")
    heights = (3, 3, 3, 1.6, 1.6, *(2.2 for _ in states))
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    figure.suptitle(title, fontsize=11)
    knobs = np.asarray(results.get("windows", []), dtype=np.float64).reshape(-1, 4)
    _draw_knob(panels[0], results, knobs, 3, 1e9, end, unit)
    panels[0].set(ylabel="pacing rate (Gb/s)", title="What each flow is allowed to send: rate")
    if 0 < len(knobs) <= len(results["flows"]["src"]):
        panels[0].set_title("Rate: no change after the start")
    _draw_knob(panels[1], results, knobs, 2, 1e3, end, unit)
    panels[1].set(ylabel="window (kB)", title="What each flow is allowed to have under way: window")
    handles, labels = panels[0].get_legend_handles_labels()
    if labels:
        figure.legend(
            handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8
        )
    else:
        panels[0].annotate(
            f"dark: flow 0, light: flow {len(results['flows']['src']) - 1}",
            (1, 1.02),
            xycoords="axes fraction",
            ha="right",
            fontsize=8,
        )
    _draw_queue(panels[2], results, unit)
    _draw_marks(panels[3], results, unit)
    _draw_pauses(panels[4], results, end, unit)
    for axes, state in zip(panels[5:], states, strict=True):
        rows = [(time, flow, value) for time, flow, name_, value in changes if name_ == state]
        _draw_knob(axes, results, np.asarray(rows, dtype=np.float64), 2, 1.0, end, unit)
        axes.autoscale(axis="y")  # a gradient may be negative
        axes.set(ylabel=state, title=f"Inside the controller: {state}")
    panels[-1].set(xlabel=f"time ({name})", xlim=(0, end / unit))
    for axes in panels:
        axes.grid(alpha=0.3, linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def flow_colours(flows: int) -> list[Any]:
    """(flows,) colours along one scale that is ordered in brightness, too."""
    scale = matplotlib.colormaps["viridis"]
    return [scale(0.9 * flow / max(1, flows - 1)) for flow in range(flows)]


def _draw_knob(
    axes: Axes, results: Results, knobs: Floats, column: int, scale: float, end: float, unit: float
) -> None:
    """Steps of each flow from its start to its end; NaN (no window) is not drawn."""
    ends = results["flows"]["end_ns"]
    colours = flow_colours(len(ends))
    drawn = False
    for flow, colour in enumerate(colours):
        rows = knobs[knobs[:, 1] == flow]
        if not len(rows) or np.isnan(rows[:, column]).all():
            continue
        drawn = True
        times, values = envelope(rows[:, 0], rows[:, column], 2000)
        last = end if ends[flow] < 0 else float(ends[flow])
        axes.step(
            np.append(times, max(last, times[-1])) / unit,
            np.append(values, values[-1]) / scale,
            where="post",
            color=colour,
            linewidth=1.0,
            label=f"flow {flow}" if len(ends) <= NAMED_FLOWS else None,
        )
    axes.set_ylim(bottom=0)
    if not drawn:
        _say(axes, "this controller sets none")


def _draw_queue(axes: Axes, results: Results, unit: float) -> None:
    port = bottleneck(results)
    axes.set(ylabel="queue (kB)", title="The bottleneck's queue")
    if port is None or "series" not in port:
        _say(axes, "no port sent anything")
        return
    times, lengths = (np.asarray(port["series"][key], dtype=np.float64) for key in ("t_ns", "bytes"))
    axes.plot(times / unit, lengths / 1e3, color="#0072B2", linewidth=1.0)
    axes.axhline(port["p99_bytes"] / 1e3, color="#555555", linewidth=0.8, linestyle="--")
    axes.set_ylim(bottom=0)
    axes.set_title(f"Queue of the bottleneck (node {port['node']}, port {port['port']}); dashed: p99 in time")


def _draw_marks(axes: Axes, results: Results, unit: float) -> None:
    """A tick for each marked ACK, a row for each flow; from ``results["marks"]``, rows (t_ns, flow)."""
    axes.set(ylabel="flow", title="ECN marks")
    if "marks" not in results:
        _say(axes, "the simulator does not record marks over time")
        return
    marks = np.asarray(results["marks"], dtype=np.float64).reshape(-1, 2)
    axes.set_title(f"ECN marks: {len(marks)}")
    axes.scatter(marks[:, 0] / unit, marks[:, 1], marker="|", s=18, linewidths=0.6, color="#D55E00")
    axes.set_ylim(-0.5, len(results["flows"]["src"]) - 0.5)


def _draw_pauses(axes: Axes, results: Results, end: float, unit: float) -> None:
    """A bar for each interval that PFC kept a port paused, from ``results["pauses"]``, rows (t_ns, node,
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
    axes.set_yticks(range(len(intervals)), [f"{node}:{port}" for node, port in intervals], fontsize=8)
    axes.set_ylabel("node:port")
    if not intervals:
        _say(axes, "no port was paused")


def pause_intervals(
    rows: Sequence[Sequence[float]], end: float
) -> dict[tuple[int, int], list[tuple[float, float]]]:
    """(begin, end) in ns of each pause, by (node, port); one that has not ended lasts until ``end``.

    Args:
        rows: (t_ns, node, port, paused 0 or 1), ascending in time for each port.
        end: of the episode, ns.
    """
    found: dict[tuple[int, int], list[tuple[float, float]]] = {}
    since: dict[tuple[int, int], float] = {}
    for time, node, port, paused in rows:
        place = (int(node), int(port))
        if paused:
            since.setdefault(place, time)
        elif place in since:
            found.setdefault(place, []).append((since.pop(place), time))
    for place, begin in since.items():
        found.setdefault(place, []).append((begin, end))
    return dict(sorted(found.items()))


def _say(axes: Axes, text: str) -> None:
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#555555")

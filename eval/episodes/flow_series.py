# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws flows' windows and rates over time: a line each; of many flows percentiles and a few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.output.plots import Floats, envelope
from ns3_env.simulator.results import endless

Results = Mapping[str, Any]

#: More flows than this share one colour scale instead of a legend's entry each.
NAMED_FLOWS = 8
#: More flows than this are drawn as percentiles of the active ones.
MANY_FLOWS = 32
#: Number of instants at which percentiles are computed.
_INSTANTS = 400
#: From this ratio of the highest to the lowest percentile on, they are drawn on a logarithmic scale.
_LOG_FROM = 30
_BAND = "#0072B2"
#: Number of flows with a line each, if there are many.
_PICKED = (("slowest", "#D55E00"), ("median", "#000000"), ("fastest", "#009E73"))


def draw_flow_series(
    axes: Axes, results: Results, rows: Floats, column: int, scale: float, end: float, unit: float
) -> bool:
    """Steps of each flow from its start to its end; NaN (no window) is not drawn.

    Args:
        axes: axes to draw on.
        results: results of the run.
        rows: (changes, columns) with time (ns), flow, and more, ascending in time for each flow.
        column: index of the column of ``rows`` that is drawn.
        scale: divisor of its values.
        end: end of the run, ns.
        unit: length of the time axis's unit, ns.

    Returns:
        Whether there was anything to draw.
    """
    ends = results["flows"]["end_ns"]
    flows = {
        flow: flow_rows for flow, flow_rows in _by_flow(rows) if not np.isnan(flow_rows[:, column]).all()
    }
    if not flows:
        return False
    if len(ends) > MANY_FLOWS:
        _draw_bands(axes, results, flows, column, scale, end, unit)
        return True
    colours = flow_colours(len(ends))
    for flow, flow_rows in flows.items():
        label = f"flow {flow}" if len(ends) <= NAMED_FLOWS else None
        times, values = _steps(flow_rows, column, _last(ends[flow], end))
        axes.step(times / unit, values / scale, where="post", color=colours[flow], linewidth=1.0, label=label)
    axes.set_ylim(bottom=0)
    return True


def flow_colours(flows: int) -> list[Any]:
    """(flows,) colours along one scale that is also ordered in brightness."""
    scale = matplotlib.colormaps["viridis"]
    return [scale(0.9 * flow / max(1, flows - 1)) for flow in range(flows)]


def percentiles(
    flows: Mapping[int, Floats], column: int, ends: Mapping[int, float], instants: Floats, shares: Floats
) -> Floats:
    """(shares, instants) percentiles over the flows that are active; NaN if none is.

    Args:
        flows: flow -> its rows, time first.
        column: index of the column of the rows that is evaluated.
        ends: flow -> its end, in the rows' unit of time.
        instants: (n,) times, ascending, in the same unit.
        shares: percentiles, in 0 to 100.
    """
    values = np.full((len(flows), len(instants)), np.nan)
    for row, (flow, flow_rows) in enumerate(flows.items()):
        place = np.searchsorted(flow_rows[:, 0], instants, side="right") - 1
        active = (place >= 0) & (instants <= ends[flow])
        values[row, active] = flow_rows[place[active], column]
    result = np.full((len(shares), len(instants)), np.nan)
    some = ~np.isnan(values).all(axis=0)
    if some.any():
        result[:, some] = np.nanpercentile(values[:, some], shares, axis=0)
    return result


def _draw_bands(
    axes: Axes,
    results: Results,
    flows: Mapping[int, Floats],
    column: int,
    scale: float,
    end: float,
    unit: float,
) -> None:
    """Percentiles of the active flows, and lines of the slowest, the fastest and the one between."""
    ends = {flow: _last(results["flows"]["end_ns"][flow], end) for flow in flows}
    instants = np.linspace(0, end, _INSTANTS)
    shares = np.array([5.0, 25.0, 50.0, 75.0, 95.0])
    low, quarter, median, three, high = percentiles(flows, column, ends, instants, shares) / scale
    least, most = (float(extreme) for extreme in (np.nanmin(low), np.nanmax(high)))
    if least > 0 and most > _LOG_FROM * least:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:,g}")
    elif least >= 0 and most > 0:
        axes.set_ylim(0, 1.05 * most)
    at = instants / unit
    axes.fill_between(at, low, high, color=_BAND, alpha=0.18, linewidth=0, label="5 to 95 % of active flows")
    axes.fill_between(at, quarter, three, color=_BAND, alpha=0.35, linewidth=0, label="25 to 75 %")
    axes.plot(at, median, color=_BAND, linewidth=1.4, label="median")
    for (what, colour), flow in zip(_PICKED, _picked(results, list(flows)), strict=False):
        times, values = _steps(flows[flow], column, ends[flow], bins=150)
        axes.step(
            times / unit,
            values / scale,
            where="post",
            color=colour,
            linewidth=0.9,
            label=f"flow {flow} ({what})",
        )


def _picked(results: Results, flows: list[int]) -> list[int]:
    """The slowest, the median and the fastest flow by slowdown; unfinished ones are the slowest.

    Flows that never end have no slowdown; if all are endless, the least acknowledged is slowest.
    """
    fct, alone = (results["flows"].get(name) for name in ("fct_ns", "standalone_ns"))
    if fct is None or alone is None:
        return []
    goes_on = endless(results)
    if ending := [flow for flow in flows if not goes_on[flow]]:
        flows = ending
        slowdown = {flow: fct[flow] / alone[flow] if fct[flow] >= 0 else np.inf for flow in flows}
    else:
        slowdown = {flow: -results["flows"]["acked_bytes"][flow] for flow in flows}
    ordered = sorted(flows, key=lambda flow: -slowdown[flow])
    return list(dict.fromkeys((ordered[0], ordered[len(ordered) // 2], ordered[-1])))


def _by_flow(rows: Floats) -> Iterator[tuple[int, Floats]]:
    """(flow, its rows), flow by flow."""
    if not len(rows):
        return
    ordered = rows[np.argsort(rows[:, 1], kind="stable")]
    numbers, begins = np.unique(ordered[:, 1], return_index=True)
    for number, flow_rows in zip(numbers, np.split(ordered, begins[1:]), strict=True):
        yield int(number), flow_rows


def _last(flow_end: float, end: float) -> float:
    return end if flow_end < 0 else float(flow_end)


def _steps(rows: Floats, column: int, last: float, bins: int = 2000) -> tuple[Floats, Floats]:
    """Times and values of a flow's steps, up to its end."""
    times, values = envelope(rows[:, 0], rows[:, column], bins)
    return np.append(times, max(last, times[-1])), np.append(values, values[-1])

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: phase planes of BCN, QCN and SMCC (Jiang 2015, Figs. 6 to 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ns3_env.eval.output.plots import COLOURS, OTHERS
from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Grid, Outcome
from ns3_env.eval.papers.panels import Curve, Drawing, Panel
from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.smcc import network
from ns3_env.eval.papers.smcc.theory.fluid import GIGABIT, Law, Link, Trajectory, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.eval.papers.smcc.theory.theorems import (
    BACKGROUND,
    LONG,
    SHORT,
    claims,
    line_y,
    regime,
    sliding_stretches,
)
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

#: kB, and Mb/s of bytes per second.
KB, MBPS = 1e3, 125e3
#: Random states that a theorem is tried on at scale 1.
_POINTS = 400
#: τ of the ways, and how long they are followed.
_DELAY, _UNTIL, _STEP = 1e-4, 0.1, 2e-4
#: Starts of the ways, in q0 and C; |x| and |y| up to which planes are drawn.
_STARTS = ((0.15, 0.15), (-0.35, 0.1), (0.4, -0.05), (-0.2, -0.15))
_REACH = (40e3, 0.25 * GIGABIT)
#: The stream, and when it starts: by then two flows have settled.
_STREAM_BPS, _START_NS, _WATCHED_NS = 500e6, 500_000_000, 300_000_000
_LINK = Link(background=_STREAM_BPS / 8)
#: Fluid laws by the network's names.
_FLUID: Mapping[str, Law] = {
    network.BCN: Bcn(_LINK),
    network.SMCC: Smcc(_LINK),
    network.QCN_SHORT: Qcn(_LINK, SHORT),
    network.QCN: Qcn(_LINK, LONG),
}
#: R as the fluid's (see Qcn): unchanged where nothing has been increased since the feedback before.
_ENTRIES = {
    **network.ENTRIES,
    network.QCN: network.qcn(LONG, latest=False),
    network.QCN_SHORT: network.qcn(SHORT, latest=False),
}
#: The whole buffer, and what the stream's start adds.
_WIDE = (66e3, 4.4 * _STREAM_BPS / 32)
#: Back at the target: within this, for so long.
_NEAR_BYTES, _FOR_S = 16e3, 0.02


@dataclass(frozen=True)
class Pair:
    """One law's two ways; ``t``, ``x``, ``y``: the measured one, as in :class:`Trajectory`."""

    fluid: Trajectory
    t: Floats
    x: Floats
    y: Floats


def cases(scale: float) -> dict[str, Scenario]:
    """Two flows under each, and 500 Mb/s beside them from 0.5 s on, at any scale."""
    stream, flows = (network.background(2, 5, _STREAM_BPS, _START_NS),), network.side_by_side(2)
    end = _START_NS + _WATCHED_NS
    return {name: network.scenario(_ENTRIES[name], end, flows, stream) for name in _FLUID}


def measured(runs: Mapping[str, Run]) -> dict[str, Pair]:
    """From the stream's start on. The fluid starts in the same state; its switching is late by a sample."""
    pairs = {}
    for name, run in runs.items():
        queue = run.lengths[network.BOTTLENECK][round(_START_NS / network.FINE_NS) :]
        times = _START_NS + np.arange(len(queue), dtype=np.float64) * network.FINE_NS
        x = queue - network.TARGET_BYTES
        y = np.minimum(run.rates_at(times).sum(axis=0) / 8 - _LINK.capacity, _LINK.y_bounds[1])
        start = float(np.clip(x[0], -network.TARGET_BYTES, network.TARGET_BYTES)), float(y[0])
        fluid = trajectory(_FLUID[name], *start, _WATCHED_NS / 1e9, _LINK.interval, 2e-4)
        pairs[name] = Pair(fluid, (times - _START_NS) / 1e9, x, y)
    return pairs


def _below(t: Floats, y: Floats) -> float:
    first = np.flatnonzero(y < 0)
    return float(t[first[0]]) if len(first) else math.nan


def _back(t: Floats, x: Floats, until: float) -> float:
    """From when the queue stays near its target for a while; NaN where it does not before ``until``."""
    outside = t[np.abs(x) > _NEAR_BYTES]
    if not len(outside):
        return 0.0
    first = np.flatnonzero(np.diff([*outside, until]) >= _FOR_S)
    return float(outside[first[0]]) if len(first) else math.nan


def laws() -> dict[str, Law]:
    """Laws by the titles of their planes: two flows beside 500 Mb/s, as in Fig. 5; SMCC alone."""
    shared, alone = Link(background=BACKGROUND), Link()
    return {
        "BCN": Bcn(shared),
        "SMCC, R_a 256, R_b 64 (a < 1)": Smcc(alone),
        "QCN, T = 30 kB": Qcn(shared, SHORT),
        "SMCC, a > 1": Smcc(alone, 3.2, 3.2),
        "QCN, T = 150 kB": Qcn(shared, LONG),
        "SMCC, R_a 64, R_b 64": Smcc(alone, 0.064, 0.064),
    }


@experiment(
    "smcc-phase-plane",
    "Jiang 2015, Figs. 6 to 9, sec. 2.3, 3.2, 4.3",
    episodes(cases, Run),
    1.0,
    "random states that theorems are tried on",
)
def phase_plane(data: Data[dict[str, Run]]) -> Outcome:
    """Phase planes of BCN, QCN and SMCC, and the theorems."""
    pairs = measured(data.runs)
    data.progress("ways through the planes")
    ways = {title: _ways(law) for title, law in laws().items()}
    planes = [
        _plane(title, law, ways[title], _REACH, _STARTS[0][1] * law.link.capacity)
        for title, law in laws().items()
    ]
    beside = [
        _plane(name, _FLUID[name], [pair.fluid], _WIDE, 0.15 * GIGABIT, (pair.x, pair.y))
        for name, pair in pairs.items()
    ]
    return Outcome(
        claims=claims(max(2, round(data.scale * _POINTS)), data.progress),
        grids=(_grid(ways), _measured_grid(pairs)),
        pictures={
            "smcc-fig-6-8": _draw(planes),
            "smcc-measured": _draw(beside, [([], [], "measured", _MEASURED)]),
        },
    )


def _ways(law: Law) -> list[Trajectory]:
    link = law.link
    return [trajectory(law, x * link.target, y * link.capacity, _UNTIL, _DELAY, _STEP) for x, y in _STARTS]


def _grid(ways: Mapping[str, list[Trajectory]]) -> Grid:
    """The first way of each law."""
    rows = []
    for title, (way, *_) in ways.items():
        slid = sum(end - begin for begin, end in sliding_stretches(way, 20 * _DELAY))
        last = way.x[way.t >= way.t[-1] - 0.02]
        reached = [float(x) / KB for x in (way.x.max(), way.x.min(), last.min(), last.max())]
        rows.append((title, float(len(way.switches)), 1e3 * slid, *reached))
    heads = ("x, most (kB)", "least (kB)", "last 20 ms, least (kB)", "most (kB)")
    title = "The way from +9.6 kB and +0.15 C, 100 ms"
    return Grid(title, ("law", "changes of mode", "sliding (ms)", *heads), rows)


def _measured_grid(pairs: Mapping[str, Pair]) -> Grid:
    """Times at which each has brought the rates below C and the queue back, by fluid and by network."""
    columns = ("law", "rates below C: fluid (ms)", "measured", "queue back: fluid (ms)", "measured")
    rows = []
    for name, record in pairs.items():
        below = _below(record.fluid.t, record.fluid.y), _below(record.t, record.y)
        back = (
            _back(t, x, _WATCHED_NS / 1e9)
            for t, x in ((record.fluid.t, record.fluid.x), (record.t, record.x))
        )
        rows.append((name, *(1e3 * time for time in (*below, *back))))
    return Grid("From the start of 500 Mb/s beside two flows", columns, rows)


_LINE = {"color": "#777777", "linestyle": "--", "linewidth": 1.2, "zorder": 1}
_SLIDING = {"color": "#E69F00", "linewidth": 5, "alpha": 0.5}
_MEASURED = {"color": OTHERS[0], "linewidth": 0.7}
_START = {"marker": "o", "markersize": 4}


def _plane(
    title: str,
    law: Law,
    ways: Sequence[Trajectory],
    reach: tuple[float, float],
    target: float,
    run: tuple[Floats, Floats] | None = None,
) -> Panel:
    """Switching lines, the stretches of them that are a sliding regime, and ways.

    Args:
        title: over it.
        law: the fluid one.
        ways: of the fluid model.
        reach: |x| and |y| that are drawn.
        target: N R(0) − C for which QCN's sliding regime is marked.
        run: (x, y) of a way that was measured.
    """
    x, y = reach[0] / KB, reach[1] / MBPS
    wide = {**_SLIDING, "zorder": 0.5, "solid_capstyle": "butt"}
    curves: list[Curve]
    if isinstance(law, Smcc):
        curves = [
            ([-x, x], [0, 0], None, _LINE),
            ([0, 0], [-y, y], None, _LINE),
            ([-x, x], [0, 0], None, wide),
        ]
    else:
        ends = (-reach[0], reach[0])
        curves = [([-x, x], [line_y(law.link, end) / MBPS for end in ends], None, _LINE)]
        if isinstance(law, Qcn):
            stretch = regime(law, target, ends)
            curves.append((np.array(stretch) / KB, [line_y(law.link, x) / MBPS for x in stretch], None, wide))
    for way, colour in zip(ways, COLOURS.values(), strict=False):
        curves.append((way.x / KB, way.y / MBPS, None, {"color": colour, "linewidth": 1.1}))
        curves.append((way.x[0] / KB, way.y[0] / MBPS, None, {"color": colour, **_START}))
    if run is not None:
        curves.append((run[0] / KB, run[1] / MBPS, None, {**_MEASURED, "alpha": 0.8}))
    axes = {"xlabel": "queue − q0 (kB)", "ylabel": "rates − C (Mb/s)", "xlim": (-x, x), "ylim": (-y, y)}
    axis: dict[str, Any] = {"color": "#cccccc", "linewidth": 0.6, "zorder": 0}
    return Panel(title, curves, axes, [(0, None, axis)], more=lambda axes: axes.axvline(0, **axis))


def _draw(planes: Sequence[Panel], more: Sequence[Curve] = ()) -> Drawing:
    """The planes, with a legend of what is drawn in all of them, and of ``more``."""
    legend: list[Curve] = [
        ([], [], "switching line", _LINE),
        ([], [], "sliding regime", _SLIDING),
        ([], [], "fluid, from here", {"color": "black", "linewidth": 1.1, **_START}),
        *more,
    ]
    first, *others = planes
    return Drawing([replace(first, curves=[*first.curves, *legend]), *others], height=2.9)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: phase planes of BCN, QCN and SMCC (Jiang 2015, Figs. 6 to 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, episodes, experiment
from ns3_env.eval.papers.outcome import Grid, Outcome
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.smcc import network
from ns3_env.eval.papers.smcc.theory.claims import BACKGROUND, LONG, SHORT, claims
from ns3_env.eval.papers.smcc.theory.figures import KB, MBPS, Plane, draw
from ns3_env.eval.papers.smcc.theory.fluid import GIGABIT, Law, Link, Trajectory, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.eval.papers.smcc.theory.theorems import sliding_stretches
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats

#: Random states that a theorem is tried on at scale 1.
_POINTS = 400
#: τ of the ways drawn, and how long they are followed.
_DELAY, _UNTIL, _STEP = 1e-4, 0.1, 2e-4
#: From where, in q0 and C.
_STARTS = ((0.15, 0.15), (-0.35, 0.1), (0.4, -0.05), (-0.2, -0.15))
_REACH = (40e3, 0.25 * GIGABIT)
#: The stream, and when it starts: by then two flows have settled.
_STREAM_BPS, _START_NS, _WATCHED_NS = 500e6, 500_000_000, 300_000_000
_LINK = Link(background=_STREAM_BPS / 8)
#: By the network's names.
_FLUID: Mapping[str, Law] = {
    network.BCN: Bcn(_LINK),
    network.SMCC: Smcc(_LINK),
    network.QCN_SHORT: Qcn(_LINK, SHORT),
    network.QCN: Qcn(_LINK, LONG),
}
#: R as the fluid's (see Qcn): left where nothing has been increased since the feedback before.
_ENTRIES = {
    **network.ENTRIES,
    network.QCN: network.qcn(LONG, latest=False),
    network.QCN_SHORT: network.qcn(SHORT, latest=False),
}
#: Drawn: the whole buffer, and what the stream's start adds.
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
    stream = (network.Background(2, 5, _STREAM_BPS, _START_NS),)
    return {
        name: network.scenario(_ENTRIES[name], _START_NS + _WATCHED_NS, network.side_by_side(2), stream)
        for name in _FLUID
    }


def measured(runs: Mapping[str, Seen]) -> dict[str, Pair]:
    """From the stream's start on. The fluid starts in the same state; its switching is late by a sample."""
    found = {}
    for name, run in runs.items():
        queue = run.lengths[network.BOTTLENECK][round(_START_NS / network.FINE_NS) :]
        times = _START_NS + np.arange(len(queue), dtype=np.float64) * network.FINE_NS
        x = queue - network.TARGET_BYTES
        y = run.rates_at(times).sum(axis=0) / 8 - _LINK.capacity
        y = np.minimum(y, _LINK.y_bounds[1])
        start = float(np.clip(x[0], -network.TARGET_BYTES, network.TARGET_BYTES)), float(y[0])
        fluid = trajectory(_FLUID[name], *start, _WATCHED_NS / 1e9, _LINK.interval, 2e-4)
        found[name] = Pair(fluid, (times - _START_NS) / 1e9, x, y)
    return found


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
    """What is drawn, by its title: two flows beside 500 Mb/s of background, as in Fig. 5; SMCC alone."""
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
    "Phase planes of BCN, QCN and SMCC, and the theorems",
    "Jiang 2015, Figs. 6 to 9, sec. 2.3, 3.2, 4.3",
    1.0,
    "random states that theorems are tried on",
    episodes(cases, Seen),
)
def outcome(played: Played[dict[str, Seen]]) -> Outcome:
    """The ways from four states, and each theorem on random ones, of which 1 has 400."""
    pairs, progress = measured(played.runs), played.progress
    progress("ways through the planes")
    ways = {title: _ways(law) for title, law in laws().items()}
    planes = {
        title: Plane(law, ways[title], _REACH, _STARTS[0][1] * law.link.capacity)
        for title, law in laws().items()
    }
    beside = {
        name: Plane(_FLUID[name], [pair.fluid], _WIDE, 0.15 * GIGABIT, (pair.x, pair.y))
        for name, pair in pairs.items()
    }
    notes = (
        "Fluid model: x is the queue above its target, y what sources send above C; a sample each 100 kB, a "
        f"switching delay τ of {_DELAY * 1e3:g} ms. Queue and rates have bounds (0 and 128 kB; 0 and line "
        "rate); at the queue's, dq/dt is 0 and so is ΔQ. The theorems are tried without bounds.",
        "Eq. 15 lets G_d F_b act once a second; here as often as a source has feedback, as part of the gain. "
        "T is what a source with its fair share takes for a cycle's bytes.",
        "Recovery leads to the rate before the decrease (R of 2.2); a decrease within a cycle of another one "
        "leaves it, as in the standard. Otherwise R(0) would be the rate itself in a sliding mode, which "
        "(24) rules out: N R(0) − C = y < 0 there.",
        "QCN's regime is marked for N R(0) − C = 0.15 C, that of the first way.",
        "Measured: queue each 0.1 ms and sending rates on the dumbbell of 1 Gb/s, two flows beside which a "
        "stream of 500 Mb/s starts; the fluid starts in the same state, with a τ of a sample (0.8 ms). QCN's "
        "regime there is for N R(0) − C = 150 Mb/s. Back: within 16 kB of the target for 20 ms; –: not "
        "within 300 ms.",
    )
    series = {
        (title, number): (way.t[::3], way.x[::3], way.y[::3])
        for title, own in ways.items()
        for number, way in enumerate(own)
    }
    return Outcome(
        claims=claims(max(2, round(played.scale * _POINTS)), progress),
        grids=(_grid(ways), _measured_grid(pairs)),
        notes=notes,
        pictures={"smcc-fig-6-8": draw(planes), "smcc-measured": draw(beside)},
        series={
            "ways": _csv(("law", "way"), series),
            "measured": _csv(("law",), {(name,): (own.t, own.x, own.y) for name, own in pairs.items()}),
        },
    )


def _ways(law: Law) -> list[Trajectory]:
    link = law.link
    return [trajectory(law, x * link.target, y * link.capacity, _UNTIL, _DELAY, _STEP) for x, y in _STARTS]


def _grid(ways: Mapping[str, list[Trajectory]]) -> Grid:
    """What became of the first way of each law."""
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
    """How soon each has brought the rates below C and the queue back, by fluid and by network."""
    columns = ("law", "rates below C: fluid (ms)", "measured", "queue back: fluid (ms)", "measured")
    rows = []
    for name, own in pairs.items():
        below = _below(own.fluid.t, own.fluid.y), _below(own.t, own.y)
        back = (_back(t, x, _WATCHED_NS / 1e9) for t, x in ((own.fluid.t, own.fluid.x), (own.t, own.x)))
        rows.append((name, *(1e3 * time for time in (*below, *back))))
    return Grid("From the start of 500 Mb/s beside two flows", columns, rows)


def _csv(heads: tuple[str, ...], ways: Mapping[Any, tuple[Floats, Floats, Floats]]) -> str:
    rows = [
        (*key, f"{t:.7f}", round(x), round(y / MBPS, 3))
        for key, way in ways.items()
        for t, x, y in zip(*way, strict=True)
    ]
    return csv_text((*heads, "t_s", "x_bytes", "y_mbps"), rows)

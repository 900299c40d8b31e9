# SPDX-License-Identifier: GPL-2.0-or-later
"""Measured trajectories beside the fluid's, from the start of background."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ns3_env.eval.paper.outcome import Grid, Progress
from ns3_env.eval.paper.smcc.network import (
    BCN,
    BOTTLENECK,
    FINE_NS,
    LAWS,
    QCN,
    QCN_SHORT,
    SMCC,
    TARGET_BYTES,
    Background,
    qcn,
    scenario,
    side_by_side,
)
from ns3_env.eval.paper.smcc.seen import Floats, play
from ns3_env.eval.paper.smcc.theory.claims import LONG, SHORT
from ns3_env.eval.paper.smcc.theory.figures import Plane
from ns3_env.eval.paper.smcc.theory.fluid import GIGABIT, Law, Link, Trajectory, trajectory
from ns3_env.eval.paper.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.simulator import Simulator

#: The stream, and when it starts: by then two flows have settled.
_STREAM_BPS, _START_NS, _WATCHED_NS = 500e6, 500_000_000, 300_000_000
_LINK = Link(background=_STREAM_BPS / 8)
#: By the network's names.
_FLUID: Mapping[str, Law] = {
    BCN: Bcn(_LINK),
    SMCC: Smcc(_LINK),
    QCN_SHORT: Qcn(_LINK, SHORT),
    QCN: Qcn(_LINK, LONG),
}
#: R as the fluid's (see Qcn): left where nothing has been increased since the feedback before.
_LAWS = {**LAWS, QCN: qcn(LONG, latest=False), QCN_SHORT: qcn(SHORT, latest=False)}
#: Drawn: the whole buffer, and what the stream's start adds.
_REACH = (66e3, 4.4 * _STREAM_BPS / 32)
#: Back at the target: within this, for so long.
_NEAR_BYTES, _FOR_S = 16e3, 0.02


@dataclass(frozen=True)
class Pair:
    """One law's two ways; ``t``, ``x``, ``y``: the measured one, as in :class:`Trajectory`."""

    fluid: Trajectory
    t: Floats
    x: Floats
    y: Floats


def measure(simulator: Simulator, progress: Progress) -> dict[str, Pair]:
    """Two flows under each law, and 500 Mb/s beside them from 0.5 s on. The fluid starts in the same state;
    its switching is late by a sample."""
    cases = {
        name: scenario(
            _LAWS[name],
            _START_NS + _WATCHED_NS,
            side_by_side(2),
            (Background(2, 5, _STREAM_BPS, _START_NS),),
        )
        for name in _FLUID
    }
    found = {}
    for name, run in play(simulator, cases, progress).items():
        queue = run.queues[BOTTLENECK][round(_START_NS / FINE_NS) :]
        times = _START_NS + np.arange(len(queue), dtype=np.float64) * FINE_NS
        x = queue - TARGET_BYTES
        y = run.rates_at(times).sum(axis=0) / 8 - _LINK.capacity
        y = np.minimum(y, _LINK.y_bounds[1])
        start = float(np.clip(x[0], -TARGET_BYTES, TARGET_BYTES)), float(y[0])
        fluid = trajectory(_FLUID[name], *start, _WATCHED_NS / 1e9, _LINK.interval, 2e-4)
        found[name] = Pair(fluid, (times - _START_NS) / 1e9, x, y)
    return found


def planes(pairs: Mapping[str, Pair]) -> dict[str, Plane]:
    """Panels for the figure."""
    return {
        name: Plane(_FLUID[name], [pair.fluid], _REACH, 0.15 * GIGABIT, (pair.x, pair.y))
        for name, pair in pairs.items()
    }


def grid(pairs: Mapping[str, Pair]) -> Grid:
    """How soon each has brought the rates below C and the queue back, by fluid and by network."""
    columns = ("law", "rates below C: fluid (ms)", "measured", "queue back: fluid (ms)", "measured")
    rows: list[tuple[str | float, ...]] = [
        (
            name,
            1e3 * _below(pair.fluid.t, pair.fluid.y),
            1e3 * _below(pair.t, pair.y),
            1e3 * _back(pair.fluid.t, pair.fluid.x, _WATCHED_NS / 1e9),
            1e3 * _back(pair.t, pair.x, _WATCHED_NS / 1e9),
        )
        for name, pair in pairs.items()
    ]
    return Grid("From the start of 500 Mb/s beside two flows", columns, rows)


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

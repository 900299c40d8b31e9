# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: phase planes of BCN, QCN and SMCC (Jiang 2015, Figs. 6 to 9)."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.eval.paper.outcome import Experiment, Grid, Outcome, Progress
from ns3_env.eval.paper.smcc.theory.claims import BACKGROUND, LONG, SHORT, claims
from ns3_env.eval.paper.smcc.theory.closed_forms import sliding_stretches
from ns3_env.eval.paper.smcc.theory.figures import KB, MBPS, Plane, draw
from ns3_env.eval.paper.smcc.theory.fluid import GIGABIT, Law, Link, Trajectory, trajectory
from ns3_env.eval.paper.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.eval.paper.smcc.theory.measured import Pair, grid, measure
from ns3_env.eval.paper.smcc.theory.measured import planes as measured_planes
from ns3_env.eval.plots.table import csv_text
from ns3_env.simulator import Simulator

#: Random states that a theorem is tried on at scale 1.
_POINTS = 400
#: τ of the ways drawn, and how long they are followed.
_DELAY, _UNTIL, _STEP = 1e-4, 0.1, 2e-4
#: From where, in q0 and C.
_STARTS = ((0.15, 0.15), (-0.35, 0.1), (0.4, -0.05), (-0.2, -0.15))
_REACH = (40e3, 0.25 * GIGABIT)


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


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """The ways from four states, and each theorem on ``scale`` · 400 random ones."""
    pairs = measure(simulator, progress)
    progress("ways through the planes")
    ways = {title: _ways(law) for title, law in laws().items()}
    planes = {
        title: Plane(law, ways[title], _REACH, _STARTS[0][1] * law.link.capacity)
        for title, law in laws().items()
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
        "stream "
        "of 500 Mb/s starts; the fluid starts in the same state, with a τ of a sample (0.8 ms). QCN's "
        "regime there is "
        "for N R(0) − C = 150 Mb/s. Back: within 16 kB of the target for 20 ms; –: not within 300 ms.",
    )
    return Outcome(
        claims=claims(max(2, round(scale * _POINTS)), progress),
        grids=(_grid(ways), grid(pairs)),
        notes=notes,
        pictures={"smcc-fig-6-8": draw(planes), "smcc-measured": draw(measured_planes(pairs))},
        series={"ways": _csv(ways), "measured": _measured_csv(pairs)},
    )


def _ways(law: Law) -> list[Trajectory]:
    link = law.link
    return [trajectory(law, x * link.target, y * link.capacity, _UNTIL, _DELAY, _STEP) for x, y in _STARTS]


def _grid(ways: Mapping[str, list[Trajectory]]) -> Grid:
    """What became of the first way of each law."""
    rows: list[tuple[str | float, ...]] = []
    for title, (way, *_) in ways.items():
        slid = sum(end - begin for begin, end in sliding_stretches(way, 20 * _DELAY))
        last = way.t >= way.t[-1] - 0.02
        rows.append(
            (
                title,
                float(len(way.switches)),
                1e3 * slid,
                float(way.x.max()) / KB,
                float(way.x.min()) / KB,
                float(way.x[last].min()) / KB,
                float(way.x[last].max()) / KB,
            )
        )
    columns = (
        "law",
        "changes of mode",
        "sliding (ms)",
        "x, most (kB)",
        "least (kB)",
        "last 20 ms, least (kB)",
        "most (kB)",
    )
    return Grid("The way from +9.6 kB and +0.15 C, 100 ms", columns, rows)


def _csv(ways: Mapping[str, list[Trajectory]]) -> str:
    rows = [
        (title, number, f"{t:.7f}", round(x), round(y / MBPS, 3))
        for title, own in ways.items()
        for number, way in enumerate(own)
        for t, x, y in zip(way.t[::3], way.x[::3], way.y[::3], strict=True)
    ]
    return csv_text(("law", "way", "t_s", "x_bytes", "y_mbps"), rows)


def _measured_csv(pairs: Mapping[str, Pair]) -> str:
    rows = [
        (name, f"{t:.7f}", round(x), round(y / MBPS, 3))
        for name, pair in pairs.items()
        for t, x, y in zip(pair.t, pair.x, pair.y, strict=True)
    ]
    return csv_text(("law", "t_s", "x_bytes", "y_mbps"), rows)


EXPERIMENT = Experiment(
    "smcc-phase-plane",
    "Phase planes of BCN, QCN and SMCC, and the theorems",
    "Jiang 2015, Figs. 6 to 9, sec. 2.3, 3.2, 4.3",
    1.0,
    "random states that theorems are tried on",
    run,
)

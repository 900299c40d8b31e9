# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: SMCC's queue beside increasing background (Jiang 2015, Figs. 18 and 19)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress
from ns3_env.eval.paper.smcc.figures import panel, queues, series
from ns3_env.eval.paper.smcc.network import (
    BCN,
    BOTTLENECK,
    LAWS,
    QCN,
    SMCC,
    TWO_STAGES,
    Background,
    scenario,
    seeds,
    shorter,
    side_by_side,
)
from ns3_env.eval.paper.smcc.seen import Queue, grouped, play, pooled
from ns3_env.simulator import Simulator

#: Mb/s of the stream (5.3.2), and when it starts.
STREAMS, START_S, END_S = (500, 750, 875), 2.0, 4.0
_SEEDS = 3
#: The queue has settled so long after the stream's start, as a share of the rest.
_AFTER = 0.5
#: "Almost unchanged": a standard deviation of this much more, at most; "heavily": more than three times that.
_SAME_BYTES = 4e3
_COLUMNS = (
    "law",
    "beside (Mb/s)",
    "mean (kB)",
    "std (kB)",
    "5 % (kB)",
    "95 % (kB)",
    "empty",
    "link used",
    "lost",
)
Key = tuple[str, int]


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """Two flows, and a stream from half of the time on; ``scale`` of the times and of three seeds."""
    start, end = shorter(scale, START_S), shorter(scale, END_S)
    steady = round(start + _AFTER * (end - start))
    cases = {
        (name, stream, seed): scenario(
            LAWS[name],
            end,
            side_by_side(2),
            (Background(2, 5, stream * 1e6, start),),
            measured_ns=(steady, end),
        ).with_seed(seed)
        for name in (SMCC, TWO_STAGES, QCN, BCN)
        for stream in STREAMS
        for seed in seeds(scale, _SEEDS)
    }
    found = play(simulator, cases, progress)
    runs = grouped(found, lambda case: case[:2])
    late = {key: pooled(own, steady, end) for key, own in runs.items()}
    alone = pooled(runs[SMCC, STREAMS[0]], 0.5 * start, start)
    rows: list[tuple[str | float, ...]] = [
        (
            name,
            float(stream),
            q.mean / 1e3,
            q.std / 1e3,
            q.low / 1e3,
            q.high / 1e3,
            q.empty,
            float(np.mean([own.used[BOTTLENECK] for own in runs[name, stream]])),
            float(np.mean([own.lost for own in runs[name, stream]])),
        )
        for (name, stream), q in late.items()
    ]
    drawn = [
        panel(f"{name}, {stream} Mb/s beside", runs[name, stream][0], 0, end)
        for stream in STREAMS
        for name in (SMCC, QCN)
    ]
    stages = [panel(f"{name}, 875 Mb/s beside", runs[name, 875][0], 0, end) for name in (SMCC, TWO_STAGES)]
    notes = (
        f"Two flows, and the stream from {start / 1e9:g} s on; numbers from {steady / 1e9:g} s to the end, "
        f"{len(runs[SMCC, 500])} seeds. Without a stream SMCC's queue has a standard deviation of "
        f"{alone.std / 1e3:.1f} kB.",
        "Fig. 19's stream starts at the 1st second in the paper; here it is the run of Fig. 18, with two "
        "stages.",
    )
    return Outcome(
        (),
        _claims(late, alone),
        (Grid("In the steady state beside the stream", _COLUMNS, rows),),
        notes,
        {"smcc-fig-18": queues(drawn), "smcc-fig-19": queues(stages)},
        {"queue": series([*drawn, *stages[1:]])},
    )


def _claims(late: Mapping[Key, Queue], alone: Queue) -> tuple[Claim, ...]:
    std = {key: q.std / 1e3 for key, q in late.items()}
    base = alone.std / 1e3
    return (
        Claim(
            "Beside 500 Mb/s SMCC's queue stays as it is (5.3.2; here: 4 kB more of standard deviation at "
            "most)",
            late[SMCC, 500].std - alone.std <= _SAME_BYTES,
            f"{base:.1f} kB without, {std[SMCC, 500]:.1f} kB with",
        ),
        Claim(
            "Beside 750 Mb/s it swings a little, beside 875 Mb/s heavily (5.3.2)",
            std[SMCC, 500] < std[SMCC, 750] < std[SMCC, 875] > base + 3 * _SAME_BYTES / 1e3,
            ", ".join(f"{std[SMCC, stream]:.1f}" for stream in STREAMS) + " kB",
        ),
        Claim(
            "Beside 500 Mb/s SMCC's queue is more stable than QCN's (5.3.2)",
            std[SMCC, 500] < std[QCN, 500],
            f"{std[SMCC, 500]:.1f} kB against {std[QCN, 500]:.1f} kB; BCN {std[BCN, 500]:.1f} kB",
        ),
        Claim(
            "Two stages make the swings beside 875 Mb/s smaller (5.3.3, Fig. 19)",
            std[TWO_STAGES, 875] < std[SMCC, 875],
            f"{std[TWO_STAGES, 875]:.1f} kB against {std[SMCC, 875]:.1f} kB; beside 750 Mb/s "
            f"{std[TWO_STAGES, 750]:.1f} against {std[SMCC, 750]:.1f} kB",
        ),
    )


EXPERIMENT = Experiment(
    "smcc-background",
    "SMCC's queue beside background of 500, 750 and 875 Mb/s",
    "Jiang 2015, Figs. 18 and 19",
    1.0,
    "times, and of three seeds",
    run,
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: SMCC's queue beside increasing background (Jiang 2015, Figs. 18 and 19)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.papers.experiment import Played, experiment, repeated
from ns3_env.eval.papers.outcome import Claim, Outcome, grid
from ns3_env.eval.papers.seen import Seen
from ns3_env.eval.papers.smcc import network, queues
from ns3_env.eval.papers.smcc.network import BCN, BOTTLENECK, QCN, SMCC, TWO_STAGES
from ns3_env.scenario import Scenario

#: Mb/s of the stream (5.3.2), and when it starts.
STREAMS, START_S, END_S = (500, 750, 875), 2.0, 4.0
_SEEDS = 3
#: The queue has settled so long after the stream's start, as a share of the rest.
_AFTER = 0.5
#: "Almost unchanged": a standard deviation of this much more, at most; "heavily": more than three times that.
_SAME_KB = 4
_MORE = ("link used", "lost")
_HEADS = ("law", "beside (Mb/s)", "mean (kB)", "std (kB)", "5 % (kB)", "95 % (kB)", "empty", *_MORE)
_NAMES = ("mean", "std", "low", "high", "empty", "used", "lost")
Key = tuple[str, int]


def _moments(scale: float) -> tuple[int, int, int]:
    """Start of the stream, from when on numbers count, end."""
    start, end = network.shorter(scale, START_S), network.shorter(scale, END_S)
    return start, round(start + _AFTER * (end - start)), end


def cases(scale: float) -> dict[tuple[str, int], Scenario]:
    """Two flows, and a stream from half of the time on; ``scale`` of the times and of three seeds."""
    start, steady, end = _moments(scale)
    return {
        (name, stream): network.scenario(
            network.ENTRIES[name],
            end,
            network.side_by_side(2),
            (network.Background(2, 5, stream * 1e6, start),),
            measured_ns=(steady, end),
        )
        for name in (SMCC, TWO_STAGES, QCN, BCN)
        for stream in STREAMS
    }


@experiment(
    "smcc-background",
    "SMCC's queue beside background of 500, 750 and 875 Mb/s",
    "Jiang 2015, Figs. 18 and 19",
    1.0,
    "times, and of three seeds",
    repeated(cases, Seen, _SEEDS),
)
def outcome(played: Played[dict[tuple[str, int], list[Seen]]]) -> Outcome:
    """The steady state beside each stream."""
    runs, (start, steady, end) = played.runs, _moments(played.scale)
    late = {
        key: {
            **queues.numbers(queues.coarse(own, steady, end)),
            "used": float(np.mean([run.used(BOTTLENECK) for run in own])),
            "lost": float(np.mean([run.lost for run in own])),
        }
        for key, own in runs.items()
    }
    alone = queues.numbers(queues.coarse(runs[SMCC, STREAMS[0]], 0.5 * start, start))
    drawn = {
        (name, stream): (f"{name}, {stream} Mb/s beside", own[0], 0, end, BOTTLENECK)
        for (name, stream), own in runs.items()
    }
    by_stream = [drawn[name, stream] for stream in STREAMS for name in (SMCC, QCN)]
    stages = [drawn[name, 875] for name in (SMCC, TWO_STAGES)]
    rows = (((name, float(stream)), own) for (name, stream), own in late.items())
    notes = (
        f"Two flows, and the stream from {start / 1e9:g} s on; numbers from {steady / 1e9:g} s to the end, "
        f"{len(runs[SMCC, 500])} seeds. Without a stream SMCC's queue has a standard deviation of "
        f"{alone['std']:.1f} kB.",
        "Fig. 19's stream starts at the 1st second in the paper; here it is the run of Fig. 18, with two "
        "stages.",
    )
    return Outcome(
        (),
        _claims(late, alone),
        (grid("In the steady state beside the stream", _HEADS, _NAMES, rows),),
        notes,
        {"smcc-fig-18": queues.draw_queues(by_stream), "smcc-fig-19": queues.draw_queues(stages)},
        {"queue": queues.series([*by_stream, *stages[1:]])},
    )


def _claims(late: Mapping[Key, Mapping[str, float]], alone: Mapping[str, float]) -> tuple[Claim, ...]:
    std = {key: own["std"] for key, own in late.items()}
    base = alone["std"]
    return (
        Claim(
            "Beside 500 Mb/s SMCC's queue stays as it is (5.3.2; here: 4 kB more of standard deviation at "
            "most)",
            late[SMCC, 500]["std"] - base <= _SAME_KB,
            f"{base:.1f} kB without, {std[SMCC, 500]:.1f} kB with",
        ),
        Claim(
            "Beside 750 Mb/s it swings a little, beside 875 Mb/s heavily (5.3.2)",
            std[SMCC, 500] < std[SMCC, 750] < std[SMCC, 875] > base + 3 * _SAME_KB,
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

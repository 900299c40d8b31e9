# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows that end one by one, MPCC against HPCC (Zheng 2024, Figs. 5.3 and 5.4)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.paper.mpcc.changing_flows import (
    DRAWN,
    GRID_COLUMNS,
    SIZES_BYTES,
    csvs,
    grid_rows,
    pictures,
    play_each,
    queue_rows,
    scenario,
)
from ns3_env.eval.paper.mpcc.open_loop import RATE_BPS
from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Progress
from ns3_env.simulator import Simulator

#: Sampling period of throughput (section 5.2).
_BIN_NS = 2_000_000
#: Samples of the queue in the time that the flows need at line rate, and what is added to their interval: it
#: must not keep step with frames of 8640 ns.
_SAMPLES, _ODD_NS = 20_000, 4_007
#: Longest that the flows may take, in times that the link needs for their payload.
_PATIENCE = 4
#: A frame of MPCC's: a queue of less, in the mean, is no queue.
_FRAME_BYTES = 1080
_FAIR, _AT_ONCE_MS = 0.05, 2 * _BIN_NS / 1e6


def run(simulator: Simulator, scale: float, progress: Progress) -> Outcome:
    """All four flows to their ends, ``scale`` times the thesis's sizes; 1 takes minutes, and 1.2 GB for each
    controller's capture while it is counted."""
    least_ns = round(scale * sum(SIZES_BYTES) * 8e9 / RATE_BPS)
    until, sample = _PATIENCE * least_ns + 100_000_000, least_ns // _SAMPLES + _ODD_NS
    base = scenario(scale, until, sample)
    runs = play_each(simulator, {name: base.under(name) for name in DRAWN}, _BIN_NS, progress)
    rows = grid_rows(runs, "leaving")
    last = max(float(own.results["totals"]["end_ns"]) for own in runs.values())
    own = [row for row in rows if row[0] == "mpcc"]
    taken = [float(row[3]) for row in own]
    unfair = [float(row[4]) for row in own]
    queues = [float(row[6]) for row in own]
    claims = (
        Claim(
            "When a flow ends, those that remain take its bandwidth at once, and fairly (5.3)",
            bool(own) and all(x <= _AT_ONCE_MS for x in taken) and max(unfair) <= _FAIR,
            f"MPCC: link taken within {np.max(taken, initial=0):.3g} ms (bins of 2 ms), "
            f"unfairness {np.max(unfair, initial=0):.2g} at most",
        ),
        Claim(
            "MPCC holds the queue at zero while flows leave (Fig. 5.4a)",
            bool(own) and max(queues) < _FRAME_BYTES,
            f"means of {', '.join(f'{x:.0f}' for x in queues)} B: less than a frame",
        ),
    )
    notes = [
        f"Sizes are {scale:g} of the thesis's. The flows need "
        + ", ".join(
            f"{own.results['totals']['end_ns'] / 1e6:,.0f} ms under {name}" for name, own in runs.items()
        )
        + "; columns as in mpcc-joining. HPCC aims at 95 % of the link and has 42 B of telemetry, MPCC 32 B.",
    ]
    if not any(own.moments for own in runs.values()):
        notes.append(
            "Windows of so many ACKs are not recorded: when the shares became fair is not known here."
        )
    grid = Grid("After a flow has left", GRID_COLUMNS, rows)
    drawn = pictures(runs, last, "leaving")
    return Outcome(queue_rows(runs, "leaving"), claims, (grid,), notes, drawn, csvs(runs))


EXPERIMENT = Experiment(
    "mpcc-leaving",
    "Flows that end one after the other, MPCC against HPCC",
    "Zheng 2024, Figs. 5.3 and 5.4",
    0.01,
    "sizes of the flows",
    run,
)

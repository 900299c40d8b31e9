# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows that end one by one, MPCC against HPCC (Zheng 2024, Figs. 5.3 and 5.4)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.papers.experiment import Played, counted, experiment
from ns3_env.eval.papers.mpcc import changing_flows as flows
from ns3_env.eval.papers.mpcc.changing_flows import DRAWN, FRAME_BYTES, SIZES_BYTES, Run
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, RATE_BPS
from ns3_env.eval.papers.outcome import Claim, Outcome
from ns3_env.eval.papers.shares import Shares
from ns3_env.scenario import Scenario

#: Sampling period of throughput (section 5.2).
_BIN_NS = 2_000_000
#: Samples of the queue in the time that the flows need at line rate, and what is added to their interval: it
#: must not keep step with frames of 8640 ns.
_SAMPLES, _ODD_NS = 20_000, 4_007
#: Longest that the flows may take, in times that the link needs for their payload.
_PATIENCE = 4
_FAIR, _AT_ONCE_MS = 0.05, 2 * _BIN_NS / 1e6


def cases(scale: float) -> dict[str, Scenario]:
    """All four flows to their ends, ``scale`` times the thesis's sizes; 1 takes minutes, and 1.2 GB for each
    controller's capture while it is counted."""
    least_ns = round(scale * sum(SIZES_BYTES) * 8e9 / RATE_BPS)
    until, sample = _PATIENCE * least_ns + 100_000_000, least_ns // _SAMPLES + _ODD_NS
    base = flows.scenario(scale, until, sample)
    return {name: base.under(name) for name in DRAWN}


@experiment(
    "mpcc-leaving",
    "Flows that end one after the other, MPCC against HPCC",
    "Zheng 2024, Figs. 5.3 and 5.4",
    0.01,
    "sizes of the flows",
    counted(cases, BOTTLENECK, lambda scale: _BIN_NS, RATE_BPS),
)
def outcome(played: Played[dict[str, Shares]]) -> Outcome:
    """After a flow has left."""
    scale, runs = played.scale, {name: Run(own) for name, own in played.runs.items()}
    table = {name: run.after("leaving") for name, run in runs.items()}
    ends = {name: float(own.results["totals"]["end_ns"]) for name, own in played.runs.items()}
    own = table["mpcc"]
    taken, unfair, queues = ([x[key] for x in own] for key in ("taken_ms", "unfairness", "settled"))
    claims = (
        Claim(
            "When a flow ends, those that remain take its bandwidth at once, and fairly (5.3)",
            bool(own) and all(x <= _AT_ONCE_MS for x in taken) and max(unfair) <= _FAIR,
            f"MPCC: link taken within {np.max(taken, initial=0):.3g} ms (bins of 2 ms), unfairness "
            f"{np.max(unfair, initial=0):.2g} at most",
        ),
        Claim(
            "MPCC holds the queue at zero while flows leave (Fig. 5.4a)",
            bool(own) and max(queues) < FRAME_BYTES,
            f"means of {', '.join(f'{x:.0f}' for x in queues)} B: less than a frame",
        ),
    )
    notes = [
        f"Sizes are {scale:g} of the thesis's. The flows need "
        + ", ".join(f"{end / 1e6:,.0f} ms under {name}" for name, end in ends.items())
        + "; columns as in mpcc-joining. HPCC aims at 95 % of the link and has 42 B of telemetry, MPCC 32 B.",
    ]
    if not any(own.moments for own in runs.values()):
        notes.append(
            "Windows of so many ACKs are not recorded: when the shares became fair is not known here."
        )
    return Outcome(
        flows.queue_rows(table),
        claims,
        (flows.table_of("After a flow has left", table),),
        notes,
        flows.pictures(runs, max(ends.values()), "leaving"),
        flows.csvs(runs),
    )

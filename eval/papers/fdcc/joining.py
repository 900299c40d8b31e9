# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows that join a link one by one (Zhang 2023, Fig. 6.2)."""

from __future__ import annotations

import math
from operator import lt

from ns3_env.eval.metrics.fairness import unfair_ratio
from ns3_env.eval.papers.experiment import Played, counted, experiment
from ns3_env.eval.papers.fdcc.incasts import ENTRIES, FDCC, NAMES
from ns3_env.eval.papers.outcome import Outcome, grid
from ns3_env.eval.papers.shares import Shares, draw_shares, shares_csv
from ns3_env.eval.papers.verdicts import Judge
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining
from ns3_env.simulator.results import Floats

FLOWS, RATE_BPS = 4, 100e9
#: From start to start at scale 1 (section 6.1).
INTERVAL_NS = 35_000_000
#: Bins of an interval: 250 µs at scale 1, 700 frames of a flow in four.
_BINS = 140
#: (node, port) of switch A's port to switch B: hosts come first, and A's ports are in the order of its links.
_BOTTLENECK = (FLOWS + 1, FLOWS)


def _interval_ns(scale: float) -> int:
    return max(_BINS * 1000, round(scale * INTERVAL_NS))


def cases(scale: float) -> dict[str, Scenario]:
    """Four flows that do not end, ``scale`` x 35 ms apart, until all four have been there for so long."""
    interval = _interval_ns(scale)
    endless = round(FLOWS * interval * RATE_BPS / 8e9)
    scenario = Scenario(
        time_limit_ns=FLOWS * interval,
        topology=Dumbbell(senders=FLOWS, rate_bps=RATE_BPS),
        traffic=Joining(sizes_bytes=[endless] * FLOWS, interval_ns=interval),
    )
    return {"": scenario}


@experiment(
    "fdcc-joining",
    "Four flows that join a link 35 ms apart",
    "Zhang 2023, Fig. 6.2",
    0.5,
    "35 ms from start to start",
    counted(cases, _BOTTLENECK, lambda scale: _interval_ns(scale) // _BINS, RATE_BPS, ENTRIES),
    trained=True,
)
def outcome(played: Played[dict[str, Shares]]) -> Outcome:
    """From a flow's joining to the next."""
    runs, interval = played.runs, _interval_ns(played.scale)
    table = {
        f"{flows} flows": {name: _numbers(own, flows, interval) for name, own in runs.items()}
        for flows in range(2, FLOWS + 1)
    }
    judge = Judge(table, NAMES)
    notes = (
        "Flows do not end; Fig. 6.2 does not say how long they are. Shares are of bytes on the wire, in bins "
        f"of {interval // _BINS / 1e3:g} µs. Fluctuation: a flow's standard deviation over the interval from "
        "a joining to the next, over its mean, averaged over the flows. Unfair ratio: of their means over "
        "that interval; settled: over its second half.",
        *played.notes,
    )
    heads = ("under", "with", "fluctuation", "unfair ratio", "settled", "link used")
    names = ("fluctuation", "unfair_ratio", "settled_unfair_ratio", "link_used")
    rows = (((name, case), own) for case, by_name in table.items() for name, own in by_name.items())
    return Outcome(
        (),
        (
            judge.claim(
                "Shares fluctuate less under FDCC when a flow joins (6.1)",
                FDCC,
                lt,
                NAMES,
                "fluctuation",
            ),
            judge.claim(
                "FDCC shares the bandwidth more equitably then (6.1)", FDCC, lt, NAMES, "unfair_ratio"
            ),
        ),
        (grid("From a flow's joining to the next", heads, names, rows),),
        notes,
        {"fdcc-fig-6-2": draw_shares(runs, FLOWS * interval, [f"flow {i}" for i in range(FLOWS)])},
        {"shares": shares_csv(runs)},
        table,
    )


def fluctuation(share: Floats) -> float:
    """Mean over flows of the standard deviation over time, as a share of the flow's mean: share is
    (flows, bins). A flow that got nothing counts as infinite."""
    means = share.mean(axis=1)
    if (means <= 0).any():
        return float("inf")
    return float((share.std(axis=1) / means).mean())


def _numbers(own: Shares, flows: int, interval_ns: int) -> dict[str, float | None]:
    share = own.between((flows - 1) * interval_ns, flows * interval_ns)[:flows]
    settled = share[:, share.shape[1] // 2 :]
    found = {
        "fluctuation": fluctuation(share),
        "unfair_ratio": unfair_ratio(share.mean(axis=1)),
        "settled_unfair_ratio": unfair_ratio(settled.mean(axis=1)),
        "link_used": float(share.sum(axis=0).mean()),
    }
    return {name: x if math.isfinite(x) else None for name, x in found.items()}

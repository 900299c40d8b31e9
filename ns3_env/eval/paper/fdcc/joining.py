# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: flows that join a link one by one (Zhang 2023, Fig. 6.2)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.metrics.fairness import unfair_ratio
from ns3_env.eval.paper.fdcc.entries import NAMES, make_entries
from ns3_env.eval.paper.fdcc.shared_link import RATE_BPS, Shared, csv_of, draw, play_each
from ns3_env.eval.paper.fdcc.verdicts import Table, below, claim, listed, tally, value
from ns3_env.eval.paper.outcome import Claim, Experiment, Grid, Outcome, Policies, Progress
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

FLOWS = 4
#: From start to start at scale 1 (section 6.1).
INTERVAL_NS = 35_000_000
#: Bins of an interval: 250 µs at scale 1, 700 frames of a flow in four.
_BINS = 140
TOPOLOGY = Dumbbell(senders=FLOWS, rate_bps=RATE_BPS)


def scenario(scale: float) -> Scenario:
    """Four flows that do not end, ``scale`` x 35 ms apart."""
    interval = _interval_ns(scale)
    endless = round(FLOWS * interval * RATE_BPS / 8e9)
    return Scenario(
        time_limit_ns=FLOWS * interval,
        topology=TOPOLOGY,
        traffic=Joining(sizes_bytes=[endless] * FLOWS, interval_ns=interval),
    )


def _interval_ns(scale: float) -> int:
    return max(_BINS * 1000, round(scale * INTERVAL_NS))


def run(simulator: Simulator, scale: float, progress: Progress, policies: Policies | None = None) -> Outcome:
    """Up to the end of the interval in which all four flows are there."""
    entries, interval = make_entries(policies or {}), _interval_ns(scale)
    runs = play_each(simulator, scenario(scale), TOPOLOGY, entries, interval // _BINS, progress)
    table: Table = {
        f"{flows} flows": {name: _numbers(own, flows, interval) for name, own in runs.items()}
        for flows in range(2, FLOWS + 1)
    }
    rows: list[tuple[str | float, ...]] = [
        (name, case, *(value(own, key) for key in own))
        for case, by_name in table.items()
        for name, own in by_name.items()
    ]
    notes = (
        "Flows do not end; Fig. 6.2 does not say how long they are. Shares are of bytes on the wire, in bins "
        f"of {interval // _BINS / 1e3:g} µs. Fluctuation: a flow's standard deviation over the interval from "
        "a joining to the next, over its mean, averaged over the flows. Unfair ratio: of their means over "
        "that interval; settled: over its second half.",
        *entries.notes,
    )
    columns = ("under", "with", "fluctuation", "unfair ratio", "settled", "link used")
    grid = Grid("From a flow's joining to the next", columns, rows)
    pictures = {"fdcc-fig-6-2": draw(runs, FLOWS * interval, [f"flow {i}" for i in range(FLOWS)])}
    return Outcome((), _claims(table), (grid,), notes, pictures, {"shares": csv_of(runs)}, table)


def fluctuation(share: Floats) -> float:
    """Mean over flows of the standard deviation over time, as a share of the flow's mean: share is
    (flows, bins). A flow that got nothing counts as infinite."""
    means = share.mean(axis=1)
    if (means <= 0).any():
        return float("inf")
    return float((share.std(axis=1) / means).mean())


def _numbers(own: Shared, flows: int, interval_ns: int) -> dict[str, float | None]:
    share = own.between((flows - 1) * interval_ns, flows * interval_ns, flows)
    settled = share[:, share.shape[1] // 2 :]
    found = {
        "fluctuation": fluctuation(share),
        "unfair_ratio": unfair_ratio(share.mean(axis=1)),
        "settled_unfair_ratio": unfair_ratio(settled.mean(axis=1)),
        "link_used": float(share.sum(axis=0).mean()),
    }
    return {name: x if np.isfinite(x) else None for name, x in found.items()}


def _claims(table: Table) -> tuple[Claim, ...]:
    return (
        claim(
            "Shares fluctuate less under FDCC when a flow joins (6.1)",
            tally(table, ("fdcc",), NAMES, "fluctuation", below),
            None,
            listed(table, "fluctuation", NAMES),
        ),
        claim(
            "FDCC shares the bandwidth more equitably then (6.1)",
            tally(table, ("fdcc",), NAMES, "unfair_ratio", below),
            None,
            listed(table, "unfair_ratio", NAMES),
        ),
    )


EXPERIMENT = Experiment(
    "fdcc-joining",
    "Four flows that join a link 35 ms apart",
    "Zhang 2023, Fig. 6.2",
    0.5,
    "35 ms from start to start",
    run,
    run,
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: two flows at a link, and four that join one by one (Zhang 2023, Figs. 6.1 and 6.2)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.convergence import unfair_ratio
from ns3_env.eval.papers.experiment import Data, experiment, link_shares
from ns3_env.eval.papers.fdcc.claims import IN_FIGURES, judge
from ns3_env.eval.papers.fdcc.incasts import HOSTS
from ns3_env.eval.papers.outcome import Measured, Outcome, flat
from ns3_env.eval.papers.runs import Shares, draw_shares
from ns3_env.simulator.results import Floats, flow_column

#: Drawn and judged up to here at scale 1.
UNTIL_NS = 2_000_000
#: Bins up to there, of 1 µs at least.
_BINS, _LEAST_NS = 100, 100_000


def _until_ns(scale: float) -> int:
    return max(_LEAST_NS, round(scale * UNTIL_NS))


@experiment(
    "fdcc-long-short",
    every=link_shares((2 * HOSTS, HOSTS), lambda scale: _until_ns(scale) // _BINS),
)
def long_short(data: Data[dict[str, dict[str, Shares]]]) -> Outcome:
    """A short flow beside a long one."""
    until = _until_ns(data.scale)
    tables = {
        links: {"long and short": {name: _of_two(record, until) for name, record in by_name.items()}}
        for links, by_name in data.runs.items()
    }
    rows = {(name, links): numbers for (links, _, name), numbers in flat(tables, 3)}
    return Outcome(
        claims=judge(data.declared.claims, tables, data, goodput=""),
        grids=data.declared.grids(rows),
        notes=data.notes,
        pictures={"fdcc-fig-6-1": draw_shares(data.runs[IN_FIGURES], until, ("long flow", "short flow"))},
    )


def _of_two(record: Shares, until_ns: int) -> Measured:
    fct, alone, payload, headers = (
        flow_column(record.results, name)
        for name in ("fct_ns", "standalone_ns", "payload_bytes", "header_bytes")
    )
    fct = np.where(fct < 0, np.nan, fct)
    share = record.between(0, until_ns)[:2].mean(axis=1)
    long, short = map(float, fct / alone)
    numbers = {
        "link_used": float(share.sum()),
        "payload_used": float((share * payload / (payload + headers)).sum()),
        "short_us": float(fct[1]) / 1e3,
        "short_slowdown": short,
        "long_slowdown": long,
    }
    names = ("goodput", "queue_avg_bytes", "queue_p99_bytes")
    return without_nan({**numbers, **measure(record.results, names)})


FLOWS = 4
#: Bins of the time from start to start: 250 µs at scale 1, 700 frames of a flow in four.
_INTERVAL_BINS = 140


def _interval_ns(scale: float) -> int:
    return max(_INTERVAL_BINS * 1000, round(scale * 35_000_000))


@experiment(
    "fdcc-joining",
    every=link_shares((FLOWS + 1, FLOWS), lambda scale: _interval_ns(scale) // _INTERVAL_BINS),
)
def joining(data: Data[dict[str, dict[str, Shares]]]) -> Outcome:
    """Four flows that join a link 35 ms apart."""
    interval = _interval_ns(data.scale)
    tables = {
        links: {
            f"{flows} flows": {name: _since_joining(record, flows, interval) for name, record in runs.items()}
            for flows in range(2, FLOWS + 1)
        }
        for links, runs in data.runs.items()
    }
    rows = {(name, links, case): record for (links, case, name), record in flat(tables, 3)}
    names = [f"flow {i}" for i in range(FLOWS)]
    return Outcome(
        claims=judge(data.declared.claims, tables, data, goodput="link_used"),
        grids=data.declared.grids(rows),
        notes=(f"Shares are counted in bins of {interval // _INTERVAL_BINS / 1e3:g} µs.", *data.notes),
        pictures={"fdcc-fig-6-2": draw_shares(data.runs[IN_FIGURES], FLOWS * interval, names)},
    )


def fluctuation(share: Floats) -> float:
    """Mean over flows of the standard deviation over time, as a share of the flow's mean: share is
    (flows, bins). A flow that got nothing counts as infinite."""
    means = share.mean(axis=1)
    return float("inf") if (means <= 0).any() else float((share.std(axis=1) / means).mean())


def _since_joining(record: Shares, flows: int, interval_ns: int) -> Measured:
    share = record.between((flows - 1) * interval_ns, flows * interval_ns)[:flows]
    numbers = {
        "fluctuation": fluctuation(share),
        "unfair_ratio": unfair_ratio(share.mean(axis=1)),
        "settled_unfair_ratio": unfair_ratio(share[:, share.shape[1] // 2 :].mean(axis=1)),
        "link_used": float(share.sum(axis=0).mean()),
    }
    return {name: x if abs(x) < float("inf") else None for name, x in numbers.items()}

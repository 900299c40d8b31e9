# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of an incast (queue, slowdowns, pauses, spread over the flows), and their tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.fairness import common_bandwidths
from ns3_env.eval.metrics.slowdown import fct_slowdowns
from ns3_env.eval.paper.fdcc.tables import title
from ns3_env.eval.paper.fdcc.verdicts import Table
from ns3_env.eval.paper.outcome import Grid, Measured
from ns3_env.eval.plots.table import csv_text
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Topology
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Floats

#: Metrics (``eval.metrics``), by the names under which they are written.
METRICS = {
    "qlen_avg": "queue_avg_bytes",
    "qlen_p99": "queue_p99_bytes",
    "fct_slowdown_avg": "fct_slowdown_avg",
    "fct_slowdown_p99": "fct_slowdown_p99",
    "unfair_ratio": "unfair_ratio",
    "goodput": "goodput",
    "pause_fraction": "pfc_pause_fraction",
    "unfinished": "unfinished_flows",
    "unfair_ratio_lifetime": "unfair_ratio_lifetime",
    "pfc_frames": "pfc_frames",
    "pfc_pause_ns": "pfc_pause_ns",
}
#: Of each flow, and within which its start lies, at scale 1 (Zhang 2023, section 6.2).
SIZE_BYTES, SPREAD_NS = 20_000_000, 1_000_000
#: The time limit, in times that the link alone would need for all flows: the thesis's slowest takes 1.15.
_PATIENCE = 3
_SLACK_NS = 2_000_000
#: (name, heading, divisor) of the columns.
_COLUMNS = (
    ("qlen_avg", "queue, mean (kB)", 1e3),
    ("qlen_p99", "p99 (kB)", 1e3),
    ("fct_slowdown_avg", "slowdown, mean", 1),
    ("fct_slowdown_p99", "p99", 1),
    ("unfair_ratio", "unfair ratio", 1),
    ("goodput", "goodput", 1),
    ("pause_fraction", "paused", 1),
    ("unfinished", "unfinished", 1),
    ("unfair_ratio_lifetime", "unfair, lifetimes", 1),
)


@dataclass(frozen=True)
class Spread:
    """One incast under one entry.

    Attributes:
        numbers: by the names of ``METRICS``.
        slowdowns: of the finished flows.
        deviations: of each flow's bandwidth from their mean, as a share of it, while all were active.
    """

    numbers: Measured
    slowdowns: Floats
    deviations: Floats


def incast(topology: Topology, flows: int, scale: float, seed: int = 1) -> Scenario:
    """``flows`` flows of ``scale`` x 20 MB to the last host, from all hosts that are not at its switch.

    Starts are Gaussian within ``scale`` x 1 ms, which leaves the ratio of the flows' lengths to it as it is.
    """
    size, spread = max(1000, round(scale * SIZE_BYTES)), round(scale * SPREAD_NS)
    alone_ns = 8e9 * flows * size / min(link.rate_bps for link in topology.build().links)
    return Scenario(
        seed=seed,
        time_limit_ns=round(_PATIENCE * alone_ns) + spread + _SLACK_NS,
        topology=topology,
        traffic=Incast(flows=flows, size_bytes=size, spread_ns=spread),
    )


def spread(results: Mapping[str, Any]) -> Spread:
    """What the results of an incast hold."""
    found = measure(results, METRICS.values())
    bandwidths = common_bandwidths(results)
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    return Spread(
        without_nan({name: found[metric] for name, metric in METRICS.items()}),
        fct_slowdowns(results),
        (bandwidths - mean) / mean if mean > 0 else np.zeros(0),
    )


def measured(found: Mapping[int, Mapping[str, Spread]]) -> dict[str, dict[str, Measured]]:
    """The numbers alone, by the thesis's name of each case."""
    return {
        title(flows): {name: own.numbers for name, own in by_name.items()} for flows, by_name in found.items()
    }


def csvs(found: Mapping[int, Mapping[str, Spread]]) -> dict[str, str]:
    """Numbers and distributions over the flows as CSV texts, by file name."""
    numbers = [
        (flows, name, *(own.numbers[column] for column in METRICS))
        for flows, by_name in found.items()
        for name, own in by_name.items()
    ]
    flows_of = [
        (flows, name, what, f"{x:.6g}")
        for flows, by_name in found.items()
        for name, own in by_name.items()
        for what, values in distributions(own)
        for x in np.sort(values)
    ]
    return {
        "incast": csv_text(("flows", "controller", *METRICS), numbers),
        "spread": csv_text(("flows", "controller", "what", "value"), flows_of),
    }


def distributions(own: Spread) -> Iterable[tuple[str, Floats]]:
    """(name, values) of what a entry's flows differ in."""
    return (("slowdown", own.slowdowns), ("deviation", own.deviations))


def grids(ours: Table, published: Table) -> list[Grid]:
    """One for each case; "thesis" rows where the thesis has numbers of a entry."""
    found = []
    for case, by_name in ours.items():
        rows: list[tuple[str | float, ...]] = []
        for name, own in by_name.items():
            rows.append((name, "here", *_cells(own)))
            if name in published.get(case, {}):
                rows.append((name, "thesis", *_cells(published[case][name])))
        found.append(Grid(case, ("under", "origin", *(heading for _, heading, _ in _COLUMNS)), rows))
    return found


def _cells(own: Measured) -> list[float]:
    numbers = ((own.get(name), divisor) for name, _, divisor in _COLUMNS)
    return [math.nan if x is None else x / divisor for x, divisor in numbers]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures an incast: the thesis's columns, pauses, and their spread over the flows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.fairness import common_bandwidths
from ns3_env.eval.metrics.slowdown import fct_slowdowns
from ns3_env.eval.paper.fdcc.theirs import title
from ns3_env.eval.paper.outcome import Measured
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


@dataclass(frozen=True)
class Spread:
    """One incast under one contestant.

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
    """(name, values) of what a contestant's flows differ in."""
    return (("slowdown", own.slowdowns), ("deviation", own.deviations))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Incasts under the thesis's entries; its printed tables of them (Zhang 2023, Tables 6.1 and 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.fairness import common_bandwidths
from ns3_env.eval.metrics.slowdown import fct_slowdowns
from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Entries
from ns3_env.eval.papers.outcome import Grid, Measured, grid
from ns3_env.eval.papers.verdicts import Table
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Topology
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator.results import Floats, Results

#: In the order of Table 6.2. What DCQCN and TIMELY do not bring by themselves: no flow has more than a BDP
#: under way (Zhang 2023, section 5.3). HPCC and a policy's flows never do. Released policies: the learned
#: baseline, and the thesis's own.
ENTRIES = Entries(
    {"dcqcn": {"BdpWindow": True}, "timely": {"BdpWindow": True}, "hpcc": {}}, released=("rlcc", "fdcc")
)
NAMES, FDCC = ENTRIES.names, ("fdcc",)
#: Those whose packets carry a record of every hop, and those that the thesis compares them with.
WITH_RECORDS, WITHOUT = ("fdcc", "hpcc"), ("dcqcn", "timely")
#: Columns of Table 6.2, by our names of them.
COLUMNS = ("qlen_avg", "qlen_p99", "fct_slowdown_avg", "fct_slowdown_p99", "unfair_ratio", "goodput")
_ROWS_6_2 = {
    4: (
        (42993.3, 48208, 4.0, 4.1, 0.00002, 0.96),
        (43653.6, 49632, 4.0, 4.0, 0.00002, 0.95),
        (1089.1, 3354, 3.3, 4.3, 0.29881, 0.93),
        (49564.8, 52546, 4.3, 4.3, 0.00001, 0.90),
        (49275.3, 51128, 4.1, 4.1, 0.00002, 0.93),
    ),
    16: (
        (135259.8, 151960, 15.4, 16.0, 0.03805, 0.99),
        (130874.7, 144672, 15.8, 16.2, 0.01845, 0.96),
        (2804.3, 6708, 17.4, 17.6, 0.01279, 0.88),
        (253288.8, 253786, 17.0, 17.0, 0.00003, 0.89),
        (30716, 31525, 16.9, 16.9, 0.00002, 0.90),
    ),
    256: (
        (1098612.9, 2882000, 253.0, 255.5, 0.00997, 0.96),
        (1372074.3, 4037088, 293.8, 296.1, 0.00762, 0.83),
        (131961.3, 3274622, 294.5, 295.2, 0.00243, 0.83),
        (4167130.2, 4286572.2, 255.1, 255.4, 0.00117, 0.95),
        (3578233.5, 3688457.3, 254.5, 254.7, 0.00091, 0.96),
    ),
    1024: (
        (6718384.9, 6764840, 975.4, 982.1, 0.00683, 0.99),
        (1914594.7, 6554592, 1026.1, 1028.3, 0.00218, 0.95),
        (1347184.6, 6502288, 1089.2, 1091.4, 0.00195, 0.89),
        (3085705.3, 6987246, 984.35, 986.5, 0.00225, 0.98),
        (2495439.2, 6572722, 975.6, 977.1, 0.00153, 0.99),
    ),
}
_GOODPUT_6_1 = {
    48: (0.99, 0.99, 0.87, 0.98, 0.98),
    192: (0.98, 0.98, 0.88, 0.89, 0.93),
    768: (0.97, 0.96, 0.86, 0.88, 0.94),
}

#: Flows of each incast.
DUMBBELL_FLOWS, FAT_TREE_FLOWS = tuple(_ROWS_6_2), tuple(_GOODPUT_6_1)


def title(flows: int) -> str:
    """A case, as the thesis calls it."""
    return f"{flows}-to-1"


#: By case, entry and column; lengths in bytes.
TABLE_6_2: dict[str, dict[str, dict[str, float | None]]] = {
    title(flows): {name: dict(zip(COLUMNS, row, strict=True)) for name, row in zip(NAMES, rows, strict=True)}
    for flows, rows in _ROWS_6_2.items()
}
#: Goodput by case and entry.
TABLE_6_1: dict[str, dict[str, dict[str, float | None]]] = {
    title(flows): {name: {"goodput": x} for name, x in zip(NAMES, row, strict=True)}
    for flows, row in _GOODPUT_6_1.items()
}
#: Metrics (``eval.metrics``), by the names under which they are written.
METRICS = {
    "qlen_avg": "queue_avg_bytes",
    "qlen_p99": "queue_p99_bytes",
    **{name: name for name in ("fct_slowdown_avg", "fct_slowdown_p99", "unfair_ratio", "goodput")},
    "pause_fraction": "pfc_pause_fraction",
    "unfinished": "unfinished_flows",
    **{name: name for name in ("unfair_ratio_lifetime", "pfc_frames", "pfc_pause_ns")},
}
#: Of each flow, and within which its start lies, at scale 1 (Zhang 2023, section 6.2).
SIZE_BYTES, SPREAD_NS = 20_000_000, 1_000_000
#: The time limit, in times that the link alone would need for all flows: the thesis's slowest takes 1.15.
_PATIENCE = 3
_SLACK_NS = 2_000_000
_QUEUES = ("queue, mean (kB)", "p99 (kB)", "slowdown, mean", "p99", "unfair ratio")
_HEADS = ("under", "origin", *_QUEUES, "goodput", "paused", "unfinished", "unfair, lifetimes")
#: Of the table: all but what PFC did.
_NAMES = [(name, 1e3 if name.startswith("qlen") else 1) for name in METRICS if "pfc" not in name]
#: Flows, and what the links are where they are not 1 µs long.
Case = tuple[int, str]


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


def spread(results: Results) -> Spread:
    """What the results of an incast hold."""
    found = measure(results, METRICS.values())
    bandwidths = common_bandwidths(results)
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    return Spread(
        without_nan({name: found[metric] for name, metric in METRICS.items()}),
        fct_slowdowns(results),
        (bandwidths - mean) / mean if mean > 0 else np.zeros(0),
    )


def measured(found: Mapping[Case, Mapping[str, Spread]]) -> dict[str, dict[str, Measured]]:
    """The numbers alone, by the thesis's name of each case."""
    return {
        title(flows) + links: {name: own.numbers for name, own in by_name.items()}
        for (flows, links), by_name in found.items()
    }


def csvs(found: Mapping[Case, Mapping[str, Spread]]) -> dict[str, str]:
    """Numbers and distributions over the flows as CSV texts, by file name; of links of 1 µs."""
    runs = [
        (flows, name, own)
        for (flows, links), by_name in found.items()
        if not links
        for name, own in by_name.items()
    ]
    numbers = [(flows, name, *(own.numbers[column] for column in METRICS)) for flows, name, own in runs]
    flows_of = [
        (flows, name, what, f"{x:.6g}")
        for flows, name, own in runs
        for what, values in (("slowdown", own.slowdowns), ("deviation", own.deviations))
        for x in np.sort(values)
    ]
    return {
        "incast": csv_text(("flows", "controller", *METRICS), numbers),
        "spread": csv_text(("flows", "controller", "what", "value"), flows_of),
    }


def grids(ours: Table, published: Table) -> list[Grid]:
    """One for each case; "thesis" rows where the thesis has numbers of an entry."""
    return [
        grid(
            case,
            _HEADS,
            _NAMES,
            (
                ((name, origin), numbers[name])
                for name in by_name
                for origin, numbers in (("here", by_name), ("thesis", published.get(case, {})))
                if name in numbers
            ),
        )
        for case, by_name in ours.items()
    ]

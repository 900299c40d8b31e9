# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC's network of 320 hosts, its loads, its measurements (Li 2019, sec. 5.1 and 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from ns3_env.eval.metrics.queues import pfc_pause_ns
from ns3_env.eval.metrics.slowdown import statistics_of
from ns3_env.scenario.topology import FatTree3, Graph, Topology
from ns3_env.simulator.results import Results, charged_slowdowns, flow_column

_PODS, _TORS, _AGGREGATION, _CORES, _HOSTS = 5, 4, 4, 16, 16
#: Size of each flow of an incast.
INCAST_BYTES = 500_000
#: In the order of the figure's panels.
INCAST, BUSY = "30 % and 60-to-1 incasts", "50 %"
#: The paper's six.
PAPER = ("dcqcn", "dcqcn+window", "timely", "timely+window", "dctcp", "hpcc")
#: A controller, and itself with a window.
WINDOWS = {"dcqcn": "dcqcn+window", "timely": "timely+window"}
#: Links, each in both directions.
DIRECTIONS = 2 * (_PODS * _TORS * (_HOSTS + _AGGREGATION) + _PODS * _CORES)


def topology() -> Topology:
    """Five pods of four top-of-rack and four aggregation switches, the i-th of which has the i-th four of the
    16 cores: nothing is oversubscribed (docs/sources/baselines.md, "Li 2019")."""
    whole = FatTree3(
        pods=_PODS,
        tors_per_pod=_TORS,
        aggregation_per_pod=_AGGREGATION,
        cores=_CORES,
        hosts_per_tor=_HOSTS,
        rate_bps=100e9,
        fabric_bps=400e9,
        delay_ns=1000,
    ).build()  # whose aggregation switches have all cores
    cores, each = len(whole.nodes) - _CORES, _CORES // _AGGREGATION
    links = [x for x in whole.links if x.b < cores or x.a % _AGGREGATION == (x.b - cores) // each]
    return Graph.model_validate({"nodes": whole.nodes, "links": [asdict(link) for link in links]})


#: Every tenth percentile of FB_Hadoop: the figure's sizes. Each bin is above the one before, up to its own.
SIZES = (324, 400, 500, 600, 700, 1000, 7000, 46_000, 120_000, 10_000_000)
LABELS = [
    f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k" if size >= 1e3 else f"{size}" for size in SIZES
]
#: Payload: six flows of ten are one packet.
PACKET_BYTES = 1000
#: "Shorter than 120 kB" (5.3): nine of ten flows; the last bin is of the longer ones.
SHORT, LONG = LABELS[:-1], LABELS[-1]


@dataclass(frozen=True)
class Tails:
    """One entry under one load.

    Attributes:
        flows: number of flows of the workload, without incasts.
        p95: 95 % slowdown by label of ``SIZES``; an unfinished flow is charged for its remaining bytes.
        numbers: "short" and "long" (95 % slowdowns of flows up to, and above 120 kB); "latency_p50_us",
            "latency_p95_us" and "latency_p99_us" of a packet and its ACK, over the flows that are one packet;
            "paused", the share of links and time; "pauses" (frames); "unfinished".
    """

    flows: int
    p95: Mapping[str, float]
    numbers: Mapping[str, float]


def measure(results: Results) -> Tails:
    """Measures a run. Flows with exactly an incast's size count as part of one."""
    sizes, fct = flow_column(results, "size_bytes"), flow_column(results, "fct_ns")
    slow = charged_slowdowns(results)
    ordinary = sizes != INCAST_BYTES
    places = np.searchsorted(SIZES, sizes)
    p95 = {label: statistics_of(slow[ordinary & (places == i)])["p95"] for i, label in enumerate(LABELS)}
    single = fct[ordinary & (sizes <= PACKET_BYTES) & (fct >= 0)] / 1e3
    numbers = {
        "short": statistics_of(slow[ordinary & (sizes <= SIZES[-2])])["p95"],
        "long": p95[LONG],
        **{f"latency_{name}_us": x for name, x in statistics_of(single).items()},
        "paused": pfc_pause_ns(results) / (results["totals"]["end_ns"] * DIRECTIONS),
        "pauses": float(results["totals"]["pfc_frames"]),
        "unfinished": float((fct < 0).sum()),
    }
    return Tails(int(ordinary.sum()), p95, numbers)


#: Runs by load and entry.
Runs = Mapping[str, Mapping[str, Tails]]


def best(by_name: Mapping[str, Tails], key: str) -> float:
    """The minimum of a number under the paper's controllers but HPCC."""
    return min(by_name[name].numbers[key] for name in PAPER if name != "hpcc")

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of a run of HPCC's workloads: slowdowns by flow size, round trips, pauses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ns3_env.eval.metrics.queues import pfc_pause_ns
from ns3_env.eval.metrics.slowdown import statistics_of
from ns3_env.eval.papers.hpcc.network import DIRECTIONS, INCAST_BYTES, PAPER
from ns3_env.simulator.results import Results, charged_slowdowns, flow_column

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
class Seen:
    """One entry under one load.

    Attributes:
        flows: of the workload, without incasts.
        slowdowns: statistics by label of ``SIZES``; a flow without an end pays for what is left.
        numbers: "short" and "long" (95 % slowdowns of flows up to, and above 120 kB); "latency_p50_us",
            "latency_p95_us" and "latency_p99_us" of a packet and its ACK, over the flows that are one packet;
            "paused", the share of links and time; "pauses" (frames); "unfinished".
    """

    flows: int
    slowdowns: Mapping[str, Mapping[str, float]]
    numbers: Mapping[str, float]

    def p95(self, label: str) -> float:
        """The 95th percentile of a size's slowdowns."""
        return self.slowdowns[label]["p95"]


def measure(results: Results) -> Seen:
    """What the results of a run hold. Flows of the very size of an incast's are taken for one's."""
    sizes, fct = flow_column(results, "size_bytes"), flow_column(results, "fct_ns")
    slow = charged_slowdowns(results)
    own = sizes != INCAST_BYTES
    places = np.searchsorted(SIZES, sizes)
    slowdowns = {label: statistics_of(slow[own & (places == i)]) for i, label in enumerate(LABELS)}
    single = fct[own & (sizes <= PACKET_BYTES) & (fct >= 0)] / 1e3
    numbers = {
        "short": statistics_of(slow[own & (sizes <= SIZES[-2])])["p95"],
        "long": slowdowns[LONG]["p95"],
        **{f"latency_{name}_us": x for name, x in statistics_of(single).items()},
        "paused": pfc_pause_ns(results) / (results["totals"]["end_ns"] * DIRECTIONS),
        "pauses": float(results["totals"]["pfc_frames"]),
        "unfinished": float((fct < 0).sum()),
    }
    return Seen(int(own.sum()), slowdowns, numbers)


#: By load and entry.
Runs = Mapping[str, Mapping[str, Seen]]


def best(by_name: Mapping[str, Seen], key: str) -> float:
    """The least of a number under the paper's controllers but HPCC."""
    return min(by_name[name].numbers[key] for name in PAPER.names if name != "hpcc")

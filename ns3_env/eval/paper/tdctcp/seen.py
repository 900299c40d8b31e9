# SPDX-License-Identifier: GPL-2.0-or-later
"""Record of a run: throughput, RTTs of all flows together, completion times, marks and losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.paper.tdctcp.fat_tree import TO_RECEIVER
from ns3_env.simulator.results import flow_column

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """One run.

    Attributes:
        throughput_mbps: payload that all flows had acknowledged.
        jain: index of what each had acknowledged.
        rtt_mean_ms, rtt_p50_ms, rtt_p99_ms: over all flows' samples.
        rtts_ms: their 1 % to 99 % points: (99,).
        queue_kb: mean at the port to the receiver.
        lost: packets, anywhere.
        timeouts: of all flows.
        sizes_bytes, fcts_ms: of each flow; NaN where it did not finish.
    """

    throughput_mbps: float
    jain: float
    rtt_mean_ms: float
    rtt_p50_ms: float
    rtt_p99_ms: float
    rtts_ms: Floats
    queue_kb: float
    lost: int
    timeouts: int
    sizes_bytes: Floats
    fcts_ms: Floats

    def table(self) -> dict[str, float]:
        """What is one number each."""
        return {
            name: float(getattr(self, name))
            for name in (
                "throughput_mbps",
                "jain",
                "rtt_mean_ms",
                "rtt_p50_ms",
                "rtt_p99_ms",
                "queue_kb",
                "lost",
                "timeouts",
            )
        }


def seen(results: Mapping[str, Any]) -> Seen:
    """What is kept of a run's results."""
    totals, rtt = results["totals"], results["rtt"]
    acked = flow_column(results, "acked_bytes")
    fcts = flow_column(results, "fct_ns")
    (port,) = (x for x in results["queues"] if (x["node"], x["port"]) == TO_RECEIVER)
    return Seen(
        float(acked.sum()) * 8e3 / totals["end_ns"],
        float(jain_index(acked)),
        rtt["mean_ns"] / 1e6,
        rtt["p50_ns"] / 1e6,
        rtt["p99_ns"] / 1e6,
        np.asarray(rtt["percentiles_ns"], dtype=np.float64) / 1e6,
        port["mean_bytes"] / 1e3,
        int(totals["dropped_packets"]),
        int(flow_column(results, "timeouts").sum()),
        flow_column(results, "size_bytes"),
        np.where(fcts < 0, np.nan, fcts) / 1e6,
    )

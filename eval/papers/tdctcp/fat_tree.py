# SPDX-License-Identifier: GPL-2.0-or-later
"""15 hosts of a fat-tree send to the sixteenth: settings, laws, numbers (Liang 2018, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.runs import Run
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator.results import Floats

#: Mininet's limit, as in the thesis.
RATE_BPS = 100e6
RECEIVER, SENDERS = 0, tuple(range(1, 16))
#: (node, port) of the receiver's edge switch to the receiver.
TO_RECEIVER = (16, 0)
#: Flows start at random within it.
SPREAD_NS = 1_000_000
#: Laws by their names in tables and figures.
DCTCP, TDCTCP, CUBIC = "DCTCP", "T-DCTCP", "CUBIC"
LAWS = (DCTCP, TDCTCP, CUBIC)
#: Settings of ports: as DCTCP's authors mark, and unmarked.
AS_PUBLISHED, NOTHING_MARKED = "K = 20 packets, 1 MB", "no marks, 1000 packets"
SIZES: Mapping[str, int] = {"2 kB": 2_000, "50 kB": 50_000, "1 MB": 1_000_000, "10 MB": 10_000_000}


SECONDS = 20.0


def four_sizes(seed: int, scale: float) -> FlowList:
    """A flow of each size from each server, started at random within a millisecond; sizes are the thesis's
    times ``scale``, and no larger."""
    random = np.random.default_rng(seed)
    sizes = [max(1, round(min(scale, 1.0) * size)) for size in SIZES.values()]
    flows = [
        Flow(src=server, dst=RECEIVER, size_bytes=size, start_ns=int(random.integers(SPREAD_NS)))
        for server in SENDERS
        for size in sizes
    ]
    return FlowList(flows=flows)


def numbers(run: Run) -> dict[str, float]:
    """Payload that all flows had acknowledged and Jain's index of it, RTTs over all flows' samples, the mean
    queue at the port to the receiver, packets lost anywhere, timeouts of all flows."""
    acked = run.flows["acked_bytes"]
    return {
        "throughput_mbps": float(acked.sum()) * 8e3 / run.end_ns,
        "jain": float(jain_index(acked)),
        "rtt_mean_ms": run.rtt["mean_ns"] / 1e6,
        "rtt_p50_ms": run.rtt["p50_ns"] / 1e6,
        "rtt_p99_ms": run.rtt["p99_ns"] / 1e6,
        "queue_kb": run.ports[TO_RECEIVER]["mean_bytes"] / 1e3,
        "lost": run.lost,
        "timeouts": run.timeouts,
    }


def rtts_ms(run: Run) -> Floats:
    """The 1 % to the 99 % point of all flows' samples: (99,)."""
    return np.asarray(run.rtt["percentiles_ns"], dtype=np.float64) / 1e6

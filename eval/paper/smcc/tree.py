# SPDX-License-Identifier: GPL-2.0-or-later
"""Topology and traffic: four ToRs around a fabric switch, 15 sources (Jiang 2015, sec. 5.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ns3_env.scenario.topology import Graph, GraphLink
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

#: M computers at each of N ToRs; the leftmost one receives.
COMPUTERS, TORS = 4, 4
SENDERS = range(1, COMPUTERS * TORS)
#: (node, port) of the receiver's ToR to the receiver.
TO_RECEIVER = (COMPUTERS * TORS, 0)
#: Between ToRs and fabric, of a computer's link: what all senders of the paper's 16 Gb/s need.
_UPLINKS = 16
#: Sizes of sec. 5.5, read as bits: 10 kb and 500 Mb.
LEAST_BYTES, MOST_BYTES = 1_250, 62_500_000


def topology(rate_bps: float) -> Graph:
    """Links of 1 µs; the receiver's ToR is the only bottleneck."""
    hosts, fabric = COMPUTERS * TORS, COMPUTERS * TORS + TORS
    links = [GraphLink(a=i, b=hosts + i // COMPUTERS, rate_bps=rate_bps, delay_ns=1000) for i in range(hosts)]
    links += [
        GraphLink(a=hosts + i, b=fabric, rate_bps=_UPLINKS * rate_bps, delay_ns=1000) for i in range(TORS)
    ]
    return Graph(nodes=["host" if i < hosts else "switch" for i in range(fabric + 1)], links=links)


def endless() -> FlowList:
    """Long-lived flows, all at once."""
    return FlowList(flows=[Flow(src=i, dst=0, size_bytes="endless") for i in SENDERS])


def mixed(seed: int, scale: float = 1.0) -> FlowList:
    """Flows of sizes uniform between the paper's two, times ``scale``, all at once."""
    random = np.random.default_rng(seed)
    sizes = random.integers(LEAST_BYTES, round(max(2 * LEAST_BYTES, scale * MOST_BYTES)), len(SENDERS))
    return FlowList(
        flows=[Flow(src=i, dst=0, size_bytes=int(size)) for i, size in zip(SENDERS, sizes, strict=True)]
    )


def shared_until_ns(ends_ns: Sequence[float]) -> float:
    """Until when two flows are there: what empties the queue from then on is no fault of theirs."""
    return float(sorted(ends_ns)[-2])

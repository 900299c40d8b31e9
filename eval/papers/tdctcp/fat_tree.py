# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario: 15 hosts of a fat-tree send to the sixteenth; its numbers (Liang 2018, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.papers.runs import Run
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.tcp_queue import Queue, Tcp
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import FlowList, Incast, Traffic
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator.results import Floats

#: Mininet's limit, as in the thesis.
RATE_BPS = 100e6
RECEIVER, SENDERS = 0, tuple(range(1, 16))
#: (node, port) of the receiver's edge switch to the receiver.
TO_RECEIVER = (16, 0)
#: Flows start at random within it.
SPREAD_NS = 1_000_000
#: The controller of each name in tables and figures.
DCTCP, TDCTCP, CUBIC = "DCTCP", "T-DCTCP", "CUBIC"
CONTROLLERS = {DCTCP: "dctcp", TDCTCP: "tdctcp", CUBIC: "cubic"}
SIZES: Mapping[str, int] = {"2 kB": 2_000, "50 kB": 50_000, "1 MB": 1_000_000, "10 MB": 10_000_000}


#: The thesis gives no duration.
SECONDS = 20.0


def tcp(limit: str, marking: Any, packets_per_ack: int = 2, socket_buffer_bytes: int = 4 << 20) -> Tcp:
    """Values that the thesis does not give: queues of switches, packets for an ACK, room of a socket; Linux's
    timers."""
    return Tcp(
        packets_per_ack=packets_per_ack,
        delayed_ack_timeout_ns=40_000_000,
        min_rto_ns=200_000_000,
        initial_rto_ns=1_000_000_000,
        socket_buffer_bytes=socket_buffer_bytes,
        queue=Queue.model_validate({"limit": limit, "marking": marking}),
    )


#: DCTCP's published threshold at a port of 1 Gb/s, kept at slower ones; Mininet's ports with RED buffer 1 MB.
AS_PUBLISHED, PUBLISHED = "K = 20 packets, 1 MB", tcp("1MB", "auto")
#: Linux's default queue of a device.
NOTHING_MARKED, UNMARKED = "no marks, 1000 packets", tcp("1000 packets", "none")


def topology() -> FatTree3:
    """4 core, 8 aggregation and 8 edge switches, two hosts each; links of one rate, 1 µs long."""
    two: dict[str, Any] = {"tors_per_pod": 2, "aggregation_per_pod": 2, "hosts_per_tor": 2}
    return FatTree3(pods=4, cores=4, rate_bps=RATE_BPS, fabric_bps=RATE_BPS, **two)


def endless(per_server: int = 1) -> Incast:
    """This number of long-lived flows of each server, which start nearly at once."""
    return Incast(
        flows=per_server * len(SENDERS),
        size_bytes="endless",
        receiver=RECEIVER,
        senders=list(SENDERS),
        spread_ns=SPREAD_NS,
        distribution="uniform",
    )


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


def scenario(settings: Tcp, traffic: Traffic, seconds: float, seed: int = 1) -> Scenario:
    """One run."""
    return Scenario(
        transport="tcp",
        seed=seed,
        time_limit_ns=round(seconds * 1e9),
        topology=topology(),
        traffic=traffic,
        tcp=settings,
        record=Record(),
    )


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

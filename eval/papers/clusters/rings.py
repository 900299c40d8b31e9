# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: bus bandwidth of ring all-reduces in a node, and across 256 GPUs (SimAI's tutorial)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Outcome, Row
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Cluster, Graph
from ns3_env.scenario.topology.cluster import ScaleUp
from ns3_env.scenario.topology.kind import GraphLink
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

MIB = 1 << 20
#: Printed bus bandwidth (GB/s) by size (MiB): "RING VS NVLS", column RING.
NODE = {16: 141.84, 32: 153.68, 64: 160.60, 128: 163.85, 256: 165.72, 512: 166.68}
Fabric = Literal["rail-optimised", "nodes below one leaf"]
RAILS: Fabric = "rail-optimised"
LEAVES: Fabric = "nodes below one leaf"
#: "HPN 7.0 architecture VS DCN+ architecture", columns Spectrum-X and DCN-SingleToR.
FABRICS: Mapping[Fabric, Mapping[int, float]] = {
    RAILS: {16: 33.095585, 32: 38.572166, 64: 42.049648, 128: 44.036110, 256: 45.101425, 512: 45.653648},
    LEAVES: {16: 23.332048, 32: 25.762846, 64: 23.677116, 128: 35.209461, 256: 36.205692, 512: 36.242008},
}
#: Their AS_SEND_LAT: before each send.
SEND_NS = 2000
PAYLOAD_BYTES = 9000
_GPUS, _PER_LEAF, _NODE_GPUS, _SPINES, _NIC_BPS = 256, 64, 8, 64, 400e9
#: Within this of a published number is "reproduced".
_NEAR = 0.1


def rings(ranks: Sequence[Sequence[int]], size_bytes: int) -> FlowList:
    """Ring all-reduces side by side, each of these hosts: a send waits for what it passes on, and 2 µs."""
    flows = []
    for ring, hosts in enumerate(ranks):
        count = len(hosts)
        for turn in range(2 * (count - 1)):
            flows += [
                Flow(
                    src=hosts[rank],
                    dst=hosts[(rank + 1) % count],
                    size_bytes=math.ceil(size_bytes / count),
                    name=f"{ring} {turn} {rank}",
                    after=[f"{ring} {turn - 1} {(rank - 1) % count}"] if turn else [],
                    delay_ns=SEND_NS,
                )
                for rank in range(count)
            ]
    return FlowList(flows=flows)


def sizes(scale: float) -> dict[int, int]:
    """Bytes of each size (MiB) up to ``scale`` of 512; of none so small the least one, with fewer bytes."""
    least = min(NODE)
    part = min(1.0, 512 * scale / least)
    return {size: round(part * size * MIB) for size in NODE if size <= max(512 * scale, least)}


def _scenario(topology: Cluster | Graph, traffic: FlowList) -> Scenario:
    base = Scenario(
        time_limit_ns=2_000_000_000, topology=topology, traffic=traffic, payload_bytes=PAYLOAD_BYTES
    )
    return base.under("dcqcn")


def node_cases(scale: float) -> dict[int, Scenario]:
    """Eight GPUs at 1,440 Gb/s below one switch, by size."""
    node = Cluster(nodes=1, gpus_per_node=_NODE_GPUS, scale_up=ScaleUp(rate_bps=1440e9, delay_ns=25))
    return {size: _scenario(node, rings([range(_NODE_GPUS)], count)) for size, count in sizes(scale).items()}


def bus_gbytes(ranks: int, size_bytes: int, time_ns: float) -> float:
    """Bus bandwidth of an all-reduce as NCCL's tests count it, GB/s."""
    return 2 * (ranks - 1) / ranks * size_bytes / time_ns


@experiment("simai-ring", "SimAI, tutorial", episodes(node_cases, finished_ns), 0.5, "512 MiB of a rank")
def ring(data: Data[dict[int, float]]) -> Outcome:
    """A ring all-reduce of eight GPUs in a node, by size."""
    counts = sizes(data.scale)
    ours = {size: bus_gbytes(_NODE_GPUS, counts[size], time) for size, time in data.runs.items()}
    off = [abs(ours[size] / NODE[size] - 1) for size in ours]
    return Outcome(
        rows=[Row(f"{size} MiB", "GB/s", NODE[size], ours[size], "RING VS NVLS") for size in ours],
        claims={
            "Bus bandwidth over sizes is the published one, within 10 %": (
                max(off) <= _NEAR,
                f"{min(off):.1%} to {max(off):.1%} off",
            )
        },
    )


def fabric(kind: Fabric) -> Graph:
    """256 GPUs with a card each below leaves of one rail of all nodes, or of 8 nodes with all their cards."""
    leaves = [_GPUS + (gpu % _NODE_GPUS if kind == RAILS else gpu // _PER_LEAF) for gpu in range(_GPUS)]
    count = len(set(leaves))
    links = [(gpu, leaf) for gpu, leaf in enumerate(leaves)]
    links += [(_GPUS + leaf, _GPUS + count + spine) for leaf in range(count) for spine in range(_SPINES)]
    kinds: list[Literal["host", "switch"]] = ["host"] * _GPUS
    kinds += ["switch"] * (count + _SPINES)
    return Graph(
        nodes=kinds,
        links=[GraphLink(a=a, b=b, rate_bps=_NIC_BPS, delay_ns=500) for a, b in links],
    )


def fabric_cases(scale: float) -> dict[tuple[Fabric, int], Scenario]:
    """Eight rings of the GPUs of one place in 32 nodes, by fabric and size."""
    places = [range(place, _GPUS, _NODE_GPUS) for place in range(_NODE_GPUS)]
    return {
        (kind, size): _scenario(fabric(kind), rings(places, count))
        for size, count in sizes(scale).items()
        for kind in FABRICS
    }


@experiment("simai-rails", "SimAI, tutorial", episodes(fabric_cases, finished_ns), 0.25, "512 MiB of a rank")
def rails(data: Data[dict[tuple[Fabric, int], float]]) -> Outcome:
    """Data-parallel all-reduces of 256 GPUs, rail-optimised and with leaves of whole nodes."""
    ranks, counts = _GPUS // _NODE_GPUS, sizes(data.scale)
    ours = {case: bus_gbytes(ranks, counts[case[1]], time) for case, time in data.runs.items()}
    gains = {size: (ours[RAILS, size] / ours[LEAVES, size]) for kind, size in ours if kind == RAILS}
    theirs = {size: FABRICS[RAILS][size] / FABRICS[LEAVES][size] for size in gains}
    off = [abs(ours[RAILS, size] / FABRICS[RAILS][size] - 1) for size in gains]
    return Outcome(
        rows=[
            Row(f"{kind}, {size} MiB", "GB/s", FABRICS[kind][size], value, "HPN 7.0 VS DCN+")
            for (kind, size), value in ours.items()
        ],
        claims={
            "Rails are faster than leaves of whole nodes, at each size": (
                all(gain > 1 for gain in gains.values()),
                " · ".join(
                    f"{size} MiB {gain:.2f} times ({theirs[size]:.2f})" for size, gain in gains.items()
                ),
            ),
            "On rails bus bandwidth is the published one, within 10 %": (
                max(off) <= _NEAR,
                f"{min(off):.1%} to {max(off):.1%} off",
            ),
        },
    )

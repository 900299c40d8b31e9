# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments of GPU clusters: ring all-reduces, all-to-alls over rails, controllers with PFC alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, Row, Verdict, nested
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Cluster, LeafSpine
from ns3_env.scenario.topology.cluster import ScaleUp
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
_GPUS, _NODE_GPUS = 256, 8
#: Within this of a published number is "reproduced".
_NEAR = 0.1


def rings(ranks: Sequence[Sequence[int]], size_bytes: int) -> FlowList:
    """Ring all-reduces side by side, each of these hosts: a send waits for the data to forward, and 2 µs."""
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


def _reproduced(simulated: Mapping[int, float], published: Mapping[int, float]) -> Verdict:
    """Returns whether each number, by size, is near the published one."""
    off = [abs(x / published[size] - 1) for size, x in simulated.items()]
    return max(off) <= _NEAR, f"{min(off):.1%} to {max(off):.1%} off"


def sizes(scale: float) -> dict[int, int]:
    """Bytes of each size (MiB) up to ``scale`` of 512; if all are larger, the smallest, reduced."""
    least = min(NODE)
    part = min(1.0, 512 * scale / least)
    return {size: round(part * size * MIB) for size in NODE if size <= max(512 * scale, least)}


def _scenario(topology: Cluster | LeafSpine, traffic: FlowList) -> Scenario:
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


@experiment("simai-ring", finished_ns, cases=node_cases)
def ring(data: Data[dict[int, float]]) -> Outcome:
    """A ring all-reduce of eight GPUs in a node, by size."""
    counts = sizes(data.scale)
    simulated = {size: bus_gbytes(_NODE_GPUS, counts[size], time) for size, time in data.runs.items()}
    return Outcome(
        rows=[Row(f"{size} MiB", "GB/s", NODE[size], simulated[size], "RING VS NVLS") for size in simulated],
        claims={"Bus bandwidth over sizes is the published one, within 10 %": _reproduced(simulated, NODE)},
    )


_CARDS: dict[str, Any] = {"spines": 64, "rate_bps": 400e9, "uplink_bps": 400e9, "delay_ns": 500}
#: 256 GPUs, each with its own card, below leaves of one rail of all nodes, or of 8 nodes with all their
#: cards; and the GPUs of each place in 32 nodes.
NETWORKS: Mapping[Fabric, tuple[LeafSpine, Sequence[Sequence[int]]]] = {
    RAILS: (
        LeafSpine(leaves=8, hosts_per_leaf=32, **_CARDS),
        [range(first, first + 32) for first in range(0, _GPUS, 32)],
    ),
    LEAVES: (
        LeafSpine(leaves=4, hosts_per_leaf=64, **_CARDS),
        [range(place, _GPUS, _NODE_GPUS) for place in range(_NODE_GPUS)],
    ),
}


def fabric_cases(scale: float) -> dict[tuple[Fabric, int], Scenario]:
    """Eight rings of the GPUs of one place in 32 nodes, by fabric and size."""
    return {
        (kind, size): _scenario(topology, rings(places, count))
        for size, count in sizes(scale).items()
        for kind, (topology, places) in NETWORKS.items()
    }


@experiment("simai-rails", finished_ns, cases=fabric_cases)
def rails(data: Data[dict[tuple[Fabric, int], float]]) -> Outcome:
    """Data-parallel all-reduces of 256 GPUs, rail-optimised and with leaves of whole nodes."""
    ranks, counts = _GPUS // _NODE_GPUS, sizes(data.scale)
    simulated = {case: bus_gbytes(ranks, counts[case[1]], time) for case, time in data.runs.items()}
    gains = {
        size: (simulated[RAILS, size] / simulated[LEAVES, size]) for kind, size in simulated if kind == RAILS
    }
    published = {size: FABRICS[RAILS][size] / FABRICS[LEAVES][size] for size in gains}
    on_rails = {size: simulated[RAILS, size] for size in gains}
    return Outcome(
        rows=[
            Row(f"{kind}, {size} MiB", "GB/s", FABRICS[kind][size], value, "HPN 7.0 VS DCN+")
            for (kind, size), value in simulated.items()
        ],
        claims={
            "Rails are faster than leaves of whole nodes, at each size": (
                all(gain > 1 for gain in gains.values()),
                " · ".join(
                    f"{size} MiB {gain:.2f} times ({published[size]:.2f})" for size, gain in gains.items()
                ),
            ),
            "On rails bus bandwidth is the published one, within 10 %": _reproduced(on_rails, FABRICS[RAILS]),
        },
    )


WHOLE, TURNS, OVERLAP = "any to any", "rails, one phase after the other", "rails, phases overlap"
_NODES = 8


def in_turn(size_bytes: int) -> FlowList:
    """Sends all of a node's data to its GPU of the receiver's place, and from there, once it has all, on."""
    part = round(size_bytes / _NODE_GPUS)

    def within(node: int, place: int) -> list[str]:
        return [f"{node} {other} {place}" for other in range(_NODE_GPUS) if other != place]

    def gpu(node: int, place: int) -> int:
        return node * _NODE_GPUS + place

    every = [(node, place) for node in range(_NODES) for place in range(_NODE_GPUS)]
    flows = [
        Flow(src=gpu(node, place), dst=gpu(node, other), size_bytes=part, name=f"{node} {place} {other}")
        for node, place in every
        for other in range(_NODE_GPUS)
        if other != place
    ]
    flows += [
        Flow(src=gpu(node, place), dst=gpu(other, place), size_bytes=part, after=within(node, place))
        for node, place in every
        for other in range(_NODES)
        if other != node
    ]
    return FlowList(flows=flows)


@experiment("rail-only", finished_ns)
def exchange(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """An all-to-all of 64 GPUs over rails alone, and over a fabric that reaches all from all."""
    times = nested(data.runs)
    turns, overlap = ([100 * (x[how] / x[WHOLE] - 1) for x in times.values()] for how in (TURNS, OVERLAP))
    values = {f"{name} turns": x for name, x in zip(times, turns, strict=True)}
    values |= {f"{name} overlap": x for name, x in zip(times, overlap, strict=True)}
    return Outcome(
        rows=data.declared.compare(values),
        claims={
            "Forwarding within nodes takes an all-to-all 8.2 to 11.2 % longer (abstract; here: 5 to 15 %, "
            "one phase after the other, as it is reckoned)": (
                all(5 <= x <= 15 for x in turns),
                f"{listed(turns, '.1f')} %; where phases overlap {listed(overlap, '.1f')} %",
            )
        },
    )


#: Only PFC.
ALONE = "PFC alone"
#: "Little impact".
_LITTLE = 0.1


@experiment("roce-training", finished_ns)
def controllers(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """Collectives and a training step of 64 GPUs under four controllers, and under PFC alone."""
    times = nested(data.runs)
    ratios = {
        what: {name: time / alone[ALONE] for name, time in alone.items() if name != ALONE}
        for what, alone in times.items()
    }
    claim = "Controllers have little impact on the time of {} (abstract; here: within 10 % of PFC alone)"
    rows = [((what, times[what][ALONE] / 1e6), record) for what, record in ratios.items()]
    return Outcome(
        claims={
            claim.format(what): (
                all(abs(x - 1) <= _LITTLE for x in record.values()),
                " · ".join(f"{name} {x:.2f} times" for name, x in record.items()),
            )
            for what, record in ratios.items()
        },
        grids=data.declared.grids(rows),
    )

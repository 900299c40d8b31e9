# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: an all-to-all only over rails, compared with one over a whole fabric (Wang 2024)."""

from __future__ import annotations

from collections.abc import Mapping

from ns3_env.eval.papers.experiment import Data, episodes, experiment
from ns3_env.eval.papers.outcome import Outcome, Row
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.eval.papers.verdicts import listed
from ns3_env.scenario import Scenario
from ns3_env.scenario.paths.failures import Spray
from ns3_env.scenario.reliability import SelectiveRepeat
from ns3_env.scenario.topology import Cluster
from ns3_env.scenario.topology.cluster import ScaleOut, ScaleUp
from ns3_env.scenario.traffic import Collective, FlowList, Traffic
from ns3_env.scenario.traffic.listed import Flow

#: GB/s of a GPU's links within its node, and of its network card, by generation.
NODES: Mapping[str, tuple[float, float]] = {"A100": (300.0, 25.0), "H100": (450.0, 50.0)}
#: The abstract's range, %, read as that of these two: a card's rate over a node's is 25 / 300 and 50 / 450.
OVERHEAD = {"A100": 8.2, "H100": 11.2}
WHOLE, TURNS, OVERLAP = "any to any", "rails, one phase after the other", "rails, phases overlap"
_NODES, _GPUS, _SIZE_BYTES = 8, 8, 256_000_000


def in_turn(size_bytes: int) -> FlowList:
    """Sends all of a node's data to its GPU of the receiver's place, and from there, once it has all, on."""
    part = round(size_bytes / _GPUS)

    def within(node: int, place: int) -> list[str]:
        return [f"{node} {other} {place}" for other in range(_GPUS) if other != place]

    def gpu(node: int, place: int) -> int:
        return node * _GPUS + place

    every = [(node, place) for node in range(_NODES) for place in range(_GPUS)]
    flows = [
        Flow(src=gpu(node, place), dst=gpu(node, other), size_bytes=part, name=f"{node} {place} {other}")
        for node, place in every
        for other in range(_GPUS)
        if other != place
    ]
    flows += [
        Flow(src=gpu(node, place), dst=gpu(other, place), size_bytes=part, after=within(node, place))
        for node, place in every
        for other in range(_NODES)
        if other != node
    ]
    return FlowList(flows=flows)


def cases(scale: float) -> dict[tuple[str, str], Scenario]:
    """An all-to-all of 64 GPUs; ``scale`` of the bytes. Packets are sprayed: no flows collide."""
    size = round(scale * _SIZE_BYTES)
    traffics: dict[str, Traffic] = {
        WHOLE: Collective(algorithm="all_to_all", size_bytes=size),
        TURNS: in_turn(size),
        OVERLAP: Collective(algorithm="hierarchical_all_to_all", size_bytes=size, node_ranks=_GPUS),
    }
    return {
        (name, kind): Scenario(
            time_limit_ns=2_000_000_000,
            topology=Cluster(
                nodes=_NODES,
                gpus_per_node=_GPUS,
                scale_up=ScaleUp(rate_bps=8e9 * within),
                scale_out=ScaleOut(rate_bps=8e9 * card, spines=_NODES),
            ),
            traffic=traffic,
            load_balancing=Spray(by="least_queue"),
            recovery=SelectiveRepeat(reorder_packets=64),
            retransmission_timeout_ns=1_000_000,
        ).under("dcqcn")
        for name, (within, card) in NODES.items()
        for kind, traffic in traffics.items()
    }


@experiment("rail-only", "Wang 2024, abstract", episodes(cases, finished_ns), 0.1, "256 MB of a rank")
def exchange(data: Data[dict[tuple[str, str], float]]) -> Outcome:
    """An all-to-all of 64 GPUs over rails alone, and over a fabric that reaches all from all."""
    times = data.runs
    longer = {
        (name, kind): 100 * (times[name, kind] / times[name, WHOLE] - 1)
        for name in NODES
        for kind in (TURNS, OVERLAP)
    }
    turns, overlap = ([longer[name, kind] for name in NODES] for kind in (TURNS, OVERLAP))
    return Outcome(
        rows=[
            Row(f"{name}: {kind}", "%", OVERHEAD[name], value, "abstract")
            for (name, kind), value in longer.items()
        ],
        claims={
            "Forwarding within nodes takes an all-to-all 8.2 to 11.2 % longer (abstract; here: 5 to 15 %, "
            "one phase after the other, as it is reckoned)": (
                all(5 <= x <= 15 for x in turns),
                f"{listed(turns, '.1f')} %; where phases overlap {listed(overlap, '.1f')} %",
            )
        },
    )

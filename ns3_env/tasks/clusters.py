# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks and traffic of the tasks that score training jobs by their time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ns3_env.tasks.draws import Keys, Random, log_uniform

T = TypeVar("T")

#: Parameters of the transformer; ``scale`` reduces its data to those of a scenario.
_PARAMETERS = 7e9
#: Bytes of a gradient's element, as traffic of kind ``training`` has it.
_ELEMENT_BYTES = 2
#: Hosts of a node in SharedCluster.
_GPUS = 4


def _pick(random: Random, values: Sequence[T]) -> T:
    return values[int(random.integers(len(values)))]


def _fabric(random: Random, nodes: int, gpus: int, nodes_per_group: int) -> Keys:
    """A cluster of nodes whose GPUs meet at 200 Gb/s, as on PCIe, and share two or four cards; PFC pauses
    early, as in switches whose buffers are small for their rates."""
    rails = _pick(random, (2, 4))
    optimised = bool(random.random() < 0.5)
    fabric = {
        "rate_bps": _pick(random, (50e9, 100e9)),
        "nodes_per_group": nodes_per_group if optimised else max(nodes_per_group, rails),
        "spines": 4,
        "oversubscription": _pick(random, (1.0, 2.0, 4.0)),
        "rail_optimised": optimised,
    }
    return {
        "topology": {
            "kind": "cluster",
            "nodes": nodes,
            "gpus_per_node": gpus,
            "rails": rails,
            "scale_up": {"rate_bps": "200Gbps"},
            "scale_out": fabric,
        },
        "switch": {"buffer_bytes": round(log_uniform(random, 1e6, 2e6))},
    }


def _step(random: Random, ranks: int, stages: Sequence[int]) -> Keys:
    """A step of training, scaled so that a rank has 3 to 12 MB of gradients."""
    layouts = [(tp, pp) for tp in (1, 2, 4) for pp in stages if ranks // (tp * pp) >= 3]
    tp, pp = _pick(random, layouts)
    blocks = _pick(random, (1, 2))
    gradients = log_uniform(random, 3e6, 12e6)
    return {
        "kind": "training",
        "model": {"parameters": _PARAMETERS, "layers": pp * blocks, "hidden": 4096, "sequence": 2048},
        "parallel": {"tp": tp, "pp": pp, "dp": ranks // (tp * pp)},
        "micro_batches": _pick(random, (1, 2)),
        "chunk_bytes": round(log_uniform(random, 3e5, 1.2e6)),
        "scale": gradients * tp * pp / (_PARAMETERS * _ELEMENT_BYTES),
    }


def training(random: Random) -> Keys:
    """A tensor-, pipeline- and data-parallel step on 4 nodes of 4 or 8 GPUs, uplinks shared 1 to 4 to 1."""
    gpus = _pick(random, (4, 8))
    return {
        "time_limit_ns": "100ms",
        **_fabric(random, nodes=4, gpus=gpus, nodes_per_group=2),
        "traffic": _step(random, 4 * gpus, stages=(1, 2)),
    }


def shared_cluster(random: Random) -> Keys:
    """Two such jobs on 3 nodes each, amid bursts from and to 2 nodes of storage, which do not count."""
    nodes = np.split(random.permutation(8), (3, 6))
    first, second, storage = (
        [_GPUS * node + gpu for node in sorted(group.tolist()) for gpu in range(_GPUS)] for group in nodes
    )
    jobs = [
        {
            **_step(random, len(ranks), stages=(1, 3)),
            "ranks": ranks,
            "job": name,
            "start_ns": round(random.uniform(0, 2e5)),
        }
        for name, ranks in (("first", first), ("second", second))
    ]
    bursts = [
        flow
        for _ in range(int(random.integers(6, 13)))
        for flow in _burst(random, [*first, *second], storage)
    ]
    return {
        "time_limit_ns": "100ms",
        **_fabric(random, nodes=8, gpus=_GPUS, nodes_per_group=4),
        "traffic": {"kind": "mix", "parts": [*jobs, {"kind": "list", "flows": bursts}]},
    }


def _burst(random: Random, gpus: Sequence[int], storage: Sequence[int]) -> list[Keys]:
    """A read of one GPU from all hosts of storage, or a write of the same number of GPUs to one of these."""
    count = len(storage)
    clients, servers = random.permutation(gpus)[:count].tolist(), random.permutation(storage).tolist()
    reads = random.random() < 0.5
    pairs = [
        (server, clients[0]) if reads else (client, servers[0])
        for client, server in zip(clients, servers, strict=True)
    ]
    start, size = random.uniform(0, 3e6), round(log_uniform(random, 2e5, 1e6))
    return [
        {"src": src, "dst": dst, "start_ns": round(start + random.uniform(0, 5e3)), "size_bytes": size}
        for src, dst in pairs
    ]

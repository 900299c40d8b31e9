# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of public repositories, unchanged, played in the time of an idle network.

Others of them, and files in the format of projects whose own may not stand here, are in ``test_workload``,
``test_htsim_files``, ``test_goal``, ``test_trace_formats``, ``test_published_files`` and ``test_clusters``.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.chakra import COLLECTIVE, Node, written_trace
from ns3_env.simulator import Simulator
from tests.samples.published_texts import TWO_TIERS

#: examples/network/ns3/topology/8_nodes_1_switch_topology.txt of astra-sim/astra-sim (MIT).
STAR_OF_ASTRA_SIM = """9 1 8
8
8 0 400Gbps 0.0005ms 0
8 1 400Gbps 0.0005ms 0
8 2 400Gbps 0.0005ms 0
8 3 400Gbps 0.0005ms 0
8 4 400Gbps 0.0005ms 0
8 5 400Gbps 0.0005ms 0
8 6 400Gbps 0.0005ms 0
8 7 400Gbps 0.0005ms 0
"""
#: examples/network/ns3/topology/8nodes_ring_topology.txt of astra-sim/astra-sim (MIT): no switch at all.
RING_OF_ASTRA_SIM = """8 0 8

0 1 25Gbps 0.005ms 0
1 2 25Gbps 0.005ms 0
2 3 25Gbps 0.005ms 0
3 4 25Gbps 0.005ms 0
4 5 25Gbps 0.005ms 0
5 6 25Gbps 0.005ms 0
6 7 25Gbps 0.005ms 0
7 0 25Gbps 0.005ms 0
"""
#: example/microAllReduce.txt of aliyun/SimAI (Apache-2.0).
MICRO_SIMAI = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 ga: 1 all_gpus: 8 "
    "checkpoints: 0 checkpoint_initiates: 0\n1\n"
    "embedding_layer     -1 556000  ALLREDUCE   536870912      1       NONE 0        1      NONE   0      1 "
)
#: sim/datacenter/connection_matrices/one.cm of Broadcom/csg-htsim (BSD).
ONE = "Nodes 16\nConnections 1\n0->13 start 0 size 2000000\n\n"
#: inputs/comm_group/comm_group_sample.json of astra-sim/astra-sim (MIT).
COMM_GROUPS = '{\n\t"1":[0,1,2,3,4,5,6,7],\n\t"2":[8,9,10,11,12,13,14,15]\n}\n\n'


def scenario(folder: Path, topology: dict[str, Any], traffic: dict[str, Any], **texts: str) -> Scenario:
    for name, text in texts.items():
        (folder / name).write_text(text)
    controllers = [{"name": "fixed-window", "attributes": {"WindowBdp": 1000}}]
    content = {"topology": topology, "controllers": controllers, "traffic": traffic, "time_limit_ns": "1s"}
    return Scenario.from_mapping(content, "x", folder)


def packets_ns(size_bytes: int, links: int, rate_gbps: float, delay_ns: int) -> float:
    """A message of whole packets over equal links, and the ACK of its last packet back."""
    packet, ack = 1048 * 8 / rate_gbps, 60 * 8 / rate_gbps
    return (size_bytes // 1000 - 1 + links) * packet + links * (ack + 2 * delay_ns)


def test_a_topology_of_astra_sim(tmp_path: Path, simulator: Simulator) -> None:
    flows = {"kind": "list", "flows": [{"src": 0, "dst": 7, "size_bytes": 1_000_000}]}
    astra_scenario = scenario(tmp_path, {"kind": "published", "file": "t"}, flows, t=STAR_OF_ASTRA_SIM)
    assert astra_scenario.topology.counts() == (8, 1, 8)
    assert simulator.play(astra_scenario)["flows"]["fct_ns"] == pytest.approx(
        [packets_ns(1_000_000, 2, 400, 500)], rel=1e-9
    )


def test_a_ring_on_a_ring_of_astra_sim(tmp_path: Path, simulator: Simulator) -> None:
    """Each of 14 rounds takes its packets and a link; ACKs go the other way."""
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 8 * 10_000}
    ring_scenario = scenario(tmp_path, {"kind": "published", "file": "t"}, ring, t=RING_OF_ASTRA_SIM)
    delivered = simulator.play(ring_scenario)["flows"]["delivered_ns"]
    assert max(delivered) == pytest.approx(14 * (10 * 1048 * 8 / 25 + 5000), rel=1e-9)


def test_a_connection_matrix_on_a_topology_of_htsim(tmp_path: Path, simulator: Simulator) -> None:
    topology, traffic = {"kind": "htsim", "file": "t"}, {"kind": "connections", "file": "m"}
    htsim_scenario = scenario(tmp_path, topology, traffic, t=TWO_TIERS, m=ONE)
    assert simulator.play(htsim_scenario)["flows"]["fct_ns"] == pytest.approx(
        [packets_ns(2_000_000, 4, 100, 1000)], rel=1e-9
    )


def test_a_workload_of_simai_on_a_topology_of_astra_sim(tmp_path: Path) -> None:
    """Each of 8 ranks sends 14 eighths, after 556 us."""
    topology, traffic = {"kind": "published", "file": "t"}, {"kind": "workload", "file": "w.txt"}
    flows = scenario(tmp_path, topology, traffic, t=STAR_OF_ASTRA_SIM, **{"w.txt": MICRO_SIMAI}).flows()
    assert flows.size_bytes == [536870912 // 8] * 8 * 14
    assert Counter(flows.src) == dict.fromkeys(range(8), 14)
    assert {step.delay_ns for step in flows.tasks.steps} == {556_000, 1}


def test_process_groups_of_astra_sim(tmp_path: Path) -> None:
    for rank in range(16):
        numbers, group = {"comm_type": 0, "comm_size": 8000}, {"pg_name": str(1 + rank // 8)}
        trace = written_trace([Node(0, COLLECTIVE, "c", (), 0, numbers, group)])
        (tmp_path / f"s.{rank}.et").write_bytes(trace)
    topology = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 16}
    traffic = {"kind": "chakra", "file": "s", "groups": "g"}
    flows = scenario(tmp_path, topology, traffic, g=COMM_GROUPS).flows()
    assert set(zip(flows.src, flows.dst, strict=True)) == {(r, r // 8 * 8 + (r + 1) % 8) for r in range(16)}
    assert flows.size_bytes == [1000] * 16 * 14

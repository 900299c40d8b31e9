# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts with several cards, and training jobs: starts of waiting flows, durations of collectives."""

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_args

import pytest

from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.jobs.algorithms import Algorithm
from ns3_env.simulator.results import Results
from tests.samples import idle_star
from tests.samples.published_texts import NCCL_NODE
from tests.samples.scenarios import results_of

CLUSTER: dict[str, Any] = {
    "kind": "cluster",
    "nodes": 4,
    "gpus_per_node": 2,
    "scale_up": {"rate_bps": "1600Gbps", "delay_ns": 300},
    "scale_out": {"rate_bps": "400Gbps", "delay_ns": 1000, "spines": 2},
}
#: Two servers of two GPUs, as SimAI writes them: 4 and 5 are switches of servers, 6 and 7 leaves, 8 a spine.
SIMAI = """9 2 2 3 10 H100
4 5 6 7 8
0 4 3600Gbps 0.000025ms 0
1 4 3600Gbps 0.000025ms 0
2 5 3600Gbps 0.000025ms 0
3 5 3600Gbps 0.000025ms 0
0 6 400Gbps 0.0005ms 0
1 7 400Gbps 0.0005ms 0
2 6 400Gbps 0.0005ms 0
3 7 400Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
7 8 400Gbps 0.0005ms 0
"""


def scenario(topology: dict[str, Any], *flows: tuple[int, int], size_bytes: int = 1000) -> Scenario:
    listed = [
        {"src": src, "dst": dst, "size_bytes": size_bytes, "start_ns": i * 1_000_000}
        for i, (src, dst) in enumerate(flows)
    ]
    return idle_star.scenario(topology, kind="list", flows=listed)


#: Each transmission and each delay is a whole number of picoseconds; these are of up to a dozen.
PS = 0.012


def packet_ns(*links: tuple[float, int]) -> float:
    """A packet there and its ACK back over links of (Gb/s, ns)."""
    return sum((1048 + 60) * 8 / rate + 2 * delay for rate, delay in links)


def test_a_flow_stays_in_its_node_or_takes_its_rail() -> None:
    flows = results_of(scenario(CLUSTER, (0, 1), (0, 2), (0, 3)))["flows"]
    rail = [(400, 1000)] * 2
    assert flows["fct_ns"] == pytest.approx(
        [
            packet_ns((1600, 300), (1600, 300)),
            packet_ns(*rail),
            packet_ns(*rail, (800, 1000), (800, 1000)),  # by a spine to the leaf of the other rail
        ],
        abs=PS,
    )


@pytest.mark.parametrize("rails", [None, 1])
@pytest.mark.parametrize("optimised", [True, False])
def test_long_flows_fill_the_card_that_they_take(rails: int | None, optimised: bool) -> None:
    topology = {**CLUSTER, "rails": rails, "scale_out": {**CLUSTER["scale_out"], "rail_optimised": optimised}}
    flows = results_of(scenario(topology, (0, 1), (0, 7), (3, 4), size_bytes=1_000_000))["flows"]
    assert flows["fct_ns"] == pytest.approx(flows["standalone_ns"], rel=1e-9)
    assert min(flows["fct_ns"]) > 1_000_000 * 8 / 1600
    assert flows["fct_ns"][1] > 1_000_000 * 8 / 400


def test_simai_s_files_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "topo").write_text(SIMAI)
    topology = {"kind": "published", "file": str(tmp_path / "topo")}
    flows = results_of(scenario(topology, (0, 1), (0, 2), (0, 3)))["flows"]
    # "0.000025ms" of a link within a node is 24 ns to an ns-3 program of that kind
    assert flows["fct_ns"] == pytest.approx(
        [packet_ns(*[(3600, 24)] * 2), packet_ns(*[(400, 500)] * 2), packet_ns(*[(400, 500)] * 4)], abs=PS
    )


def ring(hosts: int) -> dict[str, Any]:
    links = [{"a": i, "b": (i + 1) % hosts, "rate_bps": "100Gbps", "delay_ns": 1000} for i in range(hosts)]
    return {"kind": "graph", "nodes": ["host"] * hosts, "links": links}


def test_hosts_in_a_ring_reach_their_neighbours_and_forward_nothing() -> None:
    flows = results_of(scenario(ring(4), (0, 1), (0, 3), (2, 1)))["flows"]
    assert flows["fct_ns"] == pytest.approx([packet_ns((100, 1000))] * 3, rel=1e-9)
    with pytest.raises(ScenarioError, match="no path from host 0 to host 2: hosts do not forward"):
        scenario(ring(4), (0, 2)).flows()


def test_flows_take_equally_near_cards_in_turn() -> None:
    links = [(0, 2), (0, 3), (1, 2), (1, 3)]
    network = Network.of_hosts(["host", "host", "switch", "switch"], [])
    assert network.cards == {}
    topology = {
        "kind": "graph",
        "nodes": ["host", "host", "switch", "switch"],
        "links": [{"a": a, "b": b, "rate_bps": "100Gbps", "delay_ns": 1000} for a, b in links],
    }
    cluster_scenario = scenario(topology, *[(0, 1)] * 4)
    assert (
        sorted(zip(cluster_scenario.flows().src, cluster_scenario.flows().dst, strict=True))
        == [(0, 1)] * 2 + [(4, 5)] * 2
    )


def test_a_failure_names_the_host_or_its_card() -> None:
    cluster_scenario = scenario(CLUSTER, (0, 2))
    network = cluster_scenario.topology.build()
    card = network.ways_between(0, 2)[0][0]
    leaf = network.access_switch(card)
    assert network.link_ends(0, leaf) == network.link_ends(card, leaf) == (card, leaf)
    outage = {"failures": {"outages": [{"link": [0, leaf], "at_ns": 1, "until_ns": 500_000}]}}
    content = {
        **cluster_scenario.model_dump(exclude_unset=True),
        **outage,
        "retransmission_timeout_ns": 100_000,
    }
    late = results_of(Scenario.from_mapping(content, "x"))["flows"]["fct_ns"][0]
    assert late > 500_000


@pytest.mark.parametrize(
    ("change", "rails", "up", "out", "warning"),
    [
        (("", ""), None, "2966.4Gbps", "400Gbps", ""),  # 18 links of 20.6 GB/s
        ((' sm="90"', ' sm="86"'), None, "1728Gbps", "400Gbps", ""),
        ((r'(<net name=".*?" dev=")(.*?/>)', r"\1\2\g<1>1\2"), None, "2966.4Gbps", "800Gbps", ""),
        (('<net name="mlx5_[1357].*?/>', ""), 4, "2966.4Gbps", "400Gbps", ""),
        (('<net name="mlx5_[0-3].*?/>', ""), 4, "2966.4Gbps", "400Gbps", "<cpu>: GPUs share cards unevenly"),
        (("0x068000", "0x030200"), None, "2966.4Gbps", "400Gbps", "<nvlink>: links between GPUs"),
    ],
)
def test_a_node_of_nccl_is_the_cluster_of_the_same_keys(
    tmp_path: Path, change: tuple[str, str], rails: int | None, up: str, out: str, warning: str
) -> None:
    (tmp_path / "node.xml").write_text(re.sub(*change, NCCL_NODE))
    content = {"traffic": {"kind": "incast", "flows": 1}}
    common = {"kind": "cluster", "nodes": 2, "scale_up": {"delay_ns": 70}}
    with pytest.warns(ScenarioWarning, match=warning) if warning else nullcontext():
        topology = {**common, "nccl_topology": "node.xml"}
        from_file = Scenario.from_mapping({**content, "topology": topology}, "x", tmp_path)
    keys = {**common, "gpus_per_node": 8, "rails": rails, "scale_out": {"rate_bps": out}}
    keys["scale_up"] = {"rate_bps": up, "delay_ns": 70}
    assert from_file == Scenario.from_mapping({**content, "topology": keys}, "x")
    twice = r"also sets gpus_per_node, rails, scale_up\.rate_bps, scale_out\.rate_bps"
    with pytest.raises(ScenarioError, match=twice):
        Scenario.from_mapping({**content, "topology": {**keys, **topology, **keys}}, "x", tmp_path)


@pytest.mark.parametrize("optimised", [True, False])
def test_flows_of_a_node_never_leave_it(optimised: bool) -> None:
    """Below a leaf of whole nodes, the path by the leaf has equally few links, and a quarter of the rate."""
    topology = {**CLUSTER, "scale_out": {**CLUSTER["scale_out"], "rail_optimised": optimised}}
    flows = scenario(topology, *[(0, 1), (1, 0)] * 4).flows()
    gpus = range(CLUSTER["nodes"] * CLUSTER["gpus_per_node"])
    assert all(end in gpus for end in (*flows.src, *flows.dst))


@pytest.mark.parametrize("controller", ["hpcc", "powertcp"])
@pytest.mark.parametrize("rate_gbps", [25, 200, 400, 1600, 3600])
def test_telemetry_tells_a_used_link_from_an_idle_one_at_any_rate(controller: str, rate_gbps: int) -> None:
    """In units larger than a packet most ACKs report no bytes sent: HPCC reached half of 400 Gb/s."""
    node = {**CLUSTER, "scale_up": {"rate_bps": f"{rate_gbps}Gbps", "delay_ns": 300}}
    flows = results_of(scenario(node, (0, 1), size_bytes=20_000_000).under(controller))["flows"]
    assert flows["fct_ns"][0] < 1.15 * flows["standalone_ns"][0]


@pytest.mark.parametrize("nodes", [1, 16, 128, 1000])
def test_a_cluster_of_any_size_runs_with_nothing_else_said(nodes: int) -> None:
    topology = {"kind": "cluster", "nodes": nodes, "gpus_per_node": 8}
    cluster = scenario(topology, (0, 1), (0, 8 * nodes - 1))
    assert all(link.rate_bps <= 8e12 for link in cluster.topology.build().links)
    assert all(fct > 0 for fct in results_of(cluster)["flows"]["fct_ns"])


def test_a_buffer_that_is_too_small_is_told_how_much_would_do() -> None:
    cluster = scenario({"kind": "cluster", "nodes": 128}, (0, 1))
    content = {**cluster.model_dump(), "switch": {"buffer_bytes": 32 << 20}}
    with pytest.raises(ScenarioError, match=r"33554432 B is no more than .*; \d+ would do") as error:
        Scenario.from_mapping(content, "x")
    enough = int(str(error.value).rpartition("; ")[2].split()[0])
    content["switch"]["buffer_bytes"] = enough
    assert results_of(Scenario.from_mapping(content, "x"))["flows"]["fct_ns"][0] > 0


RATE_BPS = 100e9
LINK_NS = 1000.0
#: A full packet and an ACK on a link, without telemetry.
PACKET_NS = 1048 * 8 / RATE_BPS * 1e9
ACK_NS = 60 * 8 / RATE_BPS * 1e9
ALGORITHMS = get_args(Algorithm)


def play(traffic: dict[str, Any], **more: Any) -> Results:
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
    content = {"topology": star, "controllers": [{"name": "fixed-window"}], "traffic": traffic, **more}
    return results_of(content)


def one_way_ns(packets: int) -> float:
    """Time until a message's last byte is at its receiver: two links, and a store-and-forward switch."""
    return 2 * LINK_NS + (packets + 1) * PACKET_NS


def listed(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "list", "flows": [{"size_bytes": 10_000, **flow} for flow in flows]}


def test_a_flow_starts_when_the_receivers_of_others_have_them_and_its_delay_is_over() -> None:
    flows = play(
        listed(
            {"src": 0, "dst": 1, "name": "a"},
            {"src": 1, "dst": 2, "name": "b", "after": ["a"], "delay_ns": 5000},
            {"src": 3, "dst": 4, "after": ["a", "b"]},
            {"src": 5, "dst": 6, "after": ["a"], "start_ns": 10_000, "delay_ns": 50},
            {"src": 5, "dst": 7, "start_ns": 20_000, "delay_ns": 50},
        )
    )["flows"]
    delay_ns = one_way_ns(10)
    starts = [0, delay_ns + 5000, 2 * delay_ns + 5000, 10_050, 20_050]
    assert flows["start_ns"] == pytest.approx(starts, abs=1e-3)
    assert flows["delivered_ns"] == pytest.approx([start + delay_ns for start in starts], abs=1e-3)
    assert flows["fct_ns"] == pytest.approx([flows["standalone_ns"][0]] * 5, abs=1e-3)


@pytest.mark.parametrize("packets", [1, 10, 24])
def test_an_idle_ring_takes_as_long_as_its_messages_and_an_ack_between(packets: int) -> None:
    """2(N - 1) messages one after the other, each behind the ACK of the one that it waited for."""
    ranks = 8
    results = play(
        {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": ranks * packets * 1000}
    )
    rounds = 2 * (ranks - 1)
    expected = rounds * one_way_ns(packets) + (rounds - 1) * ACK_NS
    assert max(results["flows"]["delivered_ns"]) == pytest.approx(expected, abs=1e-3)


def in_network(ranks: int, size: int, **changes: Any) -> Results:
    """An all-reduce over one switch, whose reducer's link is as fast as those of all ranks together."""
    links = [{"a": i, "b": ranks + 1, "rate_bps": RATE_BPS, "delay_ns": 1000} for i in range(ranks)]
    links.append({"a": ranks, "b": ranks + 1, "rate_bps": ranks * RATE_BPS, "delay_ns": 1000})
    topology = {"kind": "graph", "nodes": ["host"] * (ranks + 1) + ["switch"], "links": links}
    job = {"kind": "collective", "algorithm": "in_network_all_reduce", "size_bytes": size}
    return play({**job, "reducers": [ranks], "node_ranks": ranks, **changes}, topology=topology)


@pytest.mark.parametrize(("ranks", "packets"), [(4, 1), (4, 50), (8, 50)])
def test_an_all_reduce_in_the_network_takes_one_way_up_and_one_down(ranks: int, packets: int) -> None:
    """Between them the reducer acknowledges the last packet."""
    results = in_network(ranks, packets * 1000)
    expected = 2 * one_way_ns(packets) + ACK_NS / ranks
    assert max(results["flows"]["delivered_ns"]) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("ranks", [4, 8])
def test_in_chunks_it_takes_the_time_of_the_data_and_not_twice_that(ranks: int) -> None:
    """A link carries all data, and ACKs, once in each direction; a ring 2 (N - 1) / N of it."""
    size = 10_000_000
    data_ns, acks_ns = size / 1000 * PACKET_NS, size / 1000 * ACK_NS
    reduced = max(in_network(ranks, size, chunk_bytes=100_000)["flows"]["delivered_ns"])
    assert data_ns + acks_ns < reduced < 1.1 * (data_ns + acks_ns)
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": size}
    flows = play({**ring, "ranks": list(range(ranks))}, time_limit_ns=10**9)["flows"]
    assert max(flows["delivered_ns"]) > 2 * (ranks - 1) / ranks * (data_ns + acks_ns)


def test_iterations_compute_between() -> None:
    ring = {"kind": "collective", "algorithm": "all_gather", "size_bytes": 8000}
    once = max(play(ring)["flows"]["delivered_ns"])
    results = play({**ring, "iterations": 3, "compute_ns": 50_000})
    assert max(results["flows"]["delivered_ns"]) == pytest.approx(3 * (once + 50_000), abs=1e-3)
    assert results["steps"]["start_ns"][8:16] == pytest.approx([once + 50_000] * 8, abs=1e-3)
    assert results["jobs"]["iteration"][-24:] == [i for i in range(3) for _ in range(8)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_that_is_sent_arrives_and_another_seed_computes_otherwise(algorithm: str) -> None:
    job = {"kind": "collective", "algorithm": algorithm, "size_bytes": 400_000, "chunk_bytes": 20_000}
    job |= {"reducers": [7]} if algorithm == "in_network_all_reduce" else {}
    traffic = {**job, "iterations": 2, "compute_ns": 1000, "compute_spread_ns": 3000}
    results = play(traffic)
    totals = results["totals"]
    assert totals["unfinished"] == totals["packets_left"] == 0
    assert totals["delivered_payload_bytes"] == sum(results["flows"]["size_bytes"])
    assert play(traffic, seed=2)["steps"] != results["steps"]


def test_what_has_not_started_at_the_time_limit_has_not_lived() -> None:
    results = play(
        listed({"src": 0, "dst": 1, "name": "a"}, {"src": 1, "dst": 2, "after": ["a"]}), time_limit_ns=2000
    )
    assert results["totals"]["unfinished"] == 2
    assert results["flows"]["start_ns"] == [0, 2000]
    assert results["flows"]["delivered_ns"] == [-1, -1]


def test_tcp_flows_wait_as_well() -> None:
    flows = play(
        listed({"src": 0, "dst": 1, "name": "a"}, {"src": 1, "dst": 2, "after": ["a"], "delay_ns": 500}),
        transport="tcp",
        controllers=[{"name": "cubic"}],
    )["flows"]
    assert flows["start_ns"][1] == pytest.approx(flows["delivered_ns"][0] + 500, abs=1e-3)
    assert flows["delivered_ns"][0] < flows["end_ns"][0]
    assert flows["fct_ns"][1] == pytest.approx(flows["fct_ns"][0], abs=1)


def test_a_bound_plays_jobs_too() -> None:
    job = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 800_000}
    fluid = play(job, controllers=[{"name": "max_min"}])
    assert fluid["totals"]["unfinished"] == 0
    assert max(fluid["flows"]["delivered_ns"]) == pytest.approx(14 * one_way_ns(100), rel=1e-6)

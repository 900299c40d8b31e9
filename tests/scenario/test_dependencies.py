# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows that wait for other flows: names in lists and CSVs, circles, and jobs as flow lists."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.jobs.algorithms import count_flows, sends

STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
RING = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 8000}


def made(traffic: dict[str, Any]) -> Scenario:
    return Scenario.from_mapping({"topology": STAR, "traffic": traffic}, "x.yaml")


def listed(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "list", "flows": [{"src": 0, "dst": 1, "size_bytes": 1, **flow} for flow in flows]}


def test_flows_wait_for_those_they_name() -> None:
    sent = made(listed({"name": "a"}, {"after": ["a", "b"], "delay_ns": 7}, {"name": "b"}))
    content = sent.to_simulator_json()["dependencies"]
    assert content["after_count"] == [0, 2, 0]
    assert content["after"] == [0, 2]
    assert content["delay_ns"] == [0, 7, 0]


def test_a_list_without_waits_says_nothing_of_them() -> None:
    assert "dependencies" not in made(listed({"name": "a"}, {"start_ns": 5})).to_simulator_json()


def test_a_csv_names_flows_too(tmp_path: Path) -> None:
    file = tmp_path / "flows.csv"
    file.write_text(
        "name,src,dst,size_bytes,start_ns,after,delay_ns\na,0,1,9,0,,\nb,1,2,9,0,a,5\n,1,2,9,0,a b,\n"
    )
    traffic = made({"kind": "csv", "file": str(file)}).traffic
    content = made({"kind": "csv", "file": str(file)}).to_simulator_json()["dependencies"]
    assert (content["after_count"], content["after"], content["delay_ns"]) == (
        [0, 1, 2],
        [0, 0, 1],
        [0, 5, 0],
    )
    written = made(traffic.without_files().model_dump()).to_simulator_json()["dependencies"]
    assert written == content


def test_parts_of_a_mix_keep_their_waits_and_their_names() -> None:
    one = made({**RING, "compute_ns": 5}).to_simulator_json()["dependencies"]
    two = made({"kind": "mix", "parts": [RING, {**RING, "compute_ns": 5}]}).to_simulator_json()
    both, flows, steps = two["dependencies"], 112, 8
    assert both["jobs"] == ["ring_all_reduce", "ring_all_reduce 2"]
    assert both["delay_ns"][2 * flows :] == [0] * steps + [5] * steps
    half = len(one["after"])
    assert len(both["after"]) == 2 * half
    moved = [flows + x if x < flows else x + flows + steps for x in one["after"]]
    counts = one["after_count"]
    assert both["after"][sum(counts[:flows]) :][: sum(counts[:flows])] == moved[: sum(counts[:flows])]


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 8])
def test_each_algorithm_brings_every_rank_what_it_is_for(ranks: int) -> None:
    """Bytes that each rank receives: of a collective's definition, whatever the algorithm."""
    size = 1000 * ranks

    def received(name: Any) -> list[int]:
        rank_bytes: dict[int, int] = defaultdict(int)
        for send in sends(name, ranks, size):
            rank_bytes[send.dst] += send.size_bytes
        return [rank_bytes[rank] for rank in range(ranks)]

    share = size - size // ranks
    assert received("reduce_scatter") == received("all_gather") == received("all_to_all") == [share] * ranks
    assert received("ring_all_reduce") == [2 * share] * ranks
    assert received("broadcast") == received("pipeline") == [0] + [size] * (ranks - 1)
    assert sum(received("tree_all_reduce")) == 2 * size * (ranks - 1)
    if ranks & (ranks - 1) == 0:
        assert received("halving_doubling_all_reduce") == [2 * share] * ranks


@pytest.mark.parametrize(
    ("name", "node_ranks"),
    [
        ("ring_all_reduce", 1),
        ("halving_doubling_all_reduce", 1),
        ("tree_all_reduce", 1),
        *(("hierarchical_all_reduce", node_ranks) for node_ranks in (1, 2, 4, 8)),
    ],
)
def test_an_all_reduce_ends_with_every_ranks_data_at_every_rank(name: Any, node_ranks: int) -> None:
    """A receiver gets the data that its sender had when the send could start: at the end, each has all."""
    ranks = 8
    schedule = sends(name, ranks, 1000 * ranks, node_ranks)
    rank_data = [{rank} for rank in range(ranks)]
    carried: list[set[int]] = []
    for send in schedule:
        what = {send.src}.union(*(carried[i] for i in send.after))
        assert all(schedule[i].dst == send.src for i in send.after)
        carried.append(what)
        rank_data[send.dst] |= what
    assert rank_data == [set(range(ranks))] * ranks


@pytest.mark.parametrize("node_ranks", [1, 2, 3, 6])
def test_a_hierarchical_all_reduce_sends_as_much_as_a_ring_and_less_between_nodes(node_ranks: int) -> None:
    ranks, size = 6, 6000
    schedule = sends("hierarchical_all_reduce", ranks, size, node_ranks)
    between = sum(x.size_bytes for x in schedule if x.src // node_ranks != x.dst // node_ranks)
    assert sum(x.size_bytes for x in schedule) == 2 * (ranks - 1) * size
    assert between == 2 * (ranks // node_ranks - 1) * size
    assert count_flows("hierarchical_all_reduce", ranks, size, None, node_ranks) == len(schedule)


@pytest.mark.parametrize("node_ranks", [1, 2, 3, 6])
def test_an_all_to_all_by_levels_sends_each_byte_once_between_nodes(node_ranks: int) -> None:
    """Each rank sends (g - 1) / g of its data within its node of g, (n - 1) / n of it between n nodes."""
    ranks, size = 6, 3600
    all_sends, nodes = sends("hierarchical_all_to_all", ranks, size, node_ranks), ranks // node_ranks
    between = [x for x in all_sends if x.src // node_ranks != x.dst // node_ranks]
    assert sum(x.size_bytes for x in between) == ranks * size * (nodes - 1) // nodes
    within = sum(x.size_bytes for x in all_sends) - sum(x.size_bytes for x in between)
    assert within == ranks * size * (node_ranks - 1) // node_ranks
    assert {(x.src, x.dst) for x in between} == {
        (r, (r + k) % ranks) for r in range(ranks) for k in range(node_ranks, ranks, node_ranks)
    }
    for send in between:
        node = {r for r in range(ranks) if r // node_ranks == send.src // node_ranks}
        assert {all_sends[i].src for i in send.after} | {send.src} == node
        assert all(all_sends[i].dst == send.src for i in send.after)
    assert count_flows("hierarchical_all_to_all", ranks, size, None, node_ranks) == len(all_sends)
    chunks = sum(-(-x.size_bytes // 500) for x in all_sends)
    assert count_flows("hierarchical_all_to_all", ranks, size, 500, node_ranks) == chunks


def test_jobs_have_hosts_of_their_own() -> None:
    for placement in ("packed", "interleaved", "random"):
        traffic = {"algorithm": "all_gather", "size_bytes": 8000, "kind": "jobs", "jobs": 2, "ranks_each": 4}
        flows = made({**traffic, "placement": placement}).flows()
        hosts = defaultdict(set)
        for flow, label in flows.tasks.labels.items():
            if flow >= 0:
                hosts[label.job] |= {flows.src[flow], flows.dst[flow]}
        assert set(hosts) == {"job 0", "job 1"}
        assert all(len(job_hosts) == 4 for job_hosts in hosts.values())
        assert not hosts["job 0"] & hosts["job 1"]


def test_two_flows_from_a_rank_to_another_are_under_way_in_the_order_of_their_sends() -> None:
    flows = made({**RING, "ranks": [0, 1], "chunk_bytes": 1000}).flows()
    there = [flow for flow in range(len(flows)) if flows.src[flow] == 0]
    assert len(there) == 8
    waits = flows.tasks.waits
    assert all(earlier in waits[flow].after for earlier, flow in zip(there, there[2:], strict=False))
    assert there[0] not in waits[there[1]].after

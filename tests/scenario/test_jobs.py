# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs: flows that wait for others, collectives, and training steps of a transformer."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.jobs.algorithms import count_flows, count_reducers, sends
from ns3_env.scenario.traffic.training.program import Layout
from ns3_env.simulator.results import Results
from tests.samples.scenarios import results_of

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


@pytest.mark.parametrize("node_ranks", [2, 3, 6])
def test_reducers_in_the_network_bring_all_data_to_all_ranks_and_each_rank_sends_its_own_once(
    node_ranks: int,
) -> None:
    ranks, size = 6, 1000
    schedule = sends("in_network_all_reduce", ranks, size, node_ranks)
    carried: list[set[int]] = []
    for send in schedule:
        assert all(schedule[i].dst == send.src for i in send.after)
        of_rank = {send.src} if send.src < ranks else set()
        carried.append(of_rank.union(*(carried[i] for i in send.after)))
    received = {send.dst: data for send, data in zip(schedule, carried, strict=True) if send.dst < ranks}
    assert received == {rank: set(range(ranks)) for rank in range(ranks)}
    assert Counter(send.src for send in schedule if send.src < ranks) == Counter(range(ranks))
    assert count_flows("in_network_all_reduce", ranks, size, None, node_ranks) == len(schedule)
    assert max(send.dst for send in schedule) + 1 == ranks + count_reducers(ranks, node_ranks)


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


def test_an_all_to_all_sends_each_pair_its_bytes(tmp_path: Path) -> None:
    """As a matrix or a CSV, all at once or by levels; what a rank has for itself stays there."""
    matrix = [[7, 10, 0, 30], [1, 0, 0, 0], [0, 0, 0, 0], [5, 6, 4000, 9]]
    (tmp_path / "pairs.csv").write_text(
        "\n".join(",".join(map(str, row)) for row in matrix).replace("4000", "4kB")
    )
    base = {"kind": "collective", "ranks": [3, 2, 5, 4]}
    expected = {(3, 2): 10, (3, 4): 30, (2, 3): 1, (4, 3): 5, (4, 2): 6, (4, 5): 4000}
    for pairs in (matrix, str(tmp_path / "pairs.csv")):
        flows = made({**base, "algorithm": "all_to_all", "pair_bytes": pairs}).flows()
        assert dict(zip(zip(flows.src, flows.dst, strict=True), flows.size_bytes, strict=True)) == expected
    levels = {**base, "algorithm": "hierarchical_all_to_all", "node_ranks": 2, "pair_bytes": matrix}
    flows = made(levels).flows()
    sent = sorted(zip(flows.src, flows.dst, flows.size_bytes, strict=True))
    within = [(2, 3, 1), (3, 2, 10), (3, 2, 30), (4, 5, 5), (4, 5, 4000)]
    assert sent == sorted([*within, (2, 4, 30), (4, 2, 6), (5, 3, 5)])


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


CLUSTER = {"kind": "cluster", "nodes": 2, "gpus_per_node": 8}
MODEL = {"parameters": 8e9, "layers": 8, "hidden": 1000, "sequence": 1000}


def scenario(parallel: dict[str, int], **traffic: Any) -> Scenario:
    kind = {"kind": "training", "parallel": parallel, "model": MODEL, **traffic}
    content = {"topology": CLUSTER, "traffic": kind, "controllers": ["dcqcn"], "time_limit_ns": "10s"}
    return Scenario.from_mapping({**content, "switch": {"buffer_bytes": "160MB"}}, "x")


def sent(job: Scenario) -> Counter[str]:
    flows = job.flows()
    byte_counts: Counter[str] = Counter()
    for task, label in flows.tasks.labels.items():
        if task >= 0:
            byte_counts[label.part] += flows.size_bytes[task]
    return byte_counts


#: Bytes of a microbatch's activations; of a layer's parameters as gradients.
ACTIVATION, GRADIENT = 1000 * 1000 * 2, 8e9 / 8 * 2


@pytest.mark.parametrize("together", [1, 2])
def test_bytes_are_those_of_closed_forms(together: int) -> None:
    tp, pp, dp, batches = 4, 2, 2, 3
    job = scenario({"tp": tp, "pp": pp, "dp": dp}, micro_batches=batches, layers_together=together)
    tensor = 4 * 8 * batches * dp * 2 * (tp - 1) * ACTIVATION  # four all-reduces a layer, forward and back
    data = 8 * tp * 2 * (dp - 1) * GRADIENT / tp
    stages = 2 * (pp - 1) * batches * dp * tp * ACTIVATION / tp
    assert sent(job) == {
        "tensor all_reduce": pytest.approx(tensor, rel=1e-9),
        "data all_reduce": pytest.approx(data, rel=1e-9),
        "send": pytest.approx(stages, rel=1e-9),
    }
    assert job.traffic.expected_flows(job.topology.build()) == job.flow_count


def test_experts_are_reached_by_all_to_alls_and_reduced_among_those_that_have_them() -> None:
    dp, ep, experts, top_k = 4, 2, 8, 2
    job = scenario({"dp": dp, "ep": ep}, model={**MODEL, "experts": experts, "top_k": top_k})
    exchanged = 4 * 8 * dp * (ep - 1) / ep * ACTIVATION * top_k
    dense = 8 * 2 * (dp - 1) * GRADIENT / 3
    expert_bytes = 8 * ep * 2 * (dp / ep - 1) * GRADIENT * 2 / 3 * experts / ep
    assert sent(job) == {
        "expert all_to_all": pytest.approx(exchanged, rel=1e-6),
        "data all_reduce": pytest.approx(dense, rel=1e-6),
        "same experts all_reduce": pytest.approx(expert_bytes, rel=1e-6),
    }
    assert job.traffic.expected_flows(job.topology.build()) == job.flow_count


def test_a_step_of_two_data_parallel_ranks_is_its_computation_and_one_collective() -> None:
    model = {**MODEL, "layers": 1, "parameters": 1e6, "flops_per_s": 1e12}
    job = scenario({"dp": 2}, model=model)
    collective = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 2_000_000}
    forward_ns = 2 * 1000 * 1e6 / 1e12 * 1e9
    alone = {**collective, "ranks": [0, 1], "compute_ns": round(3 * forward_ns)}
    beside = Scenario.from_mapping({**job.model_dump(exclude_unset=True), "traffic": alone}, "x")
    training_ends, collective_ends = (results_of(x)["flows"]["end_ns"] for x in (job, beside))
    assert training_ends == collective_ends


@pytest.mark.parametrize(
    ("bucket", "sums"), [(None, [1] * 8), (1, [1] * 8), (2, [2] * 4), (3, [3, 3, 2]), (99, [8])]
)
def test_gradients_of_several_layers_are_summed_together(bucket: int | None, sums: list[int]) -> None:
    """The same bytes as without buckets, in fewer collectives; ``bucket``: in layers' gradients."""
    job = scenario({"dp": 2}, bucket_bytes=bucket and round(bucket * GRADIENT))
    assert sent(job) == {"data all_reduce": pytest.approx(8 * 2 * GRADIENT, rel=1e-9)}
    sizes = job.flows().size_bytes
    assert sorted(sizes) == sorted(round(layers * GRADIENT / 2) for layers in sums for _ in range(4))
    assert job.traffic.expected_flows(job.topology.build()) == job.flow_count


def ends_of_sums(results: Results) -> dict[tuple[int, int], float]:
    """End of a rank's all-reduces of an iteration, by iteration and rank."""
    jobs, ends = results["jobs"], {}
    for flow, end in enumerate(results["flows"]["delivered_ns"]):
        if jobs["parts"][jobs["part"][flow]].endswith("all_reduce"):
            for rank in (jobs["rank"][flow], jobs["peer"][flow]):
                place = jobs["iteration"][flow], rank
                ends[place] = max(end, ends.get(place, 0))
    return ends


@pytest.mark.parametrize("parallel", [{"pp": 2, "dp": 2}, {"dp": 4, "ep": 2}])
def test_a_step_begins_when_the_gradients_of_the_step_before_are_summed(parallel: dict[str, int]) -> None:
    model = {**MODEL, "layers": 4, "experts": 2 * parallel["ep"] if "ep" in parallel else 1}
    once, thrice = (
        scenario(parallel, model=model, scale=1e-4, micro_batches=2, iterations=steps) for steps in (1, 3)
    )
    assert sent(thrice) == {part: 3 * size for part, size in sent(once).items()}
    assert thrice.traffic.expected_flows(thrice.topology.build()) == thrice.flow_count == 3 * once.flow_count
    results = results_of(thrice)
    assert results["totals"]["unfinished"] == 0
    jobs, ends = results["jobs"], ends_of_sums(results)
    flows = len(results["flows"]["src"])
    for step, start in enumerate(results["steps"]["start_ns"]):
        iteration, rank = jobs["iteration"][flows + step], jobs["rank"][flows + step]
        assert start >= ends.get((iteration - 1, rank), 0)
    assert {iteration for iteration, _ in ends} == {0, 1, 2}


def test_collectives_by_levels_keep_bytes_in_nodes() -> None:
    """Sixteen data-parallel ranks in two nodes of eight: rings across nodes carry an eighth each."""
    parallel, model = {"dp": 16, "ep": 16}, {**MODEL, "experts": 16}
    levels = {"all_reduce": "hierarchical_all_reduce", "all_to_all": "hierarchical_all_to_all"}
    hierarchical, flat = scenario(parallel, model=model, **levels), scenario(parallel, model=model)
    assert hierarchical.traffic.expected_flows(hierarchical.topology.build()) == hierarchical.flow_count

    def between(job: Scenario, part: str) -> int:
        flows = job.flows()
        labels = flows.tasks.labels
        return sum(
            size
            for i, size in enumerate(flows.size_bytes)
            if labels[i].part == part and labels[i].rank // 8 != labels[i].peer // 8
        )

    exchanged = 4 * 8 * 16 * ACTIVATION / 2
    assert between(hierarchical, "expert all_to_all") == between(flat, "expert all_to_all") == exchanged
    summed = 8 * GRADIENT / 3  # of attention: experts are of one rank each
    assert between(hierarchical, "data all_reduce") == pytest.approx(2 * summed, rel=1e-6)
    assert between(flat, "data all_reduce") == pytest.approx(2 * 30 / 16 * summed, rel=1e-6)


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("batches", [1, 3, 4, 9])
def test_a_stage_passes_each_microbatch_forward_and_then_back(stage: int, batches: int) -> None:
    passes = list(Layout(1, 4, 1, 1, 1, batches).schedule(stage))
    assert sorted(passes) == sorted((forward, i) for forward in (True, False) for i in range(batches))
    under_way = 0
    for forward, i in passes:
        assert forward or (True, i) in passes[: passes.index((False, i))]
        under_way += 1 if forward else -1
        assert under_way <= min(4 - stage, batches), "activations that it has to keep"


def test_ranks_are_the_hosts_that_are_named() -> None:
    hosts = [5, 4, 7, 6]
    first, placed = (scenario({"tp": 2, "dp": 2}, ranks=ranks).flows() for ranks in (None, hosts))
    assert placed.src == [hosts[rank] for rank in first.src]
    assert placed.dst == [hosts[rank] for rank in first.dst]
    assert placed.size_bytes == first.size_bytes

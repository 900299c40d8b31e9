# SPDX-License-Identifier: GPL-2.0-or-later
"""Training steps of a transformer: their messages, the order, and invalid settings."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.training.program import Layout
from ns3_env.simulator.results import Results
from tests.samples.scenarios import results_of

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


def test_a_first_bucket_is_summed_while_layers_before_are_at_work() -> None:
    results = results_of(scenario({"dp": 2}, scale=1e-4, bucket_bytes=round(2 * GRADIENT * 1e-4)))
    starts = sorted(results["flows"]["start_ns"])
    assert starts[0] < max(results["steps"]["start_ns"])
    assert len(starts) == 4 * 4


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

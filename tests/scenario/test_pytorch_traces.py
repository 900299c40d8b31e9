# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of PyTorch as its ExecutionTraceObserver and its profiler write them, on an idle network."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.published_texts import file_text

FLOATS = 4


def tensor(storage: int, elements: int) -> list[Any]:
    """A tensor among the values of a node: id, storage, offset, elements, bytes of each, device."""
    return [100 + storage, storage, 0, elements, FLOATS, "cuda:0"]


def node(number: int, name: str, parent: int, values: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    """A node that ``parent`` calls; ``more`` has the shapes of its inputs, its output, and attributes."""
    outputs = more.get("outputs", [])
    attributes = [{"name": "rf_id", "type": "uint64", "value": number}, *more.get("attributes", [])]
    return {
        "id": number,
        "name": name,
        "ctrl_deps": parent,
        "inputs": {"values": list(values), "shapes": more.get("shapes", [[] for _ in values]), "types": []},
        "outputs": {"values": outputs, "shapes": [[] for _ in outputs], "types": []},
        "attrs": attributes,
    }


def record(
    number: int, name: str, tensors: list[list[Any]], rank: int, seq: int, **more: Any
) -> dict[str, Any]:
    """A collective of as many floats as the tensors have together."""
    elements = sum(x[3] for x in tensors)
    attributes = {
        "collective_name": name,
        "dtype": "Float",
        "in_msg_nelems": elements,
        "out_msg_nelems": elements,
        "pg_name": "0",
        "pg_size": 2,
        "global_rank_start": 0,
        "global_rank_stride": 1,
        **more,
    }
    values: list[Any] = [tensors] if tensors else []
    values += [[seq, False], [attributes["pg_name"], "group"], rank, name]
    rows = [{"name": key, "type": "", "value": value} for key, value in attributes.items()]
    return node(number, "record_param_comms", number - 1, values, attributes=rows)


def trace(*nodes: dict[str, Any]) -> str:
    """A trace with nodes in the order of their ends, the process last."""
    root = node(1, "[pytorch|profiler|execution_trace|process]", 1)
    thread = node(2, "[pytorch|profiler|execution_trace|thread]", 1)
    head = {"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "2026-01-01 00:00:00", "start_ts": 1}
    return json.dumps({**head, "nodes": [thread, *nodes, root], "finish_ts": 9}, indent=1)


def scenario(folder: Path, *traces: str, **traffic: Any) -> Scenario:
    for rank, text in enumerate(traces):
        (folder / f"step.{rank}.json").write_text(text)
    rates = {"flops_per_s": 1e12, "memory_bytes_per_s": 1e12}
    return idle_star.scenario(kind="chakra", file=str(folder / "step"), **{**rates, **traffic})


def test_collectives_go_on_beside_computation_that_does_not_touch_them(
    tmp_path: Path, simulator: Simulator
) -> None:
    """A product of 100 x 100 matrices lasts 2 us with all that it calls, a copy of 1 MB 1 us."""
    shapes = {"shapes": [[100, 100], [100, 100]]}
    view = [{"name": "op_schema", "type": "string", "value": "aten::view(Tensor(a) x) -> Tensor(a)"}]
    nodes = [
        node(31, "aten::copy_", 3, [tensor(9, 10_000)]),
        node(3, "aten::mm", 2, [tensor(7, 10_000), tensor(8, 10_000)], outputs=[tensor(9, 10_000)], **shapes),
        record(36, "allreduce", [tensor(9, 1000)], 0, 1),
        node(35, "nccl:all_reduce", 34, [tensor(9, 1000)]),
        node(34, "c10d::allreduce_", 2, [tensor(9, 1000)]),
        node(38, "aten::copy_", 37, [tensor(10, 250_000)]),
        node(37, "aten::clone", 2, [tensor(10, 250_000)]),
        node(39, "aten::view", 2, [tensor(9, 250_000)], attributes=view),
        node(40, "aten::add", 2, [tensor(9, 250_000)]),
    ]
    results = simulator.play(scenario(tmp_path, *[trace(*nodes)] * 2))
    assert results["flows"]["size_bytes"] == [2000] * 4
    assert results["flows"]["start_ns"][:2] == [2000, 2000]
    over = 2000 + 2 * one_way_ns(2000)
    assert sorted(results["steps"]["end_ns"]) == pytest.approx(
        [2000] * 2 + [3000] * 2 + [over + 1000] * 2, rel=0.01
    )


def test_what_follows_a_wait_follows_the_collective(tmp_path: Path, simulator: Simulator) -> None:
    nodes = [
        record(4, "_allgather_base", [tensor(9, 500)], 0, 1),
        record(6, "wait", [], 0, 1),
        node(7, "aten::add", 2, [tensor(10, 250_000)]),
    ]
    results = simulator.play(scenario(tmp_path, *[trace(*nodes)] * 2))
    assert results["flows"]["size_bytes"] == [2000] * 2
    assert results["steps"]["end_ns"] == pytest.approx([one_way_ns(2000) + 1000] * 2, rel=0.01)


def test_ranks_of_groups_are_those_that_their_collectives_tell(tmp_path: Path) -> None:
    """Ranks 1 and 3 are a group, in which the first sends to the second."""
    group = {"pg_name": "5", "global_rank_start": 1, "global_rank_stride": 2}
    everyone = record(4, "barrier", [], 0, 1, pg_size=4)
    send = record(6, "send", [tensor(9, 500)], 1, 2, **group)
    receive = record(6, "recv", [tensor(9, 500)], 0, 2, **group)
    traces = [trace(everyone, *rows) for rows in ([], [send], [], [receive])]
    flows = scenario(tmp_path, *traces).flows()
    rows = zip(flows.src, flows.dst, flows.size_bytes, strict=True)
    assert [row for row in rows if row[2] > 1] == [(1, 3, 2000)]


@pytest.mark.parametrize("ranks", ['"[0, 1]"', '"[0, 1, ..., 63]"', "[0, 1]"])
def test_what_kineto_measured_is_computation(ranks: str, tmp_path: Path, simulator: Simulator) -> None:
    """The second kernel runs beside the all-reduce, the third was idle until that was over.

    The first lasts 10 us, the second 10 and 1 before it, the third 5 and 1 after the all-reduce.
    """
    text = file_text("kineto.json").replace('"[0, 1]"', ranks)
    results = simulator.play(scenario(tmp_path, text, text))
    assert results["flows"]["size_bytes"] == [2000] * 4
    assert results["flows"]["start_ns"][:2] == [10_000] * 2
    over = max(21_000, 10_000 + 2 * one_way_ns(2000))
    assert sorted(results["steps"]["end_ns"]) == pytest.approx(
        [10_000] * 2 + [21_000] * 2 + [over + 6000] * 2, rel=0.01
    )


@pytest.mark.parametrize("kind", ["observer", "kineto"])
def test_an_all_to_all_has_the_split_that_pytorch_recorded(kind: str, tmp_path: Path) -> None:
    """Rank 0 has 1000 floats, a quarter of them for itself; the profiler cut rank 1's list: half and half."""
    splits: tuple[Any, str] = ("[1, 3]", "[1, ..., 1]")
    if kind == "observer":
        traces = [trace(record(4, "all_to_allv", [tensor(9, 1000)], 0, 1, in_split_size=x)) for x in splits]
    else:
        text = file_text("kineto.json").replace("allreduce", "all_to_allv")
        traces = [text.replace('"Group size"', f'"In split size": "{x}", "Group size"') for x in splits]
    flows = scenario(tmp_path, *traces).flows()
    assert list(zip(flows.src, flows.dst, flows.size_bytes, strict=True)) == [(0, 1, 3000), (1, 0, 2000)]


def test_a_split_for_another_number_of_ranks_is_refused(tmp_path: Path) -> None:
    wrong = [trace(record(4, "all_to_allv", [tensor(9, 8)], 0, 1, in_split_size=[1, 2, 5]))] * 2
    with pytest.raises(ScenarioError, match="in_split_size has 3 sizes for 2 ranks"):
        scenario(tmp_path, *wrong)

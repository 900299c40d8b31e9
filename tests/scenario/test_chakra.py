# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces: their wire format against the protobuf library, and what they are played as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from examples import chakra_traces
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.chakra import (
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    read_trace,
    written_trace,
)
from ns3_env.scenario.traffic.chakra.wire import WireError, messages
from ns3_env.simulator import Simulator

STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
NODES = [
    Node(3, COMPUTE, "first", (), 20, {"is_cpu_op": 0}),
    Node(300, COLLECTIVE, "sum", (3,), 0, {"comm_type": 0, "comm_size": 2**40}, {"pg_name": "a"}),
    Node(4, SEND, "ü", (3, 300), 0, {"comm_dst": 1, "comm_size": 5, "comm_tag": -1}),
]


def scenario(traffic: dict[str, Any]) -> Scenario:
    content = {"topology": STAR, "controllers": [{"name": "fixed-window"}], "traffic": traffic}
    return Scenario.from_mapping(content, "x.yaml")


def files(folder: Path, *ranks: list[Node]) -> dict[str, Any]:
    for rank, nodes in enumerate(ranks):
        (folder / f"t.{rank}.et").write_bytes(written_trace(nodes))
    return {"kind": "chakra", "file": str(folder / "t")}


def test_what_is_written_is_read_again() -> None:
    assert read_trace(written_trace(NODES)) == NODES


def test_the_protobuf_library_reads_the_same() -> None:
    """By the schema's field numbers, of the fields that are used."""
    descriptor = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor.FileDescriptorProto(name="et.proto", package="t", syntax="proto3")
    kinds = {"int64": 3, "uint64": 4, "string": 9, "message": 11}

    def message(name: str, *fields: tuple[str, int, str, bool]) -> None:
        made = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            added = made.field.add(name=field, number=number, type=kinds[kind], label=3 if repeated else 1)
            if kind == "message":
                added.type_name = ".t.Attribute"

    message(
        "Attribute",
        ("name", 1, "string", False),
        ("int64_val", 9, "int64", False),
        ("string_val", 29, "string", False),
    )
    message(
        "Node",
        ("id", 1, "uint64", False),
        ("name", 2, "string", False),
        ("type", 3, "uint64", False),
        ("data_deps", 5, "uint64", True),
        ("duration_micros", 7, "uint64", False),
        ("attr", 10, "message", True),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName("t.Node"))
    _, *parts = messages(written_trace(NODES))
    for part, node in zip(parts, NODES, strict=True):
        theirs = made.FromString(part)
        assert (theirs.id, theirs.name, theirs.type) == (node.id, node.name, node.type)
        assert tuple(theirs.data_deps) == node.after
        assert theirs.duration_micros == node.duration_micros
        numbers = {x.name: x.int64_val for x in theirs.attr if not x.string_val}
        assert numbers == node.numbers
        assert {x.name: x.string_val for x in theirs.attr if x.string_val} == node.texts


@pytest.mark.parametrize("kind", chakra_traces.STEPS)
def test_each_kind_of_step_is_played(kind: str, tmp_path: Path, simulator: Simulator) -> None:
    chakra_traces.write(kind, tmp_path / "step", ranks=4, layers=2, size_bytes=40_000, micros=30)
    made = scenario({"kind": "chakra", "file": str(tmp_path / "step"), "chunk_bytes": 5000})
    results = simulator.play(made)
    assert results["totals"]["unfinished"] == 0
    computed = [results["steps"]["end_ns"][i] - x for i, x in enumerate(results["steps"]["start_ns"])]
    assert (
        sum(computed)
        == 1000 * sum(node.duration_micros for node in chakra_traces.STEPS[kind](2, 40_000, 30).nodes) * 4
    )
    assert simulator.play(made.without_files()) == results


def test_gradients_of_a_layer_overlap_the_computation_of_the_next(
    tmp_path: Path, simulator: Simulator
) -> None:
    chakra_traces.write("data_parallel", tmp_path / "step", ranks=4, layers=2, size_bytes=40_000, micros=30)
    results = simulator.play(scenario({"kind": "chakra", "file": str(tmp_path / "step")}))
    first = min(results["flows"]["start_ns"])
    assert first == pytest.approx(60_000)  # the forward pass, and one layer
    assert results["steps"]["start_ns"].count(60_000) == 4  # the other layer of each rank


def test_sends_and_receives_match_by_ranks_and_tag(tmp_path: Path, simulator: Simulator) -> None:
    sends = [Node(0, SEND, "s", (), 0, {"comm_dst": 1, "comm_size": 3000, "comm_tag": tag}) for tag in (5, 6)]
    sends[1] = Node(1, SEND, "s", (0,), 0, sends[1].numbers)
    receives = [
        Node(0, RECEIVE, "r", (), 0, {"comm_src": 0, "comm_size": 3000, "comm_tag": 6}),
        Node(1, COMPUTE, "c", (0,), 7),
    ]
    results = simulator.play(scenario(files(tmp_path, sends, receives)))
    assert results["steps"]["start_ns"] == [results["flows"]["delivered_ns"][1]]
    assert results["flows"]["start_ns"][1] == results["flows"]["delivered_ns"][0]


@pytest.mark.parametrize(
    ("ranks", "fault"),
    [
        ([[Node(0, COMPUTE, after=(7,))]], "node 0 depends on 7, which there is not"),
        ([[Node(0, COMPUTE, after=(0,))]], "waits for itself"),
        ([[Node(0, COLLECTIVE, "c")]], "node 0 (c) has no attribute comm_type"),
        (
            [[Node(0, COLLECTIVE, "c", numbers={"comm_type": 3, "comm_size": 1})]] * 2,
            "c: GATHER is not played; ALL_REDUCE,",
        ),
        (
            [[Node(0, COLLECTIVE, "c", numbers={"comm_type": 0, "comm_size": size})] for size in (1, 2)],
            "c: ranks differ in (comm_type, comm_size)",
        ),
        ([[Node(0, RECEIVE, numbers={"comm_src": 1})], []], "rank 0 receives from rank 1 what that does not"),
        ([[Node(0, COMPUTE)]], "the traces send nothing"),
    ],
)
def test_traces_that_do_not_fit_are_refused(ranks: list[list[Node]], fault: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as info:
        scenario(files(tmp_path, *ranks))
    assert fault in str(info.value)


@pytest.mark.parametrize("data", [b"\x05abc", b"\xff" * 11, written_trace(NODES)[:-1]])
def test_bytes_that_are_no_trace_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        read_trace(data)

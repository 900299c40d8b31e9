# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of Chakra, and traffic made of them."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import chakra_traces
from ns3_env.config.bounds import MAX_FLOWS, MAX_JOB_BYTES, MAX_NODES
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.scenario import LeafSpine, Scenario
from ns3_env.scenario.traffic import Chakra, Flows
from ns3_env.scenario.traffic.chakra import (
    COLLECTIVE,
    COMM_TYPES,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    read_trace,
    written_trace,
)
from ns3_env.scenario.traffic.chakra.budget import Budget
from ns3_env.scenario.traffic.chakra.trace import LOAD, METADATA
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns

STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
NODES = [
    Node(3, COMPUTE, "first", (), 20, {"is_cpu_op": 0}),
    Node(300, COLLECTIVE, "sum", (3,), 0, {"comm_type": 0, "comm_size": 2**40}, {"pg_name": "a"}),
    Node(4, SEND, "ü", (3, 300), 0, {"comm_dst": 1, "comm_size": 5, "comm_tag": -1}),
]


def scenario(**traffic: Any) -> Scenario:
    return idle_star.scenario(kind="chakra", **traffic)


def flows(folder: Path, *ranks: list[Node], hosts: int = 8) -> Flows:
    network = LeafSpine.model_validate({**STAR, "hosts_per_leaf": hosts}).build()
    traffic = Chakra.model_validate({"kind": "chakra", **files(folder, *ranks)})
    return traffic.draw(network, np.random.default_rng(0))


def send(id: int, to: int, after: tuple[int, ...] = (), size: int = 1000, tag: int = 0) -> Node:
    return Node(id, SEND, "s", after, 0, {"comm_dst": to, "comm_size": size, "comm_tag": tag})


def receive(id: int, from_: int, after: tuple[int, ...] = (), tag: int = 0) -> Node:
    return Node(id, RECEIVE, "r", after, 0, {"comm_src": from_, "comm_size": 1000, "comm_tag": tag})


def collective(
    id: int, size: int = 1000, after: tuple[int, ...] = (), group: str = "", kind: str = "ALL_REDUCE"
) -> Node:
    numbers = {"comm_type": COMM_TYPES[kind], "comm_size": size, "is_cpu_op": 0}
    return Node(id, COLLECTIVE, "c", after, 0, numbers, {"pg_name": group})


def in_groups(*names: str) -> list[list[Node]]:
    """Ranks with a collective of each one's process group."""
    return [[collective(0, group=name)] for name in names]


def files(folder: Path, *ranks: list[Node]) -> dict[str, Any]:
    for rank, nodes in enumerate(ranks):
        (folder / f"t.{rank}.et").write_bytes(written_trace(nodes))
    return {"file": str(folder / "t")}


@pytest.mark.parametrize("kind", chakra_traces.STEPS)
def test_each_kind_of_step_is_played(kind: str, tmp_path: Path, simulator: Simulator) -> None:
    chakra_traces.write(kind, tmp_path / "step", ranks=4, layers=2, size_bytes=40_000, micros=30)
    trace_scenario = scenario(file=str(tmp_path / "step"), chunk_bytes=5000)
    results = simulator.play(trace_scenario)
    assert results["totals"]["unfinished"] == 0
    computed = [results["steps"]["end_ns"][i] - x for i, x in enumerate(results["steps"]["start_ns"])]
    assert (
        sum(computed)
        == 1000 * sum(node.duration_micros for node in chakra_traces.STEPS[kind](2, 40_000, 30).nodes) * 4
    )


def test_sends_and_receives_match_by_ranks_and_tag(tmp_path: Path, simulator: Simulator) -> None:
    sends = [send(0, 1, tag=5), send(1, 1, (0,), tag=6)]
    receives = [receive(0, 0, tag=6), Node(1, COMPUTE, "c", (0,), 7)]
    results = simulator.play(scenario(**files(tmp_path, sends, receives)))
    assert results["steps"]["start_ns"] == [results["flows"]["delivered_ns"][1]]
    assert results["flows"]["start_ns"][1] == results["flows"]["delivered_ns"][0]


@pytest.mark.parametrize(
    ("ranks", "fault"),
    [
        ([[Node(0, COMPUTE, "a", (0,))]], "node 0 (a) of rank 0 waits for itself"),
        (
            [[Node(0, COMPUTE, "a", (2,)), Node(1, COMPUTE), Node(2, COMPUTE, "b", (0, 1))]],
            "node 0 (a) of rank 0 waits for itself: it comes after node 2 (b) of rank 0, which comes after",
        ),
        ([[send(0, 1, size=-5)], []], "node 0 (s): comm_size is -5, must be in [0, "),
        ([[send(0, 1, size=2**62)], []], "comm_size is 4611686018427387904, must be in [0, "),
        ([[send(0, 3)], []], "names rank 3; there are ranks 0 to 1"),
        ([[collective(0, size=10**9)] for _ in range(8)], f"more than {MAX_FLOWS} flows"),
        ([[Node(0, COMPUTE, "c", (), 2**62)]], "node 0 (c): duration_micros is 4611686018427387904, at most"),
        ([[Node(0, SEND, "s", (), 0, {"comm_dst": 1}, {"comm_size": "1.5"})], []], "comm_size is '1.5'"),
        ([[Node(0, COLLECTIVE, "c")]], "node 0 (c) has no attribute comm_type"),
        (
            [[collective(0, kind="GATHER")]] * 2,
            "c: GATHER is not played; ALL_REDUCE,",
        ),
        (
            [[collective(0, size=size)] for size in (1, 2)],
            "c: ranks differ in (comm_type, comm_size)",
        ),
        ([[Node(0, RECEIVE, numbers={"comm_src": 1})], []], "rank 0 receives from rank 1 what that does not"),
        ([[Node(0, COMPUTE)]], "the traces send nothing"),
        (in_groups("2", "2", "2"), "node 0 (c) of rank 1: process group '2' has ranks 0, 2, and not"),
        (in_groups("1", ""), "process group '1' has rank 1, whose trace has fewer collectives of it"),
        (in_groups("9", "9"), "process group '9' has rank 9; there are ranks 0 to 1"),
        (in_groups("7", "7"), "no process group '7'; there are 1"),
        (in_groups("0", "0", "2"), "process group '0' has rank 2, whose trace has fewer"),
    ],
)
def test_traces_that_do_not_fit_are_refused(ranks: list[list[Node]], fault: str, tmp_path: Path) -> None:
    groups = {"1": [0, 1], "2": [0, 2], "9": [0, 9]}
    keys = {"groups": groups} if "process group" in fault else {}
    with pytest.raises(ScenarioError) as info:
        scenario(**files(tmp_path, *ranks), chunk_bytes=1000, **keys)
    assert fault in str(info.value)


def test_files_need_not_be_sorted_by_dependency(tmp_path: Path) -> None:
    """Collectives match in the order of dependency as well."""
    backwards = [Node(2, COMPUTE, "", (1,), 10), Node(1, COMPUTE, "", (), 10)]
    ranks = [
        [collective(4, 300, (3,)), collective(3, 200, (2,)), *backwards],
        [*backwards, collective(8, 200, (2,)), collective(9, 300, (8,))],
    ]
    schedule = flows(tmp_path, *ranks)
    assert sorted(schedule.size_bytes) == [100] * 4 + [150] * 4
    assert [step.after for step in schedule.tasks.steps] == [(), (), (-1,), (-2,)]


def test_ranks_compute_in_another_order_where_the_files_would_have_them_wait_for_ever(tmp_path: Path) -> None:
    ranks = [
        [receive(0, 1), Node(1, COMPUTE, "", (0,), 5), Node(2, COMPUTE, "", (), 7), send(3, 1, (2,))],
        [receive(0, 0), send(1, 0, (0,))],
    ]
    schedule = flows(tmp_path, *ranks)
    assert [step.delay_ns for step in schedule.tasks.steps] == [7000, 5000]
    assert schedule.tasks.steps[1].after == (1, -1)


def test_what_converters_of_pytorch_write_is_played(tmp_path: Path) -> None:
    """Dependencies on nodes that the file has not got, and the processor's launch of a collective."""
    nodes = [
        Node(1, COMPUTE, "flatten", (3,), 300, {"is_cpu_op": 1}),
        Node(2, COLLECTIVE, "c10d::allreduce_", (3, 1), 85, {"is_cpu_op": 1}),
        Node(5, SEND, "c10d::send", (1,), 2, {"is_cpu_op": 1}),
        Node(4, COLLECTIVE, "nccl", (8, 2), 28, {"comm_type": 0, "comm_size": 2000, "is_cpu_op": 0}),
    ]
    schedule = flows(tmp_path, nodes, nodes)
    assert [step.delay_ns for step in schedule.tasks.steps] == [300_000] * 2 + [85_000, 2000] * 2
    assert schedule.size_bytes == [1000] * 4
    assert schedule.tasks.waits[0].after == (-3,)


@pytest.mark.parametrize(
    ("kind", "ranks", "sent"),
    [
        ("ALL_REDUCE", 4, 6 * 1000),
        ("ALL_GATHER", 4, 12 * 1000),
        ("REDUCE_SCATTER", 4, 3 * 1000),
        ("ALL_TO_ALL", 4, 3 * 1000),
        ("BROADCAST", 4, 3 * 1000),
        ("BARRIER", 4, 6 * 4),
        ("ALL_REDUCE", 1, 0),
        ("GATHER", 1, 0),
    ],
)
def test_comm_size_is_what_a_rank_brings(kind: str, ranks: int, sent: int, tmp_path: Path) -> None:
    schedule = flows(tmp_path, *[[collective(0, kind=kind)]] * ranks)
    assert sum(schedule.size_bytes) == sent


def test_what_has_no_bytes_is_over_at_once(tmp_path: Path) -> None:
    ranks = [
        [Node(0, COMPUTE, "", (), 9), send(1, 1, (0,), size=0), send(2, 1, (1,)), collective(3, 0, (2,))],
        [receive(1, 0), receive(2, 0, (1,)), Node(5, COMPUTE, "", (1,), 4), collective(3, 0)],
    ]
    schedule = flows(tmp_path, *ranks)
    assert schedule.size_bytes == [1000]
    assert schedule.tasks.waits[0].after == schedule.tasks.steps[1].after == (-1,)


def test_a_leaf_of_a_broadcast_is_not_over_before_it_has_begun(tmp_path: Path) -> None:
    cast = collective(1, 10, (0,), kind="BROADCAST")
    ranks = [[Node(0, COMPUTE, "", (), 1), cast], [Node(0, COMPUTE, "", (), 9), cast, send(2, 0, (1,))]]
    assert flows(tmp_path, *ranks).tasks.waits[1].after == (0, -2)


@pytest.mark.parametrize("alone", [False, True])
def test_waits_grow_with_the_flows(alone: bool, tmp_path: Path) -> None:
    """Chains of sends and receives; ``alone``: of receives, behind sends that wait for nothing."""
    length, ranks = 300, []
    for rank in range(3):
        nodes: list[Node] = []
        before: tuple[int, ...] = ()
        for k in range(length):
            nodes.append(send(2 * k, (rank + 1) % 3, () if alone else before, tag=k))
            dependencies = before if alone else (2 * k, *before)
            nodes.append(receive(2 * k + 1, (rank - 1) % 3, dependencies, tag=k))
            before = (2 * k + 1,)
        ranks.append([*nodes, Node(2 * length, COMPUTE, "", before, 1)])
    schedule = flows(tmp_path, *ranks)
    assert len(schedule) == 3 * length
    assert len(schedule.tasks.content(len(schedule))["after"]) <= 2 * len(schedule)


def test_all_to_alls_behind_each_other_wait_for_few_tasks(tmp_path: Path) -> None:
    nodes = [collective(k, 10_000, (k - 1,) if k else (), kind="ALL_TO_ALL") for k in range(3)]
    schedule = flows(tmp_path, *[nodes] * 16, hosts=16)
    assert max(len(wait.after) for wait in schedule.tasks.waits.values()) <= 2
    assert schedule.tasks.waits.keys() == set(range(16 * 15, 3 * 16 * 15))


@pytest.mark.parametrize(("timed", "count"), [(0, "1 of 1"), (1, "1 of 2")])
def test_computation_without_a_duration_is_warned_of(timed: int, count: str, tmp_path: Path) -> None:
    nodes = [Node(0, COMPUTE, "gemm", (), 0, {"num_ops": 10**12}), collective(1, after=(0,))]
    nodes += [Node(9, COMPUTE, "", (), 5)] * timed
    with pytest.warns(
        ScenarioWarning, match=f"{count} computations have no duration_micros.* num_ops"
    ) as warnings:
        scenario(**files(tmp_path, nodes, [collective(1)])).without_files()
    assert len(warnings) == 1


#: comm_size of 7 in each type of value: the field's number and wire type, and the value (et_def.proto).
SEVENS = {
    **{"int32": "38 07", "int64": "48 07", "uint32": "58 07", "uint64": "68 07"},
    **{"sint32": "78 0e", "sint64": "8801 0e", "fixed32": "9d01 07000000", "sfixed32": "bd01 07000000"},
    **{"fixed64": "a901 0700000000000000", "sfixed64": "c901 0700000000000000", "string": "ea01 0137"},
    **{"double": "19 0000000000001c40", "float": "2d 0000e040"},
}


@pytest.mark.parametrize("kind", SEVENS)
def test_attributes_of_every_type_are_read(kind: str) -> None:
    attribute = b"\x0a\x09comm_size" + bytes.fromhex(SEVENS[kind])
    message = bytes([8, 5, 24, SEND, 82, len(attribute)]) + attribute  # id 5, its type, an attribute
    (node,) = read_trace(written_trace([]) + bytes([len(message)]) + message)
    assert (node.id, node.type, node.size()) == (5, SEND, 7)


def test_a_damaged_trace_is_played_or_one_fault() -> None:
    nodes = chakra_traces.STEPS["mixture_of_experts"](1, 40_000, 30).nodes
    whole, other = written_trace([*nodes, send(100, 1)]), written_trace([*nodes, receive(100, 0)])
    random, play_count = np.random.default_rng(1), 0
    network = LeafSpine.model_validate(STAR).build()
    for place, bit, end in zip(*(random.integers(x, size=200) for x in (len(whole), 8, 2)), strict=True):
        mutant = whole[:place] + bytes([whole[place] ^ 1 << bit]) + (b"" if end else whole[place + 1 :])
        content = [base64.b64encode(data).decode() for data in (mutant, other)]
        traffic = Chakra.model_validate({"content": content})
        faults = traffic.faults(network)
        assert "\n" not in "".join(faults)
        assert faults or min(traffic.draw(network, random).size_bytes) > 0
        play_count += not faults
    assert 0 < play_count < 200


def duration_ns(results: Results, flow: int = 0) -> float:
    return results["flows"]["delivered_ns"][flow] - results["flows"]["start_ns"][flow]


PROTOBUF = written_trace(
    [
        Node(0, COMPUTE, "f", (), 7, {"is_cpu_op": 0}),
        Node(1, COLLECTIVE, "g", (0,), 0, {"comm_type": COMM_TYPES["ALL_TO_ALL"], "comm_size": 4000}),
    ]
)


@pytest.mark.parametrize(
    ("content", "end"),
    [(PROTOBUF, "et"), (gzip.compress(PROTOBUF), "et"), (gzip.compress(PROTOBUF), "et.gz")],
)
def test_a_compressed_trace_plays_the_same(
    content: bytes, end: str, tmp_path: Path, simulator: Simulator
) -> None:
    """Two ranks compute for 7 us and swap 2000 B each."""
    for rank in range(2):
        (tmp_path / f"step.{rank}.{end}").write_bytes(content)
    results = simulator.play(scenario(file=str(tmp_path / "step")))
    assert results["flows"]["start_ns"] == [7000, 7000]
    assert results["flows"]["size_bytes"] == [2000, 2000]
    assert duration_ns(results) == pytest.approx(one_way_ns(2000), rel=1e-9)


def test_files_may_have_the_rank_elsewhere_in_their_names(tmp_path: Path) -> None:
    for rank in range(2):
        (tmp_path / f"rank{rank}_step.et").write_bytes(PROTOBUF)
    assert scenario(file=str(tmp_path / "rank%d_step.et")).flow_count == 2


WHOLE = gzip.compress(PROTOBUF)


@pytest.mark.parametrize(
    ("files", "pattern", "fault"),
    [
        ({}, "rank%d_stop.et", r"rank0_stop\.et: No such file"),
        ({"t.0.et": PROTOBUF, "t.2.et": PROTOBUF}, "t", r"t\.1\.et: there is no such file, .*t\.2\.et"),
        ({"t.0.et": WHOLE, "t.1.json": WHOLE}, "t", r"t\.1\.json has another form than .*t\.0\.et"),
        ({"t.0.et": WHOLE[:-9]}, "t", r"t\.0\.et: not whole: "),
        ({"t.0.et": PROTOBUF, "t.1.et": PROTOBUF[:-1]}, "t", r"t\.1\.et: no node of a Chakra trace before"),
        ({"t.0.json": b'{"workload_graph": []}'}, "t", r"t\.0\.json: no JSON of PyTorch: .*protocol buffers"),
    ],
)
def test_a_file_that_is_missing_cut_or_of_another_form_is_named(
    files: dict[str, bytes], pattern: str, fault: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ScenarioError, match=fault):
        scenario(file=str(tmp_path / pattern))


def pairs(scenario: Scenario) -> list[tuple[int, int]]:
    flows = scenario.flows()
    return sorted(set(zip(flows.src, flows.dst, strict=True)))


#: ASTRA-sim's comm_group.json: groups and their ranks (astra-sim/astra-sim, inputs/comm_group).
COMM_GROUPS = '{\n\t"1":[0,1],\n\t"2":[2,3]\n}\n'


def test_process_groups_are_those_of_a_file_of_astra_sim(tmp_path: Path, simulator: Simulator) -> None:
    (tmp_path / "groups.json").write_text(COMM_GROUPS)
    ranks = [[collective(0, 4000, group=group)] for group in ("1", "1", "2", "2")]
    trace_scenario = scenario(**files(tmp_path, *ranks), groups=str(tmp_path / "groups.json"))
    assert pairs(trace_scenario) == [(0, 1), (1, 0), (2, 3), (3, 2)]
    results = simulator.play(trace_scenario)
    assert results["totals"]["unfinished"] == 0
    assert sum(results["flows"]["size_bytes"]) == 4 * 4000


def metadata(groups: dict[str, list[int]]) -> bytes:
    """A node that PyTorch records when groups are made; its inputs are a list of one text in quotes."""
    recorded = [{"pg_name": name, "pg_desc": "d", "ranks": ranks} for name, ranks in groups.items()]
    inputs = f"['{json.dumps(recorded)}']".encode()
    inputs = b"\x0a" + bytes([len(inputs)]) + inputs
    node = bytes([8, 2, 24, METADATA, 66, len(inputs)]) + inputs
    return bytes([len(node) % 128 + 128, len(node) // 128]) + node


def test_process_groups_are_those_that_pytorch_records(tmp_path: Path) -> None:
    """Each rank knows its own group 1: ranks 0 and 2, or 1 and 3; group 0 of all ranks is not recorded."""
    for rank in range(4):
        group = [rank % 2, rank % 2 + 2]
        nodes = [collective(5, 4000, group="1"), collective(6, 40, (5,), "0")]
        content = written_trace(nodes) + metadata({"0": [], "1": group})
        (tmp_path / f"t.{rank}.et").write_bytes(content)
    trace_scenario = scenario(file=str(tmp_path / "t"))
    flows = trace_scenario.flows()
    first = [(s, d) for s, d, x in zip(flows.src, flows.dst, flows.size_bytes, strict=True) if x == 2000]
    assert sorted(set(first)) == [(0, 2), (1, 3), (2, 0), (3, 1)]
    assert flows.size_bytes.count(10) == 2 * 3 * 4


def test_a_send_of_pytorch_s_converter_goes_to_the_other_rank_of_its_group(
    tmp_path: Path, simulator: Simulator
) -> None:
    """The converter writes comm_size and pg_name, and no rank."""
    numbers, texts = {"comm_size": 3000, "is_cpu_op": 0}, {"pg_name": "4"}
    sends = [Node(0, COMPUTE, "c", (), 1), Node(1, SEND, "s", (0,), 0, numbers, texts)]
    ranks = [sends, [], [Node(1, RECEIVE, "r", (), 0, numbers, texts)]]
    results = simulator.play(scenario(**files(tmp_path, *ranks), groups={"4": [0, 2]}))
    assert (results["flows"]["src"], results["flows"]["dst"]) == ([0], [2])
    assert duration_ns(results) == pytest.approx(one_way_ns(3000), rel=1e-9)
    with pytest.raises(ScenarioError, match="no attribute comm_dst, and its process group '4' is not known"):
        scenario(**files(tmp_path, *ranks))
    with pytest.raises(ScenarioError, match="no attribute comm_dst, and its process group '4' has 3 ranks"):
        scenario(**files(tmp_path, *ranks), groups={"4": [0, 1, 2]})


def test_processor_and_accelerator_compute_beside_each_other(tmp_path: Path, simulator: Simulator) -> None:
    """A kernel of 100 us is launched; the processor's next 10 us do not wait for it, the next kernel does."""
    processor, accelerator = {"is_cpu_op": 1}, {"is_cpu_op": 0}
    nodes = [
        Node(1, COMPUTE, "aten::mm", (), 5, processor),
        Node(2, COMPUTE, "gemm", (1,), 100, accelerator),
        Node(3, COMPUTE, "aten::add", (1,), 10, processor),
        Node(4, COMPUTE, "add", (3,), 20, accelerator),
        collective(5, 2000, (4,), "0"),
    ]
    results = simulator.play(scenario(**files(tmp_path, nodes, nodes)))

    assert sorted(results["steps"]["end_ns"]) == [5000, 5000, 15000, 15000, 105_000, 105_000] + [125_000] * 2
    assert results["flows"]["start_ns"][0] == 125_000


def test_a_roofline_gives_time_to_what_has_none(tmp_path: Path, simulator: Simulator) -> None:
    """STAGE's and ASTRA-sim's computation: operations over the peak, or bytes over the memory's rate."""
    nodes = [
        Node(0, COMPUTE, "many operations", (), 0, {"num_ops": 3_000_000, "tensor_size": 1000}),
        Node(1, COMPUTE, "many bytes", (0,), 0, {"num_ops": 1000, "tensor_size": 8_000_000}),
        Node(2, LOAD, "load", (1,), 0, {"tensor_size": 2_000_000}),
        Node(3, COMPUTE, "measured", (2,), 5, {"num_ops": 10**15}),
        collective(4, 2000, (3,)),
    ]
    trace_scenario = scenario(**files(tmp_path, nodes, nodes), flops_per_s=1e12, memory_bytes_per_s=2e12)
    results = simulator.play(trace_scenario)
    assert results["flows"]["start_ns"][0] == 3000 + 4000 + 1000 + 5000


def test_ranks_may_bring_different_amounts_to_an_all_to_all(tmp_path: Path) -> None:
    """A mixture of experts sends such amounts."""
    sizes = [3000, 600, 0]
    trace_scenario = scenario(
        **files(tmp_path, *[[collective(0, size, group="0", kind="ALL_TO_ALL")] for size in sizes])
    )
    flows = trace_scenario.flows()
    sent = dict(zip(zip(flows.src, flows.dst, strict=True), flows.size_bytes, strict=True))
    assert sent == {(0, 1): 1000, (0, 2): 1000, (1, 0): 200, (1, 2): 200}


def test_older_traces_of_stage_name_groups_otherwise(tmp_path: Path) -> None:
    numbers = {"comm_type": 0, "comm_size": 4000, "is_cpu_op": 0}
    ranks = [[Node(0, COLLECTIVE, "c", (), 0, {**numbers, "comm_group": 1 + r % 2})] for r in range(4)]
    assert pairs(scenario(**files(tmp_path, *ranks))) == [(0, 2), (1, 3), (2, 0), (3, 1)]


@pytest.mark.parametrize(
    "traffic",
    [
        {
            "kind": "chakra",
            "content": [base64.b64encode(written_trace([Node(i, COMPUTE) for i in range(1001)])).decode()],
        },
        {"kind": "goal", "content": "num_ranks 1\nrank 0 {\n" + "calc 1\n" * 1001 + "}"},
        {"kind": "workload", "npus": 8, "content": "DATA\n50\n" + "l -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n" * 50},
    ],
    ids=lambda traffic: str(traffic["kind"]),
)
def test_jobs_of_files_have_one_bound(traffic: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert Budget().nodes == MAX_NODES == 1_000_000
    monkeypatch.setattr(Budget.__init__, "__defaults__", (1000, MAX_JOB_BYTES))
    with pytest.raises(ScenarioError, match="a job may have at most 1000000 nodes, of all ranks"):
        idle_star.scenario(**traffic)

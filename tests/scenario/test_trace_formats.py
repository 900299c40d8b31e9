# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces as other projects write them: each runs unchanged, in the time of an idle network."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ns3_env.config.bounds import MAX_JOB_BYTES, MAX_NODES
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.scenario.traffic.chakra import (
    COLLECTIVE,
    COMM_TYPES,
    COMPUTE,
    RECEIVE,
    SEND,
    Node,
    wire,
    written_trace,
)
from ns3_env.scenario.traffic.chakra.trace import INPUTS, LOAD, METADATA
from ns3_env.scenario.traffic.chakra.wire import framed, written
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.job_texts import JSONIZER


def scenario(**traffic: Any) -> Scenario:
    return idle_star.scenario(kind="chakra", **traffic)


def duration_ns(results: Results, flow: int = 0) -> float:
    return results["flows"]["delivered_ns"][flow] - results["flows"]["start_ns"][flow]


# Chakra's feeder (mlcommons/chakra, JSONNode): a list in which attributes are next to the other keys.
FEEDER: dict[str, Any] = {
    "workload_graph": [
        {"Id": 3, "Name": "f", "NodeType": 4, "is_cpu_op": False, "runtime": 7, "data_deps": []},
        {"Id": 4, "Name": "g", "NodeType": 7, "data_deps": [3], "comm_type": 6, "comm_size": 4000},
    ]
}
# STAGE (astra-sim/symbolic_tensor_graph, JsonBackend): names instead of numbers, no times.
STAGE: dict[str, Any] = {
    "nodes": [
        {"id": 1, "name": "f", "node_type": "comp_node", "data_deps": [], "ctrl_deps": [], "num_ops": 7000}
        | {"tensor_size": 10},
        {"id": 2, "name": "g", "node_type": "coll_comm_node", "data_deps": [1], "ctrl_deps": []}
        | {"comm_size": 4000, "comm_type": "ALL_TO_ALL"},
    ]
}
PROTOBUF = written_trace(
    [
        Node(0, COMPUTE, "f", (), 7, {"is_cpu_op": 0}),
        Node(1, COLLECTIVE, "g", (0,), 0, {"comm_type": COMM_TYPES["ALL_TO_ALL"], "comm_size": 4000}),
    ]
)


@pytest.mark.parametrize(
    ("content", "end", "more"),
    [
        (PROTOBUF, "et", {}),
        (gzip.compress(PROTOBUF), "et", {}),
        (gzip.compress(PROTOBUF), "et.gz", {}),
        (JSONIZER.encode(), "json", {}),
        (JSONIZER.encode(), "et", {}),
        (json.dumps(FEEDER).encode(), "json", {}),
        (json.dumps(STAGE).encode(), "eg", {"flops_per_s": 1e9}),
    ],
    ids=["et", "et-in-gzip", "et.gz", "jsonizer", "jsonizer-as-et", "feeder", "stage"],
)
def test_each_form_of_a_trace_plays_the_same(
    content: bytes, end: str, more: dict[str, Any], tmp_path: Path, simulator: Simulator
) -> None:
    """Two ranks compute for 7 us and swap 2000 B each."""
    for rank in range(2):
        (tmp_path / f"step.{rank}.{end}").write_bytes(content)
    trace_scenario = scenario(file=str(tmp_path / "step"), **more)
    results = simulator.play(trace_scenario)
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
        ({"t.0.et": PROTOBUF, "t.1.et": PROTOBUF[:-1]}, "t", r"t\.1\.et: a message of"),
    ],
)
def test_a_file_that_is_missing_cut_or_of_another_form_is_named(
    files: dict[str, bytes], pattern: str, fault: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ScenarioError, match=fault):
        scenario(file=str(tmp_path / pattern))


def collective(id: int, group: str, size: int = 4000, after: tuple[int, ...] = (), kind: str = "") -> Node:
    numbers = {"comm_type": COMM_TYPES[kind or "ALL_REDUCE"], "comm_size": size, "is_cpu_op": 0}
    return Node(id, COLLECTIVE, "nccl", after, 0, numbers, {"pg_name": group})


def write(folder: Path, *ranks: list[Node]) -> dict[str, Any]:
    for rank, nodes in enumerate(ranks):
        (folder / f"t.{rank}.et").write_bytes(written_trace(nodes))
    return {"file": str(folder / "t")}


def pairs(scenario: Scenario) -> list[tuple[int, int]]:
    flows = scenario.flows()
    return sorted(set(zip(flows.src, flows.dst, strict=True)))


#: ASTRA-sim's comm_group.json: groups and their ranks (astra-sim/astra-sim, inputs/comm_group).
COMM_GROUPS = '{\n\t"1":[0,1],\n\t"2":[2,3]\n}\n'


def test_process_groups_are_those_of_a_file_of_astra_sim(tmp_path: Path, simulator: Simulator) -> None:
    (tmp_path / "groups.json").write_text(COMM_GROUPS)
    ranks = [[collective(0, group)] for group in ("1", "1", "2", "2")]
    trace_scenario = scenario(**write(tmp_path, *ranks), groups=str(tmp_path / "groups.json"))
    assert pairs(trace_scenario) == [(0, 1), (1, 0), (2, 3), (3, 2)]
    results = simulator.play(trace_scenario)
    assert results["totals"]["unfinished"] == 0
    assert sum(results["flows"]["size_bytes"]) == 4 * 4000


def metadata(groups: dict[str, list[int]]) -> bytes:
    """A node that PyTorch records when groups are made; its inputs are a list of one text in quotes."""
    recorded = [{"pg_name": name, "pg_desc": "d", "ranks": ranks} for name, ranks in groups.items()]
    inputs = written(1, f"['{json.dumps(recorded)}']".encode())
    parts = (written(1, 2), written(2, b"## process_group:init ##"), written(3, METADATA))
    return framed(b"".join(parts) + written(8, inputs))


def test_process_groups_are_those_that_pytorch_records(tmp_path: Path) -> None:
    """Each rank knows its own group 1: ranks 0 and 2, or 1 and 3; group 0 of all ranks is not recorded."""
    for rank in range(4):
        group = [rank % 2, rank % 2 + 2]
        nodes = [collective(5, "1"), collective(6, "0", 40, (5,))]
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
    results = simulator.play(scenario(**write(tmp_path, *ranks), groups={"4": [0, 2]}))
    assert (results["flows"]["src"], results["flows"]["dst"]) == ([0], [2])
    assert duration_ns(results) == pytest.approx(one_way_ns(3000), rel=1e-9)
    with pytest.raises(ScenarioError, match="no attribute comm_dst, and its process group '4' is not known"):
        scenario(**write(tmp_path, *ranks))
    with pytest.raises(ScenarioError, match="no attribute comm_dst, and its process group '4' has 3 ranks"):
        scenario(**write(tmp_path, *ranks), groups={"4": [0, 1, 2]})


def test_processor_and_accelerator_compute_beside_each_other(tmp_path: Path, simulator: Simulator) -> None:
    """A kernel of 100 us is launched; the processor's next 10 us do not wait for it, the next kernel does."""
    processor, accelerator = {"is_cpu_op": 1}, {"is_cpu_op": 0}
    nodes = [
        Node(1, COMPUTE, "aten::mm", (), 5, processor),
        Node(2, COMPUTE, "gemm", (1,), 100, accelerator),
        Node(3, COMPUTE, "aten::add", (1,), 10, processor),
        Node(4, COMPUTE, "add", (3,), 20, accelerator),
        collective(5, "0", 2000, (4,)),
    ]
    results = simulator.play(scenario(**write(tmp_path, nodes, nodes)))

    assert sorted(results["steps"]["end_ns"]) == [5000, 5000, 15000, 15000, 105_000, 105_000] + [125_000] * 2
    assert results["flows"]["start_ns"][0] == 125_000


def test_a_roofline_gives_time_to_what_has_none(tmp_path: Path, simulator: Simulator) -> None:
    """STAGE's and ASTRA-sim's computation: operations over the peak, or bytes over the memory's rate."""
    nodes = [
        Node(0, COMPUTE, "many operations", (), 0, {"num_ops": 3_000_000, "tensor_size": 1000}),
        Node(1, COMPUTE, "many bytes", (0,), 0, {"num_ops": 1000, "tensor_size": 8_000_000}),
        Node(2, LOAD, "load", (1,), 0, {"tensor_size": 2_000_000}),
        Node(3, COMPUTE, "measured", (2,), 5, {"num_ops": 10**15}),
        collective(4, "", 2000, (3,)),
    ]
    trace_scenario = scenario(**write(tmp_path, nodes, nodes), flops_per_s=1e12, memory_bytes_per_s=2e12)
    results = simulator.play(trace_scenario)
    assert results["flows"]["start_ns"][0] == 3000 + 4000 + 1000 + 5000


def test_ranks_may_bring_different_amounts_to_an_all_to_all(tmp_path: Path) -> None:
    """A mixture of experts sends such amounts."""
    sizes = [3000, 600, 0]
    trace_scenario = scenario(
        **write(tmp_path, *[[collective(0, "0", size, kind="ALL_TO_ALL")] for size in sizes])
    )
    flows = trace_scenario.flows()
    sent = dict(zip(zip(flows.src, flows.dst, strict=True), flows.size_bytes, strict=True))
    assert sent == {(0, 1): 1000, (0, 2): 1000, (1, 0): 200, (1, 2): 200}


def test_older_traces_of_stage_name_groups_otherwise(tmp_path: Path) -> None:
    numbers = {"comm_type": 0, "comm_size": 4000, "is_cpu_op": 0}
    ranks = [[Node(0, COLLECTIVE, "c", (), 0, {**numbers, "comm_group": 1 + r % 2})] for r in range(4)]
    assert pairs(scenario(**write(tmp_path, *ranks))) == [(0, 2), (1, 3), (2, 0), (3, 1)]


def test_metadata_that_is_no_group_says_nothing(tmp_path: Path) -> None:
    nodes = [Node(1, METADATA, "m", (), 0, {}, {INPUTS: "['']"}), collective(2, "0")]
    assert scenario(**write(tmp_path, nodes, nodes)).flow_count == 4


@pytest.mark.parametrize(
    "traffic",
    [
        {"kind": "chakra", "content": [base64.b64encode(bytes(4000)).decode()]},
        {"kind": "goal", "content": "num_ranks 1\nrank 0 {\n" + "calc 1\n" * 1001 + "}"},
        {"kind": "workload", "npus": 8, "content": "DATA\n50\n" + "l -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n" * 50},
    ],
    ids=lambda traffic: str(traffic["kind"]),
)
def test_jobs_of_files_have_one_bound(traffic: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert wire.Budget().nodes == MAX_NODES == 1_000_000
    monkeypatch.setattr(wire.Budget.__init__, "__defaults__", (1000, MAX_JOB_BYTES))
    with pytest.raises(ScenarioError, match="a job may have at most 1000000 nodes, of all ranks"):
        idle_star.scenario(**traffic)

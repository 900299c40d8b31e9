# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a scenario names: faulty lines, damaged texts, and scenarios that no longer need them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples.job_texts import JSONIZER, MICRO_ASTRA, PING_PONG, SIMAI
from tests.samples.published_texts import FLOWS, MATRIX, THREE_TIERS, TOPOLOGY, TWO_TIERS
from tests.samples.scenarios import refusal

CSV = "src,dst,size_bytes,start_ns\n"
POISSON = {"kind": "poisson", "sizes": {"file": "cdf.txt"}, "load": 0.3, "duration_ns": "1ms"}
STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
PUBLISHED = {
    "topology": {"kind": "published", "file": "topology.txt"},
    "traffic": {"kind": "published", "file": "flow.txt"},
    "time_limit_ns": "3s",
}
#: A file's name, a good text of its format, and the keys that name it.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "x.goal": (PING_PONG, {"traffic": {"kind": "goal", "file": "x.goal"}}),
    "w.txt": (MICRO_ASTRA, {"traffic": {"kind": "workload", "file": "w.txt", "npus": 8}}),
    "s.txt": (SIMAI, {"traffic": {"kind": "workload", "file": "s.txt"}}),
    "m.cm": (MATRIX, {"traffic": {"kind": "connections", "file": "m.cm"}}),
    "t.0.json": (JSONIZER, {"traffic": {"kind": "chakra", "file": "t", "flops_per_s": 1e12}}),
    "t.1.json": (JSONIZER, {"traffic": {"kind": "chakra", "file": "t", "flops_per_s": 1e12}}),
    "t.topo": (
        TWO_TIERS,
        {"topology": {"kind": "htsim", "file": "t.topo"}, "traffic": {"kind": "incast", "size_bytes": 1000}},
    ),
    "topology.txt": (TOPOLOGY, PUBLISHED),
    "flow.txt": (FLOWS, PUBLISHED),
    "flows.csv": (CSV + "0,4,1kB,1.5us\n1,4,20,7\n", {"traffic": {"kind": "csv", "file": "flows.csv"}}),
    "cdf.txt": ("0 0\n1000 25\n2000 100\n", {"traffic": POISSON}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the good files."""
    for name, (text, _) in FORMS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def keys(name: str) -> dict[str, Any]:
    return {"topology": STAR, **FORMS[name][1]}


#: A file, its text, and the sentence on it.
FAULTS: list[tuple[str, str | bytes, str]] = [
    ("x.goal", "num_ranks 2\nrank 2 {\n}\n", "x.goal:2: rank 2; each of 0 to 1 (num_ranks) may stand once"),
    ("x.goal", "num_ranks 1\nrank 0 {\n", "x.goal:2: the file ends within rank 0"),
    ("x.goal", "num_ranks 1\nrank 0 {\na: dance\n}\n", "x.goal:3: 'a: dance' is none of: [LABEL:] calc NS,"),
    ("x.goal", "num_ranks 1\nrank 0 {\na: send 1b from 0\n}\n", "x.goal:3: 'a: send 1b from 0' is none of"),
    ("x.goal", "num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}", "x.goal:4: there is no operation b bef"),
    ("x.goal", "num_ranks 1\nrank 0 {\na: calc 1\na: calc 1\n}\n", "x.goal:4: the label a stands twice"),
    ("x.goal", "num_ranks 2\nrank 0 {\na: recv 1b from -1\n}\n", "x.goal:3: a receive from any rank (-1) is"),
    ("x.goal", "num_ranks 2\nrank 0 {\na: recv 1b from 1\n}\n", "rank 0 receives from rank 1 what that does"),
    ("x.goal", "rank 0 {\n}", "x.goal:1: rank 0; each of 0 to -1"),
    ("x.goal", "nodes 3", "x.goal:1: 'nodes 3' where num_ranks N, or rank N {, should stand"),
    ("s.txt", "", "a line of the parallelism should stand here"),
    ("s.txt", "FOLD\n1\n", "s.txt:1: the parallelism is 'FOLD'; DATA, MODEL,"),
    ("s.txt", MICRO_ASTRA, "s.txt:1: say npus, how many ranks there are"),
    ("s.txt", SIMAI.replace("all_gpus: 8", "all_gpus: 9"), "s.txt:1: 9 ranks are no multiple of groups of 2"),
    ("s.txt", SIMAI.replace("checkpoints: 0", "checkpoints: 1 3"), "s.txt:1: checkpoints, layers that"),
    ("s.txt", SIMAI.replace("\n5\n", "\n6\n"), "s.txt:2: '6' layers are announced, and there are 5"),
    ("s.txt", SIMAI.replace("ALLREDUCE", "ALLDANCE"), "s.txt:5: the collective is 'ALLDANCE'; it may be"),
    ("s.txt", SIMAI.replace("\t600\t", "\t-600\t"), "s.txt:5: the time is '-600', must be a whole number"),
    ("s.txt", SIMAI.replace("\t600\t", "\t"), "s.txt:5: 11 values where a layer's 12 should stand"),
    ("m.cm", "Nodes 2\nConnections 1\n0->2 start 0 size 1\n", "m.cm:3: there are nodes 0 to 1"),
    ("m.cm", "Nodes 2\nConnections 2\n0->1 start 0 size 1\n", "m.cm:2: Connections 2, and there are 1"),
    ("m.cm", "Nodes 2\nConnections 1\n0->1 size 1\n", "m.cm:3: say either start or trigger"),
    ("m.cm", "Nodes 2\nConnections 1\n0->1 start 0 speed 1\n", "m.cm:3: 'speed 1' where start, id"),
    ("m.cm", "Nodes 2\nConnections 1\n0->1 trigger 4 size 1\n", "m.cm:3: there is no trigger 4"),
    ("m.cm", MATRIX.replace("count 2", "count 1"), "trigger 7 waits for 1 of the 2 connections that fire it"),
    ("m.cm", MATRIX.replace("oneshot", "sometimes"), "'id 3 sometimes' where id N oneshot"),
    ("m.cm", "Nodes 2\nFailures 1\nfailure switch_type TOR\n", "m.cm:3: failures are no traffic"),
    ("m.cm", "Nodes 2\n", "no connections"),
    ("t.0.json", '{"version": "1"}{"id": "x"}', "node 0 of the list: id is 'x', must be a whole number"),
    ("t.0.json", '{"version": "1"}{"id": 1, "type": "DANCE"}', "node 1: type is 'DANCE', must be"),
    ("t.0.json", '{"version": "1"}{"id": 1, "dataDeps": 3}', "node 1: its dependencies are 3, no list"),
    ("t.0.json", '{"version": "1"}{"id": 1, "attr": [3]}', "node 1: an attribute is 3, no object"),
    ("t.0.json", '{"version": "1"}{"id": 1, "durationMicros": -1}', "node 1 (): duration_micros is -1"),
    ("t.0.json", '{"version": "1"}{"id": 36893488147419103232}', "which has more than 64 bits"),
    ("t.0.json", '{"version": "1"}{"id": 1, "num_ops": ' + "9" * 400 + "}", "node 1: num_ops is 999"),
    ("t.0.json", '{"version": "1"}{"id": 1, "type": 4, "numOps": "' + "9" * 400 + '"}', "num_ops is 999"),
    ("t.0.json", '{"version": "1"}{"id": 1, "durationMicros": Infinity}', "duration_micros is inf, must be"),
    (
        "t.0.json",
        '{"version": "1"}{"id": 1, "type": 1, "inputs": {"values": '
        '"[{\\"pg_name\\": \\"1\\", \\"ranks\\": [Infinity]}]"}}',
        "groups cannot be read",
    ),
    ("t.0.json", '{"version": "1"} [', "no JSON: Expecting value"),
    ("t.0.json", '{"schema": "1.1.0-chakra.0.0.4", "nodes": []}', "before Chakra's converter"),
    ("t.0.json", '{"traceEvents": []}', "a trace of Kineto, before Chakra's converter"),
    *(
        ("t.topo", THREE_TIERS.replace(old, new), sentence)
        for old, new, sentence in (
            ("Radix_Down 4", "Radix_Down 5", "t.topo:18: Radix_Down of tier 2 is 5, must be 2 switches"),
            ("Podsize 4", "Podsize 3", "8 nodes are no multiple of Podsize, 3"),
            ("Radix_Up 4", "Speed 4", "t.topo:14: 'Speed 4'; downlink_speed_gbps,"),
            ("Radix_Up 4", "Radix_Up", "t.topo:14: 'Radix_Up' where a name and a whole number should stand"),
            ("Radix_Up 4", "", "t.topo:11: radix_up is missing in this Tier"),
            (
                "Bundle 2",
                "Bundle 160",
                "t.topo:18: links down, those of a Bundle together: rate_bps: must",
            ),
            ("Tiers 3", "Tiers 2", "Nodes, Podsize and 2 or 3 Tiers should stand here; there are 3"),
            ("Nodes 8", "Nodes 80000000", "80000000 nodes; there may be at most 50000"),
        )
    ),
    *(
        ("topology.txt", TOPOLOGY.replace(old, new, 1), f"topology.txt{sentence}")
        for old, new, sentence in (
            ("0.000000", "0.01", ":5: the error rate is 0.01: write 0 here, and in the scenario corruption"),
            ("400Gbps", "400GB", ":5: rate_bps: '400GB' is a size; a rate takes bps, kbps"),
            ("0.001ms", "1000", ":4: the delay '1000' has no unit; write 1us, or 0.001ms"),
            ("5 2 4", "5 2 5", ":8: 8 values where one of 5 links should stand: src dst rate delay"),
            ("3 4\n", "3 7\n", ":2: there is no node 7; nodes are 0 to 4"),
            ("4 2 100", "4 9 100", ":6: there is no node 9; nodes are 0 to 4"),
            ("1 3 100", "0 3 100", ":4: nodes 0 and 3 are joined already"),
            ("5 2 4", "5 2 4 9", ":1: there is no node 9; nodes are 0 to 4; the first line has 4"),
            (TOPOLOGY, "", ": the file ends where the number of nodes should stand"),
        )
    ),
    ("topology.txt", b"5 2 4\n\xff\xfe\n", "topology.txt: not a topology: it is not UTF-8 text"),
    *(
        ("flow.txt", FLOWS.replace(old, new, 1), f"flow.txt{sentence}")
        for old, new, sentence in (
            ("1 2 3", "1 2 4", ":3: priority group 4 after 3: a network has one data class"),
            ("1 2 3", "1 2 8", ":3: priority_group is 8, must be in [0, 7]"),
            ("1 2 3", "1 2 -1", ":3: priority_group is -1, must be in [0, 7]"),
            ("1 2 3", "1 4 3", ":3: dst: there is no host 4; hosts are 0 to 2"),
            ("1 2 3", "1 x 3", ":3: dst is 'x', must be a whole number"),
            ("2.000000123", "2,000000123", ":3: start_time is '2,000000123', must be seconds"),
            ("2\n0", "3\n0", ":5: 4 values where one of 3 flows should stand: src dst priority_group"),
            ("64000", "0", ":3: size_bytes is 0, must be in [1, "),
            (FLOWS, "0\n", ": no flows after the first line"),
        )
    ),
    ("flow.txt", b"5 2 4\n\xff\xfe\n", "flow.txt: not a list of flows: it is not UTF-8 text"),
    ("flows.csv", CSV + "0,4,1,0\n9,4,1,0\n", "flows.csv:3: src: there is no host 9; hosts are 0 to 7"),
    ("flows.csv", CSV + "0,8,1,0\n", "flows.csv:2: dst: there is no host 8"),
    ("flows.csv", CSV + "\n3,3,1,0\n", "flows.csv:3: a flow from host 3 to itself"),
    ("flows.csv", CSV + "0,4,0,0\n", "flows.csv:2: size_bytes is 0, must be in [1,"),
    ("flows.csv", CSV + "0,4,-7,0\n", "flows.csv:2: size_bytes is -7"),
    ("flows.csv", CSV + "0,4,unending,0\n", "flows.csv:2: size_bytes is 'unending', must be a whole number"),
    ("flows.csv", CSV + "0,4,1,-1\n", "flows.csv:2: start_ns is -1, must be in [0,"),
    ("flows.csv", CSV + "0,4,1MBps,0\n", "flows.csv:2: size_bytes is '1MBps', must be a whole number of byt"),
    ("flows.csv", CSV + "0,4,1,0.5\n", "flows.csv:2: start_ns is '0.5', must be a whole number"),
    ("flows.csv", CSV + "0,4,1,\n", "flows.csv:2: start_ns is '', must be a whole number"),
    ("flows.csv", CSV + "0,4,1\n", "flows.csv:2: 3 values, but there are 4 columns"),
    ("flows.csv", CSV.strip() + ",controller\n0,4,1,0\n", "flows.csv:2: 4 values, but there are 5 columns"),
    ("flows.csv", CSV.strip() + ",law\n0,4,1,0,x\n", "may name controller, name, after, delay_ns; it names"),
    ("flows.csv", CSV + "0,4,1,0,9\n", "flows.csv:2: 5 values, but there are 4 columns"),
    ("flows.csv", CSV + '0,"4,1,0\n', "flows.csv:2: not a CSV"),
    ("flows.csv", "s\x85rc,d\u2028st,size_bytes,start_ns\n", "s\\x85rc,d\\u2028st"),
    ("flows.csv", "src,dst,size_bytes\n0,4,1\n", "flows.csv:1: the header must name src,dst,size_bytes,star"),
    ("flows.csv", "0,4,1,0\n", "it names 0,4,1,0"),
    ("flows.csv", "", "it names nothing"),
    ("flows.csv", CSV, "flows.csv: no flows after the header"),
    ("flows.csv", b"\xff\xfe", "flows.csv: not a CSV: it is not UTF-8 text"),
    (
        "flows.csv",
        "name,src,dst,size_bytes,start_ns,after\na,0,1,9,0,b\nb,1,2,9,0,a\n",
        "flows.csv:2: after: these wait for each other",
    ),
    ("cdf.txt", "0 0\n10 50 x\n100 100\n", "cdf.txt:2: '10 50 x' is no point; a line holds size_bytes and"),
    ("cdf.txt", "0 0\n100 60\n50 100\n", "cdf.txt:3: sizes and percentages must ascend from line to line"),
    ("cdf.txt", "0 0\n100 1.5\n", "cdf.txt: points (bytes, percent) must ascend, from 0 to 100 percent"),
    (
        "cdf.txt",
        "100 0.25\n500 0.5\n30000 1.0\n",
        "cdf.txt: points (bytes, percent) must ascend, from 0 to 1",
    ),
    ("cdf.txt", "", "cdf.txt: points (bytes, percent) must ascend, from 0 to 100 percent"),
    ("cdf.txt", "0 0\n1e16 100\n", "cdf.txt:2: size_bytes is 1e16, must be in [0, "),
]


@pytest.mark.parametrize(("name", "text", "sentence"), FAULTS)
def test_a_faulty_file_is_refused_by_its_line(
    name: str, text: str | bytes, sentence: str, folder: Path
) -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    lines = refusal(keys(name), folder).split("\n")
    assert any((f"{folder}/{sentence}" if sentence.startswith(name) else sentence) in x for x in lines), lines
    assert all(line.startswith("s.yaml: ") and "\u2028" not in line for line in lines)


@pytest.mark.parametrize("name", ["flows.csv", "cdf.txt", "topology.txt", "flow.txt", "m.cm", "t.topo"])
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "No such file"),
        (os.mkfifo, "is a pipe, not a file"),
        (os.mkdir, "is a folder, not a file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a device, not a file"),
    ],
)
def test_what_is_no_file_is_named(
    name: str, make: Callable[[Path], object], sentence: str, folder: Path
) -> None:
    (folder / name).unlink()
    make(folder / name)
    assert f".file: {folder}/{name}: {sentence}" in refusal(keys(name), folder)


def test_many_faulty_rows_have_a_line_each_in_their_order(folder: Path) -> None:
    (folder / "flows.csv").write_text(CSV + "9,4,1,0\n0,4,x,0\n" + "0,0,1,0\n" * 30)
    lines = refusal(keys("flows.csv"), folder).split("\n")
    assert len(lines) == 11
    assert [line.split("flows.csv:")[1].split(":")[0] for line in lines[:3]] == ["2", "3", "4"]
    assert lines[-1].endswith("22 more faults like these")


@pytest.mark.parametrize("name", FORMS)
def test_a_scenario_without_its_files_is_the_same_one(name: str, folder: Path, simulator: Simulator) -> None:
    controllers = [{"name": "fixed-window"}]
    scenario = Scenario.from_mapping({**keys(name), "controllers": controllers}, "x.yaml", folder)
    results = simulator.play(scenario)
    content = scenario.without_files().model_dump(mode="json")
    for path in folder.iterdir():
        path.unlink()
    assert simulator.play(Scenario.from_mapping(content, "x.yaml")) == results


def mutant(text: str, random: np.random.Generator) -> str:
    """A text with something replaced, cut out, doubled or cut off."""
    a, b = sorted(int(x) for x in random.integers(len(text) + 1, size=2))
    b = min(b, a + int(random.integers(1, 30)))
    kind = random.integers(5)
    if kind == 0:
        pieces = [*"0-9{}[],:\n\t x>", "1e9", "99999999999999999999", "null"]
        return text[:a] + str(random.choice(pieces)) + text[b:]
    if kind == 1:
        return text[:a] + text[b:]
    if kind == 2:
        return text[:b] + text[a:]
    return text[:a] if kind == 3 and a > len(text) // 2 else text[:a] + text[a + 1 :]


@pytest.mark.parametrize("name", FORMS)
def test_a_damaged_file_is_read_or_refused(name: str, folder: Path) -> None:
    random, good_count = np.random.default_rng(1), 0
    refusals: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(100):
            (folder / name).write_text(mutant(FORMS[name][0], random))
            try:
                scenario = Scenario.from_mapping(keys(name), "x.yaml", folder)
            except ScenarioError as error:
                refusals += str(error).splitlines()
                continue
            assert min(scenario.flows().size_bytes) >= 0
            good_count += 1
    assert 0 < good_count < 100
    assert all(line.startswith("x.yaml: ") for line in refusals)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Refusals and warnings of scenarios and of the files that they name: a line each, with the remedy."""

import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.config import bounds
from ns3_env.config.yaml import put, read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Dumbbell, Incast, Scenario
from ns3_env.simulator import Simulator
from tests.paths import DATA
from tests.samples.job_texts import MICRO_ASTRA, PING_PONG, SIMAI
from tests.samples.published_texts import FLOWS, MATRIX, NCCL_NODE, THREE_TIERS, TOPOLOGY, file_text
from tests.samples.scenarios import INCAST, SECTIONS, refusal
from tests.samples.tables import changed, fits, refusals, scenario_tables

TOGETHER = "too large together"


def graph(nodes: str, *links: tuple[int, int]) -> dict[str, Any]:
    """A graph of hosts ("h") and switches ("s")."""
    kinds = ["host" if node == "h" else "switch" for node in nodes]
    lines = [{"a": a, "b": b, "rate_bps": 1e9, "delay_ns": 1} for a, b in links]
    return {"topology": {"kind": "graph", "nodes": kinds, "links": lines}, "traffic": INCAST}


CHAIN = graph("hh" + "s" * 33, (0, 2), *((i, i + 1) for i in range(2, 34)), (34, 1))
GRAPHS = [
    (graph("hhs", (0, 2)), "topology.links ... host 1 has no link"),
    (graph("hhs", (0, 2), (1, 2), (2, 2)), "topology.links.2 ... a link from node 2 to itself"),
    (graph("hhss", (0, 2), (2, 3), (1, 3), (3, 2)), "topology.links.3 ... joined already, by links.1"),
    (graph("hhs", (0, 2), (1, 3)), "topology.links.1 ... there is no node 3; nodes are 0 to 2"),
    (graph("hhss", (0, 2), (1, 3)), "topology.links ... there is no path from host 0 to host 1"),
    (CHAIN, "topology.links ... the path from host 0 to host 1 has 33 switches; there may be 32"),
]


@pytest.mark.parametrize(
    ("content", "sentence"), [*refusals(*(name for name in scenario_tables() if name != TOGETHER)), *GRAPHS]
)
def test_a_fault_is_a_line_with_file_key_and_what_would_be_right(
    content: dict[str, Any], sentence: str
) -> None:
    lines = refusal(content).split("\n")
    assert any(fits(sentence, line) for line in lines), lines
    assert all(line.startswith("s.yaml: ") for line in lines)


REASONS = [getattr(bounds, name) for name in dir(bounds) if name.startswith("WHY_")]


@pytest.mark.parametrize(("content", "sentence"), refusals(TOGETHER))
def test_numbers_that_are_too_large_together_are_refused_with_the_reason(
    content: dict[str, Any], sentence: str
) -> None:
    """The bounds of each single number are checked below."""
    message = refusal(content)
    assert fits(f"{sentence} ... at most", message), message
    assert any(reason in message for reason in REASONS)


def streams(*rates_and_starts: tuple[float, int], **keys: Any) -> dict[str, Any]:
    """Streams of these shares of 1 Gb/s each from its own host over one link, and a flow."""
    parts = [
        {"kind": "constant_rate", "src": i, "dst": 4, "rate_bps": rate * 1e9, "start_ns": start, **keys}
        for i, (rate, start) in enumerate(rates_and_starts)
    ]
    dumbbell = {"kind": "dumbbell", "senders": 4, "rate_bps": 1e9, "bottleneck_bps": 1e9}
    return {"topology": dumbbell, "traffic": {"kind": "mix", "parts": [{**INCAST, "senders": [3]}, *parts]}}


SAME_INSTANT = "traffic: packets of the streams ... same instant ... another phase_ns"
PHASES = "traffic: packets of the streams ... their phases decide"
MARKING = {"switch": {"pfc": False, "buffer_bytes": 300_000, "ecn": {"kmax_bytes": 4e5, "at_rate_bps": 25e9}}}
LONG_PATH = {
    "transport": "tcp",
    "controllers": ["cubic"],
    "topology": {"kind": "dumbbell", "senders": 1, "rate_bps": "100Gbps", "delay_ns": "500us"},
    "traffic": {"kind": "incast", "size_bytes": "9MB"},
    "tcp": {"socket_buffer_bytes": "4MB"},
}
NONE = "no warning"
WARNINGS: list[tuple[dict[str, Any], str]] = [
    (
        {"min_rate_bps": 50e9, "traffic": INCAST},
        "min_rate_bps: 4 flows x 5e+10 bit/s = 2e+11 bit/s exceed ... 1e+11 bit/s",
    ),
    (
        changed(MARKING, "switch.ecn.kmin_bytes: 100000"),
        "switch.ecn.kmin_bytes: 400000 B at a port of 100 Gb/s ... none is ever marked",
    ),
    (
        changed(MARKING, "switch.ecn.kmin_bytes: 10000"),
        "switch.ecn.kmax_bytes: 1.6e+06 B at a port of 100 Gb/s ... 300000 B: no queue",
    ),
    (streams((0.6, 0), (0.6, 0), phase_ns=0), SAME_INSTANT),
    (streams((0.6, 0), (0.6, 0)), PHASES),
    ({**streams((0.6, 0), (0.6, 0)), "preset": "published"}, SAME_INSTANT),
    (streams((0.6, 0), (0.6, 500)), NONE),
    (streams((0.6, 0), (0.601, 0)), NONE),
    (streams((0.4, 0), (0.4, 0)), NONE),
    (streams((0.4, 0), (0.4, 0), (0.4, 0), phase_ns=5), SAME_INSTANT),
    (LONG_PATH, "tcp.socket_buffer_bytes: 4000000 B"),
    (changed(LONG_PATH, "traffic.size_bytes: endless"), "tcp.socket_buffer_bytes: 4000000 B"),
    (changed(LONG_PATH, "traffic.size_bytes: 3MB"), NONE),  # the flow fits into the buffer
    (changed(LONG_PATH, "topology.delay_ns: 50us"), NONE),  # the path's BDP is 300 us of 100 Gb/s, 3.75 MB
    (changed(LONG_PATH, "{traffic.size_bytes: 50MB, tcp.socket_buffer_bytes: 38MB}"), NONE),
    # Laws that need different feedback, and one kind that serves both.
    (
        {
            "controllers": ["qcn", "smcc"],
            "traffic": {
                "kind": "mix",
                "parts": [{"kind": "incast"}, {"kind": "incast", "controller": "smcc"}],
            },
            "switch": {"congestion_points": {"feedback": "both"}},
        },
        NONE,
    ),
]


@pytest.mark.parametrize(("content", "sentence"), WARNINGS)
def test_what_hardly_anybody_wants_is_a_warning(content: dict[str, Any], sentence: str) -> None:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        Scenario.from_mapping(content, "s.yaml")
    texts = [str(warning.message) for warning in records]
    assert len(texts) == (sentence != NONE), texts
    assert all(fits(sentence, text) for text in texts), texts


def numbers(value: Any, key: str = "") -> Iterator[str]:
    """The dotted keys of all numbers in it."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(inner, f"{key}.{name}" if key else str(name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield key


#: Each section's own numbers; those that every scenario has once.
CASES = [
    (section, key)
    for section in SECTIONS
    for key in numbers(Scenario.from_mapping(section, "s.yaml").model_dump(mode="json"))
    if section is SECTIONS[0] or key.partition(".")[0] in section
]
#: Ids, shares and ranges of few values: their ends need no reason.
NO_REASON = {
    *("seed", "a", "b", "src", "dst", "link", "switch", "priority_group", "pfc_alpha_shift", "ack_every"),
    *("load", "loss_probability", "pmax", "weight", "sample_jitter", "sample_probability"),
    *("payload_bytes", "mtu_bytes", "socket_buffer_bytes", "pcap_snaplen"),
}


@pytest.mark.parametrize(("section", "key"), CASES, ids=[key for _, key in CASES])
def test_no_number_is_boundless_and_what_is_too_large_is_told_why(section: dict[str, Any], key: str) -> None:
    whole = Scenario.from_mapping(section, "s.yaml").model_dump(mode="json")
    for value in (-1e300, 1e300, 10**400):
        message = refusal(put(whole, key, value))
        name = key.rpartition(".")[2]
        # Of two numbers in the wrong order, or a list's, the section is at fault.
        assert message.startswith("s.yaml: ")
        assert name in message or key.rpartition(".")[0] in message
        last_word = next(part for part in reversed(key.split(".")) if not part.isdigit())
        if value == 10**400 and last_word not in NO_REASON:
            assert any(reason in message for reason in REASONS), message


def test_a_least_rate_that_is_worked_out_is_one_that_the_simulator_takes() -> None:
    topology, traffic = Dumbbell(senders=2, rate_bps=1e4), Incast(flows=2000, size_bytes=1)
    content = Scenario(topology=topology, traffic=traffic, time_limit_ns=1).to_simulator_json()
    assert content["min_rate_bps"] == bounds.MIN_RATE_BPS


CSV = "src,dst,size_bytes,start_ns\n"
POISSON = {"kind": "poisson", "sizes": {"file": "cdf.txt"}, "load": 0.3, "duration_ns": "1ms"}
STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
PUBLISHED = {
    "topology": {"kind": "published", "file": "topology.txt"},
    "traffic": {"kind": "published", "file": "flow.txt"},
    "time_limit_ns": "3s",
}
EXCHANGE = {"kind": "collective", "algorithm": "all_to_all", "ranks": [0, 1], "pair_bytes": "pairs.csv"}
JOB_LOG = {"kind": "job_log", "file": "jobs.csv", "scale": 1e-5, "step": {"size_bytes": 3000}}
PYTORCH = {"traffic": {"kind": "chakra", "file": "p", "flops_per_s": 1e12, "memory_bytes_per_s": 1e12}}
#: A file's name, a good text of its format, and the keys that name it.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "x.goal": (PING_PONG, {"traffic": {"kind": "goal", "file": "x.goal"}}),
    "w.txt": (MICRO_ASTRA, {"traffic": {"kind": "workload", "file": "w.txt", "npus": 8}}),
    "s.txt": (SIMAI, {"traffic": {"kind": "workload", "file": "s.txt"}}),
    "m.cm": (MATRIX, {"traffic": {"kind": "connections", "file": "m.cm"}}),
    "p.0.json": (file_text("pytorch.json"), PYTORCH),
    "p.1.json": (file_text("pytorch.json"), PYTORCH),
    "k.0.json": (file_text("kineto.json"), {"traffic": {"kind": "chakra", "file": "k"}}),
    "k.1.json": (file_text("kineto.json"), {"traffic": {"kind": "chakra", "file": "k"}}),
    "t.topo": (
        THREE_TIERS,
        {"topology": {"kind": "htsim", "file": "t.topo"}, "traffic": {"kind": "incast", "size_bytes": 1000}},
    ),
    "z.graphml": (
        file_text("zoo.graphml"),
        {"topology": {"kind": "graphml", "file": "z.graphml"}, "traffic": {"kind": "incast", "flows": 1}},
    ),
    **{
        name: (
            file_text(name),
            {
                "topology": {"kind": "rocketfuel", "file": name, "rate_bps": "10Gbps"},
                "traffic": {"kind": "incast", "flows": 1},
            },
        )
        for name in ("routers.cch", "latencies.intra")
    },
    "n.xml": (
        NCCL_NODE,
        {
            "topology": {"kind": "cluster", "nccl_topology": "n.xml"},
            "traffic": {"kind": "incast", "flows": 1},
        },
    ),
    "topology.txt": (TOPOLOGY, PUBLISHED),
    "flow.txt": (FLOWS, PUBLISHED),
    "flows.csv": (CSV + "0,4,1kB,1.5us\n1,4,20,7\n", {"traffic": {"kind": "csv", "file": "flows.csv"}}),
    "flows.json": (
        '[{"id": 0, "src": 0, "dst": 4, "size": 1000, "start": 1500},\n'
        ' {"id": 1, "src": 1, "dst": 4, "size": 20, "start": 7}]\n',
        {"traffic": {"kind": "csv", "file": "flows.json"}},
    ),
    "jobs.csv": ("submit_time,num_gpu,duration\n5,2,60\n9,3,60\n", {"traffic": JOB_LOG}),
    "link.trace": (
        "0 10000\n1 5000\n",
        {"link_rates": [{"link": "all", "file": "link.trace"}], "traffic": {"kind": "incast", "flows": 1}},
    ),
    "pairs.csv": ("0,20\n1kB, 0\n", {"traffic": EXCHANGE}),
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


def faults() -> Iterator[tuple[str, str | bytes, str]]:
    """A file, its text, and the sentence on it."""
    for name, rows in read_mapping(DATA / "file_refusals.yaml").items():
        for *texts, sentence in rows:
            yield name, texts[0] if len(texts) == 1 else FORMS[name][0].replace(*texts, 1), sentence
    for name, form in (("topology.txt", "topology"), ("flow.txt", "list of flows"), ("flows.csv", "CSV")):
        yield name, b"5 2 4\n\xff\xfe\n", f"{name}: not a {form}: it is not UTF-8 text"
    yield (
        "link.trace",
        f"at_ns,rate_bps\n0,{'1' * 200_000}",
        "link.trace:2: no CSV: field larger",
    )


@pytest.mark.parametrize(("name", "text", "sentence"), list(faults()))
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


@pytest.mark.parametrize(
    "text",
    [
        FORMS["flows.json"][0],
        '[{"src": 0, "dst": 4, "size_bytes": "1kB", "start_ns": 1500, "name": "a"}\n,'
        ' {"src": 1, "dst": 4, "size": 20.0, "start_s": 0.0000000071}]',
        "id,src,dst,size_bytes,start_s\n0,0,4,1e3,1.5e-6\n1,1,4,20.0,0.0000000071\n",
        "start_us,src,dst,size_bytes\n1.5us,0,4,1kB\n.007us,1,4,20\n",
    ],
    ids=["json-of-parsimon", "json", "csv-in-seconds", "csv-with-units"],
)
def test_each_form_of_a_list_of_flows_is_the_same(text: str, folder: Path) -> None:
    flows = Scenario.from_mapping(keys("flows.csv"), "s.yaml", folder).flows()
    (folder / "flows.csv").write_text(text)
    assert Scenario.from_mapping(keys("flows.csv"), "s.yaml", folder).flows() == flows


def test_flows_in_json_wait_for_each_other_by_id(folder: Path) -> None:
    rows = [{"id": i, "src": i, "dst": 4, "size": 9, "start": 0, "after": [0] * i} for i in range(2)]
    (folder / "flows.csv").write_text(json.dumps(rows))
    waits = Scenario.from_mapping(keys("flows.csv"), "s.yaml", folder).flows().tasks.waits
    assert waits == {1: ((0,), 0, None)}


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
    random, good_count = np.random.default_rng(2), 0
    refusals: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(40):
            (folder / name).write_text(mutant(FORMS[name][0], random))
            try:
                scenario = Scenario.from_mapping(keys(name), "x.yaml", folder)
            except ScenarioError as error:
                refusals += str(error).splitlines()
                continue
            assert min(scenario.flows().size_bytes) >= 0
            good_count += 1
    assert 0 < good_count < 40
    assert all(line.startswith("x.yaml: ") for line in refusals)

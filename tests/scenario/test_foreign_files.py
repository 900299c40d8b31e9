# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a scenario names: faulty lines, damaged texts, and scenarios that no longer need them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import DATA
from tests.samples.job_texts import JSONIZER, MICRO_ASTRA, PING_PONG, SIMAI
from tests.samples.published_texts import FLOWS, MATRIX, THREE_TIERS, TOPOLOGY
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
        THREE_TIERS,
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


def faults() -> Iterator[tuple[str, str | bytes, str]]:
    """A file, its text, and the sentence on it."""
    for name, rows in read_mapping(DATA / "file_refusals.yaml").items():
        for *texts, sentence in rows:
            yield name, texts[0] if len(texts) == 1 else FORMS[name][0].replace(*texts, 1), sentence
    for name, form in (("topology.txt", "topology"), ("flow.txt", "list of flows"), ("flows.csv", "CSV")):
        yield name, b"5 2 4\n\xff\xfe\n", f"{name}: not a {form}: it is not UTF-8 text"
    for key in ('"num_ops": ', '"type": 4, "numOps": '):
        yield "t.0.json", f'{{"version": "1"}}{{"id": 1, {key}{"9" * 400}}}', "node 1: num_ops is 999"


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

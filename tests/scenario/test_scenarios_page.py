# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios on the pages of the documentation: each is valid, and every kind and key has its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from examples import chakra_traces, job_log
from ns3_env.config.yaml import parse
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Topology
from ns3_env.scenario.traffic import Traffic
from tests.paths import ROOT
from tests.samples.job_texts import MICRO_ASTRA, PING_PONG
from tests.samples.published_texts import FLOWS, MATRIX, TOPOLOGY, TWO_TIERS, file_text

PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("scenarios", "layer2", "tcp")}
EXAMPLES = {
    name: [parse(text) for text in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)]
    for name, page in PAGES.items()
}
#: Sections that examples need around them.
LARGE = ("poisson_incast", "mix", "list", "collective", "jobs", "workload")
ROOM: dict[str, dict[str, Any]] = {
    **{kind: {"topology": {"kind": "leaf_spine"}} for kind in LARGE},
    "published": {"topology": {"kind": "published", "file": "topology.txt"}, "time_limit_ns": "2.1s"},
}


def kinds_of(section: dict[str, Any]) -> Iterator[str]:
    """The kind of a topology or a traffic, and those of a mix's parts."""
    yield section["kind"]
    for part in section.get("parts", ()):
        yield from kinds_of(part)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "topology.txt").write_text(TOPOLOGY)
    (tmp_path / "flow.txt").write_text(FLOWS)
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_ns\n0,1,1000,0\n")
    (tmp_path / "jobs.csv").write_text(job_log.draw(jobs=9, hours=1, seed=1))
    chakra_traces.write("data_parallel", tmp_path / "step", ranks=2)
    (tmp_path / "tree.topo").write_text(TWO_TIERS)
    (tmp_path / "Abilene.graphml").write_text(file_text("zoo.graphml"))
    (tmp_path / "latencies.intra").write_text(file_text("latencies.intra"))
    (tmp_path / "matrix.cm").write_text(MATRIX)
    (tmp_path / "step.goal").write_text(PING_PONG)
    (tmp_path / "workload.txt").write_text(MICRO_ASTRA)
    (tmp_path / "my_cdf.txt").write_text("0 0\n10000 50\n1000000 100\n")
    return tmp_path


@pytest.mark.parametrize(
    ("page", "example"), [(page, example) for page, examples in EXAMPLES.items() for example in examples]
)
def test_each_example_is_a_scenario(page: str, example: dict[str, dict[str, str]], folder: Path) -> None:
    around = ROOM.get(example.get("traffic", {}).get("kind", ""), {})
    scenario = Scenario.from_mapping({**around, **example}, f"docs/{page}.md", folder)
    assert scenario.flow_count > 0
    if page == "layer2":
        assert scenario.to_simulator_json()["switch"]["congestion_points"]
    if page == "tcp":
        assert scenario.under("cubic").to_simulator_json()["transport"] == "tcp"


def test_every_kind_has_an_example() -> None:
    example_kinds = {
        part: {kind for x in EXAMPLES["scenarios"] if part in x for kind in kinds_of(x[part])}
        for part in ("topology", "traffic")
    }
    for part, union in (("topology", Topology), ("traffic", Traffic)):
        model_kinds = {model.model_fields["kind"].default for model in get_args(get_args(union)[0])}
        assert example_kinds[part] == model_kinds

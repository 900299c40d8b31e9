# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged scenarios, suites, configurations and curricula: in bounds, or refused by the file's name."""

import copy
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ns3_env.agents.configuration.inputs import Inputs, read_inputs
from ns3_env.agents.configuration.registry import AGENTS, find_agent
from ns3_env.agents.search import plan as search
from ns3_env.agents.training import run as training
from ns3_env.config import bounds
from ns3_env.config.yaml import parse, read_mapping
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES
from ns3_env.scenario import Scenario
from tests.fuzz.strategies import changed, cut
from tests.fuzz.tried import attempt
from tests.paths import ROOT
from tests.samples.scenarios import SECTIONS
from tests.samples.suites import SUITE

find_agent("fdcc")  # PyTorch's import needs seconds

#: The largest value of a number whose name ends so.
BY_UNIT: dict[str, float] = {
    "_ns": bounds.MAX_TIME_NS,
    "_bytes": bounds.MAX_BYTES,
    "_bps": bounds.MAX_RATE_BPS,
    "_s": bounds.MAX_WALL_S,
    "_probability": 1,
    "_share": 1,
}
#: Bound of every other number: seeds have 63 bits.
_LARGEST = 2**63


def faults(content: Any, name: str = "") -> Iterator[str]:
    """Names every number that is not finite, or too large for its unit."""
    if isinstance(content, BaseModel):
        for key in type(content).model_fields:
            if key != "attributes":  # of a controller: the simulator knows their ranges (test_attributes)
                yield from faults(getattr(content, key), key)
        yield from faults(content.model_extra or {}, name)
    elif isinstance(content, dict):
        for key, value in content.items():
            if key != "attributes":  # of a controller: the simulator knows their ranges (test_attributes)
                yield from faults(value, str(key))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from faults(value, name)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        limit = next((high for end, high in BY_UNIT.items() if name.endswith(end)), None)
        if not math.isfinite(content):
            yield f"{name} is {content}"
        elif limit is not None and not 0 <= content <= limit:
            yield f"{name} is {content}, not in [0, {limit:g}]"
        elif isinstance(content, int) and abs(content) > _LARGEST:
            yield f"{name} is {content}"


SCENARIO = parse("""
preset: default
seed: 3
time_limit_ns: 100000
timing: exact
payload_bytes: 1000
min_rate_bps: 1.0e+8
topology: {kind: dumbbell, senders: 4, rate_bps: 1.0e+11, delay_ns: 1000}
traffic: {kind: incast, flows: 3, size_bytes: 1000, start_ns: 0, spread_ns: 100}
switch: {buffer_bytes: 10000000, pfc: true, headroom_frames: 2, flow_timeout_ns: 1000, ecn: auto}
loss_probability: 0.1
retransmission_timeout_ns: 0
controllers: [{name: agent}, {name: dcqcn, attributes: {Gain: 0.5}}]
controlled_flows: [0]
clock: {name: per_flow_rtt, rtt_fraction: 0.5}
decision_quantum_ns: 0
record: {queues: true, queue_series_ns: 100, pcap_ports: [[0, 0]], pcap_snaplen: 100}
""")


def from_file(path: str) -> dict[str, Any]:
    return read_mapping(ROOT / path)


def plan(path: Path, algorithm: str | None = None) -> list[Any]:
    """Reads inputs as train.py does before it creates files; one of both files is damaged."""
    inputs = read_inputs(path, ROOT / "curricula/incast.yaml")
    if inputs.kind == "search":
        return [search.plan(inputs, metrics=METRICS_OF_EPISODES).config]
    training_plan = training.plan(inputs, (), algorithm)
    return [training_plan.config, *training_plan.curriculum.scenarios]


def plan_curriculum(path: Path) -> list[Any]:
    inputs = read_inputs(ROOT / "configs/fdcc.yaml", path)
    training_plan = training.plan(inputs)
    return [training_plan.curriculum.config, *training_plan.curriculum.scenarios]


#: Kind of file: good contents, and how it is read.
FILES: dict[str, tuple[list[dict[str, Any]], Callable[[Path], Any]]] = {
    "scenario": ([SCENARIO, *({**SCENARIO, **x} for x in SECTIONS if "transport" not in x)], Scenario.load),
    "suite": ([SUITE, from_file("configs/suites/incast.yaml")], Suite.load),
    "config": ([from_file(f"configs/{name}.yaml") for name in ("fdcc", "sb3", "mpcc", "dcqcn")], plan),
    "curriculum": ([from_file("curricula/incast.yaml")], plan_curriculum),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("yaml")


@pytest.mark.parametrize("kind", FILES)
@given(data=st.data())
def test_what_is_taken_is_in_bounds(kind: str, folder: Path, data: st.DataObject) -> None:
    goods, read = FILES[kind]
    content = data.draw(changed(data.draw(st.sampled_from(goods))))
    path = folder / "x.yaml"
    path.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
    assert list(faults(attempt(f"yaml {kind}", lambda: read(path), f"{path}: "))) == []


@pytest.mark.parametrize("kind", FILES)
@given(data=st.data())
def test_damaged_text_is_refused_in_lines(kind: str, folder: Path, data: st.DataObject) -> None:
    goods, read = FILES[kind]
    good = yaml.safe_dump(data.draw(st.sampled_from(goods[:2])), default_flow_style=None)
    path = folder / "x.yaml"
    text = data.draw(cut(good))
    path.write_bytes(
        text.encode(data.draw(st.sampled_from(["utf-8", "utf-8", "latin-1", "utf-16"])), "replace")
    )
    assert list(faults(attempt(f"yaml text of a {kind}", lambda: read(path), f"{path}: "))) == []


@given(data=st.data(), algorithm=st.sampled_from(sorted(AGENTS)))
def test_another_agent_for_a_damaged_configuration(data: st.DataObject, algorithm: str) -> None:
    good = data.draw(st.sampled_from(FILES["config"][0][:2]))
    inputs = Inputs(
        data.draw(changed(good)), copy.deepcopy(from_file("curricula/incast.yaml")), "c.yaml", "d"
    )
    other_plan = attempt("other agents", lambda: training.plan(inputs, (), algorithm), "c.yaml: ")
    assert other_plan is None or list(faults(other_plan.config)) == []


def test_what_is_damaged_is_good_before(folder: Path) -> None:
    for kind, (goods, read) in FILES.items():
        for i, good in enumerate(goods):
            path = folder / f"{kind}{i}.yaml"
            path.write_text(yaml.safe_dump(good))
            assert list(faults(read(path))) == []

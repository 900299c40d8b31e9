# SPDX-License-Identifier: GPL-2.0-or-later
"""Refusals and warnings of scenarios: a line each with the file, the key and the remedy."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from ns3_env.config import bounds
from ns3_env.scenario import Scenario
from tests.samples.scenarios import INCAST, refusal
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
    """test_bounds checks the bounds of each single number."""
    message = refusal(content)
    assert fits(f"{sentence} ... at most", message), message
    assert any(reason in message for reason in REASONS)


def streams(*rates_and_starts: tuple[float, int]) -> dict[str, Any]:
    """Streams of these shares of 1 Gb/s each from its own host over one link, and a flow."""
    parts = [
        {"kind": "constant_rate", "src": i, "dst": 4, "rate_bps": rate * 1e9, "start_ns": start}
        for i, (rate, start) in enumerate(rates_and_starts)
    ]
    dumbbell = {"kind": "dumbbell", "senders": 4, "rate_bps": 1e9, "bottleneck_bps": 1e9}
    return {"topology": dumbbell, "traffic": {"kind": "mix", "parts": [{**INCAST, "senders": [3]}, *parts]}}


SAME_INSTANT = "traffic: packets of the streams ... same instant ... rate_bps differ"
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
    (streams((0.6, 0), (0.6, 0)), SAME_INSTANT),
    (streams((0.6, 0), (0.6, 500)), NONE),
    (streams((0.6, 0), (0.601, 0)), NONE),
    (streams((0.4, 0), (0.4, 0)), NONE),
    (streams((0.4, 0), (0.4, 0), (0.4, 0)), SAME_INSTANT),
    (LONG_PATH, "tcp.socket_buffer_bytes: 4000000 B"),
    (changed(LONG_PATH, "traffic.size_bytes: endless"), "tcp.socket_buffer_bytes: 4000000 B"),
    (changed(LONG_PATH, "traffic.size_bytes: 3MB"), NONE),  # the flow fits into the buffer
    (changed(LONG_PATH, "topology.delay_ns: 50us"), NONE),  # the path's BDP is 300 us of 100 Gb/s, 3.75 MB
    (changed(LONG_PATH, "{traffic.size_bytes: 50MB, tcp.socket_buffer_bytes: 38MB}"), NONE),
]


@pytest.mark.parametrize(("content", "sentence"), WARNINGS)
def test_what_hardly_anybody_wants_is_a_warning(content: dict[str, Any], sentence: str) -> None:
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        Scenario.from_mapping(content, "s.yaml")
    texts = [str(warning.message) for warning in records]
    assert len(texts) == (sentence != NONE), texts
    assert all(fits(sentence, text) for text in texts), texts


def test_explicit_feedback_serves_laws_that_need_different_ones() -> None:
    parts = [{"kind": "incast"}, {"kind": "incast", "controller": "smcc"}]
    laws = {"controllers": ["qcn", "smcc"], "traffic": {"kind": "mix", "parts": parts}}
    Scenario.from_mapping({**laws, "switch": {"congestion_points": {"feedback": "both"}}}, "s.yaml")

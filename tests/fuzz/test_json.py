# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged JSON of scenarios in either transport's simulator: refused in a line, or valid and run."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ns3_env.config.bounds import MAX_TIME_NS
from ns3_env.programs.transport import Transport, transport_of
from ns3_env.simulator import Simulator
from tests.fuzz import corpus
from tests.fuzz.strategies import changed, cut
from tests.fuzz.tried import attempt
from tests.scenario.json_places import Place, at, is_in_its_range, places, play

#: Simulated: some hundred packets.
LONGEST_PLAY_NS = 20_000
GOOD = [scenario.to_simulator_json() for _, scenario in corpus.scenarios()]


def generic(place: Place) -> str:
    return ".".join("#" if isinstance(key, int) else key for key in place)


KNOWN = {generic(place) for good in GOOD for place in places(good)}


@pytest.fixture(scope="module")
def simulators() -> Iterator[dict[Transport, Simulator]]:
    with Simulator() as rdma, Simulator() as tcp:
        yield {"rdma": rdma, "tcp": tcp}


def check_meaning(content: dict[str, Any], results: dict[str, Any]) -> None:
    """Checks that the values that results repeat from a scenario are the scenario's."""
    for table, columns in (
        ("flows", ("src", "dst", "size_bytes", "start_ns")),
        ("streams", ("src", "dst", "rate_bps", "start_ns", "stop_ns")),
    ):
        for column in columns if content.get(table) else ():
            assert results[table][column] == content[table][column]


def test_a_number_is_held_against_what_the_reader_declares(simulators: dict[Transport, Simulator]) -> None:
    simulators["rdma"].start("rdma")
    for payload_bytes, right in ((65_000, True), (65_001, False), (1.5, False), (True, False)):
        content = {**GOOD[0], "payload_bytes": payload_bytes}
        assert is_in_its_range(simulators["rdma"], content, ("payload_bytes",)) == right


@settings(max_examples=10 * settings().max_examples)
@given(good=st.sampled_from(GOOD), data=st.data())
def test_a_scenario_is_refused_in_a_line_or_right(
    simulators: dict[Transport, Simulator], good: dict[str, Any], data: st.DataObject
) -> None:
    text = data.draw(
        cut(json.dumps(good)) if data.draw(st.integers(0, 4)) == 0 else changed(good).map(json.dumps)
    )
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if isinstance(content, dict):
        record = content.get("record")
        assume(not isinstance(record, dict) or record.get("pcap") is None)  # files
        limit = content.get("time_limit_ns")
        if isinstance(limit, int | float) and LONGEST_PLAY_NS < limit <= MAX_TIME_NS:
            content["time_limit_ns"] = LONGEST_PLAY_NS
            text = json.dumps(content)
    transport = transport_of(good)
    simulator = simulators[transport]
    simulator.start(transport)
    results = attempt("JSON", lambda: play(simulator, text) or {}, "", most_lines=1)
    if results is None:
        return
    json.dumps(results, allow_nan=False)
    sections: dict[str, Place] = {}
    for place in places(content):
        if "attributes" in place[:-1]:
            continue
        assert generic(place) in KNOWN
        if not isinstance(at(content, place), dict | list | type(None)):
            sections[generic(place)] = place
    for place in sections.values():
        assert is_in_its_range(simulator, content, place), place
    if results:
        check_meaning(content, results)

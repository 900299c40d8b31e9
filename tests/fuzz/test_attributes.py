# SPDX-License-Identifier: GPL-2.0-or-later
"""Fuzzed values of controllers' attributes: in their range and played, or refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ns3_env.errors import ScenarioError
from ns3_env.scenario import AGENT, Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator, default_attributes, list_controllers
from tests.fuzz.strategies import NUMBERS, TEXTS
from tests.fuzz.tried import attempt
from tests.samples.policy_files import needed_attributes

ATTRIBUTES = [
    (name, attribute)
    for name in list_controllers()
    if name != AGENT
    for attribute in default_attributes(name)
    if attribute not in needed_attributes(name)
]
UNITS = {"fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}

VALUES = st.one_of(
    NUMBERS.map(str),
    st.floats(0, 2).map(str),
    st.integers(0, 200).map(str),
    st.booleans().map(lambda value: str(value).lower()),
    st.tuples(st.one_of(NUMBERS, st.floats(1e-3, 1e3)).map(str), st.sampled_from([*UNITS, "", "x"])).map(
        "".join
    ),
    TEXTS,
)


def scenario(controller: str, attributes: dict[str, str]) -> dict[str, Any]:
    made = Scenario(
        time_limit_ns=20_000,
        topology=Dumbbell(senders=2),
        traffic=Incast(flows=2, size_bytes=100_000, spread_ns=0),
        controllers=[Controller(name=controller)],
    ).to_simulator_json()
    made["controllers"] = [
        {"name": controller, "attributes": {**needed_attributes(controller), **attributes}}
    ]
    made["record"] = {"windows": True}
    return made


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator() as made:
        yield made


def number(text: str) -> float:
    """Of an attribute's text, in s where it is a time."""
    found = re.fullmatch(r"\+?(-?[0-9.eE+-]+?|-?nan|-?inf)([a-z]*)", text.strip())
    if found is None:
        return math.nan
    return float(found[1]) * (UNITS[found[2]] if found[2] else 1.0)


def range_of(simulator: Simulator, controller: str, attribute: str) -> tuple[float, float] | None:
    """As the refusal of a value that is none declares it; None for truth values and names."""
    with pytest.raises(ScenarioError) as refused:
        simulator.play(scenario(controller, {attribute: "no value"}))
    found = re.search(r"it takes (?:Time|double|u?int\d+_t) ([^ :]+):([^ :]+)", str(refused.value))
    return None if found is None else (number(found[1]), number(found[2]))


@given(which=st.sampled_from(ATTRIBUTES), value=VALUES)
def test_a_value_is_in_its_range_or_refused(simulator: Simulator, which: tuple[str, str], value: str) -> None:
    controller, attribute = which
    simulator.start()
    pid = simulator.pid
    results = attempt(
        "attributes",
        lambda: simulator.play(scenario(controller, {attribute: value})),
        f"'controllers[0].attributes.{attribute}': controller ",
    )
    assert simulator.pid == pid
    if results is None:
        return
    json.dumps(results, allow_nan=False)
    assert results["totals"]["packets_sent"] > 0
    assert all(x is None or x >= 0 for row in results["windows"] for x in row[2:])
    if (limits := range_of(simulator, controller, attribute)) is not None:
        low, high = (limit + sign * 1e-9 * abs(limit) for limit, sign in zip(limits, (-1, 1), strict=True))
        assert low <= number(value) <= high

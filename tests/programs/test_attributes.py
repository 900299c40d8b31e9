# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of the controllers' attributes: accepted within their range, else refused with it."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import AGENT, Controller, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import DecisionBatch, Simulator, default_attributes, list_controllers
from tests.paths import DATA

TRIED = ["-1", "0", "1e30", "-1e30", "nan", "inf", "5", "", " ", "1e-300"]
TRIED += ["5 us", "0s", "-5us", "1e30s", "5e300y", "x" * 10_000]

#: A policy's file is tested in tests/policies/test_placement.py.
ATTRIBUTES = {name: [x for x in default_attributes(name) if x != "File"] for name in list_controllers()}
for both in (AGENT, "policy"):
    ATTRIBUTES[both] += ["Quantised", "InitialWindow"]
SMALL_POLICY = DATA / "policy.safetensors"


def two_flows(controller: str, attributes: dict[str, str], duration_ns: int = 50_000) -> dict[str, Any]:
    content = Scenario(
        time_limit_ns=duration_ns,
        topology=Dumbbell(senders=2),
        traffic=Incast(flows=2, size_bytes=1_000_000, spread_ns=0),
        controllers=[Controller(name=controller)],
    ).to_simulator_json()
    needed = {"File": str(SMALL_POLICY)} if controller == "policy" else {}
    content["controllers"] = [{"name": controller, "attributes": {**needed, **attributes}}]
    content["record"] = {"windows": True}
    return content


def played(simulator: Simulator, content: dict[str, Any]) -> dict[str, Any]:
    """The results; flows under "agent" are given ten packets and a tenth of the link at each decision."""
    simulator.send_reset(content)
    while isinstance(answer := simulator.receive(), DecisionBatch):
        simulator.send_actions(np.tile([10_000.0, 1e10, 0.5], (int(answer.due.sum()), 1)))
    return answer.results


def wrong(simulator: Simulator, controller: str, attribute: str, value: str) -> str:
    """The sentence on a controller's attribute of this value."""
    with pytest.raises(ScenarioError) as error:
        simulator.play(two_flows(controller, {attribute: value}))
    return str(error.value)


@pytest.mark.parametrize("controller", ATTRIBUTES)
def test_a_value_works_or_is_an_error_with_attribute_and_range(controller: str, simulator: Simulator) -> None:
    simulator.start()
    pid = simulator.pid
    for attribute, value in itertools.product(ATTRIBUTES[controller], TRIED):
        try:
            results = played(simulator, two_flows(controller, {attribute: value}))
        except ScenarioError as error:
            message = str(error)
            assert f"controller '{controller}': cannot set attribute '{attribute}' to '" in message
            assert re.search(r"; it takes (Time |double |u?int32_t )?[^ ]+", message)
            assert "\n" not in message
            assert len(message) < 600
        else:
            numbers = [x for row in results["windows"] for x in row[2:] if x is not None]
            assert all(math.isfinite(x) and x >= 0 for x in numbers)
            assert results["totals"]["packets_sent"] > 0
            json.dumps(results, allow_nan=False)
        assert simulator.pid == pid


@pytest.mark.parametrize(
    "name", ["", " ", "x", "Gain|x", "rdma::Gain", "../Gain", "Gain\n", "\0", "%s%n", "é", "x" * 10_000]
)
def test_what_is_no_attribute_is_named_on_a_line(name: str, simulator: Simulator) -> None:
    simulator.start()
    pid = simulator.pid
    for controller in list_controllers():
        message = wrong(simulator, controller, name, "1")
        assert simulator.pid == pid
        assert f"controller '{controller}'" in message
        assert "\n" not in message
        assert len(message) < 600


def test_telemetry_of_an_agent_may_be_nothing_and_a_kilobyte(simulator: Simulator) -> None:
    for value in ("0", "1000"):
        results = played(simulator, two_flows(AGENT, {"TelemetryBytes": value}, 1_000_000))
        assert results["flows"]["header_bytes"] == [48 + int(value)] * 2


TARGET = "it takes Time 0s:1000s with its unit, as in 20us: Target delay before hops and flows are counted"
INTERVALS = ("0s", "-5us", "9ns", "1001s", "5 us", "1e300s", "nans", "us", "5us5", "0x5us")


@pytest.mark.parametrize(
    ("controller", "attribute", "value", "range_text"),
    [
        *((AGENT, "TelemetryBytes", x, "it takes uint32_t 0:1000") for x in ("-1", "1001", "4294967338")),
        *(("swift", "BaseTarget", x, TARGET) for x in ("20000000", "5", "0", "1e3")),
        *(("dcqcn", "AlphaInterval", x, "it takes Time 10ns:1000s with its unit") for x in INTERVALS),
        ("mpcc", "Horizon", "2.5", "it takes int32_t 1:100: P, steps predicted"),
        ("mpcc", "Horizon", "five", "it takes int32_t 1:100"),
        ("mpcc", "Horizon", "101", "it takes int32_t 1:100"),
        ("mpcc", "WeightQueue", "1,5", "it takes double 1e-09:1e+09: W_Q, the cost"),
        ("mpcc", "ComputationTime", "5 minutes", "it takes Time"),
        ("mpcc", "Shortcut", "maybe", "it takes bool"),
        ("mpcc", "Solver", "Exact", "it takes Qp|Lqr"),
        ("mpcc", "Horizn", "5", "its attributes: WeightQueue, WeightWindow, "),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_what_would(
    controller: str, attribute: str, value: str, range_text: str, simulator: Simulator
) -> None:
    refusal = f"controller '{controller}': cannot set attribute '{attribute}' to '{value}'; {range_text}"
    assert refusal in wrong(simulator, controller, attribute, value)


def test_the_shortest_intervals_are_worked_off(simulator: Simulator) -> None:
    shortest = dict.fromkeys(("AlphaInterval", "DecreaseInterval", "IncreaseInterval"), "10ns")
    for timers in ("false", "true"):
        results = simulator.play(two_flows("dcqcn", {**shortest, "TimerEvents": timers}, 500_000))
        assert results["totals"]["unfinished"] == 0

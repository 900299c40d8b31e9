# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups of flows and traffic classes: the effect of their keys on the simulator, and refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ns3_env.config.yaml import parse
from ns3_env.errors import ScenarioError
from ns3_env.scenario import AGENT, Scenario

KEYS: dict[str, Any] = parse("""
topology: {kind: dumbbell, senders: 4}
traffic:
  kind: mix
  parts:
    - {kind: poisson, load: 0.2, duration_ns: 100000, group: storage}
    - {kind: incast, flows: 2, size_bytes: 10000, group: rpc}
    - {kind: constant_rate, src: 0, dst: 4, rate_bps: 1.0e+9, group: rpc}
    - kind: list
      group: mine
      flows: [{src: 0, dst: 4, size_bytes: 1000}, {src: 1, dst: 4, size_bytes: 1, group: rpc}]
    - {kind: incast, flows: 1, size_bytes: 10000}
groups:
  storage: {controller: dcqcn, traffic_class: bulk}
  rpc: {controller: hpcc, attributes: {Eta: 0.9}, traffic_class: urgent}
  mine: {}
classes: [{name: urgent}, {name: bulk, weight: 3}, {name: rest, weight: 1}]
""")
CLASSES, GROUPS = KEYS["classes"], KEYS["groups"]


def keys(**values: Any) -> dict[str, Any]:
    return {**KEYS, **values}


def test_flows_are_under_their_groups_controller_and_in_its_class() -> None:
    scenario = Scenario.from_mapping(keys(), "x")
    sent = scenario.to_simulator_json()
    flows, streams = sent["flows"], sent["streams"]
    names = [sent["controllers"][i]["name"] for i in flows["controller"]]
    storage = flows["group"].index(1)
    assert storage > 0
    assert set(names[:storage]) == {"dcqcn"}
    assert names[storage:] == ["hpcc", "hpcc", AGENT, "hpcc", AGENT]
    assert flows["group"][storage:] == [1, 1, 2, 1, -1]
    assert flows["class"][storage:] == [0, 0, 2, 0, 2]
    assert flows["slot"][storage:] == [-1, -1, 0, -1, 1]
    assert sent["groups"] == ["storage", "rpc", "mine"]
    assert streams["class"] == [0]
    assert scenario.agent_flow_count == 2
    assert json.loads(scenario.to_simulator_text()) == sent


def test_each_class_marks_as_its_own_flows_controllers_are_published() -> None:
    urgent, bulk, rest = Scenario.from_mapping(keys(), "x").to_simulator_json()["classes"]
    assert (urgent["ecn"], rest["ecn"]) == (None, None)
    assert bulk["ecn"]["kmin_bytes"] == 100_000
    assert [x["weight"] for x in (urgent, bulk, rest)] == [0, 3, 1]
    classes = [{**CLASSES[0], "ecn": {"kmin_bytes": 1000}, "pfc": False}, *CLASSES[1:]]
    class_json = Scenario.from_mapping(keys(classes=classes), "x").to_simulator_json()["classes"][0]
    assert (class_json["ecn"]["kmin_bytes"], class_json["pfc"]) == (1000, False)
    whole = Scenario.from_mapping(keys(switch={"ecn": None}), "x").to_simulator_json()["classes"]
    assert [x["ecn"] for x in whole] == [None] * 3


def test_attributes_of_a_group_come_before_the_scenarios() -> None:
    groups = {"a": {"attributes": {"Window": 5}}, "b": {"controller": "swift", "attributes": {"Window": 7}}}
    traffic = {"kind": "mix", "parts": [{"kind": "incast", "group": name} for name in groups]}
    controllers = [{"name": "fixed-window", "attributes": {"Window": 1, "WindowBdp": 2}}]
    scenario = Scenario.from_mapping({"groups": groups, "traffic": traffic, "controllers": controllers}, "x")
    attributes = [x["attributes"] for x in scenario.to_simulator_json()["controllers"]]
    assert attributes == [
        {"Window": "1", "WindowBdp": "2"},
        {"Window": "5", "WindowBdp": "2"},
        {"Window": "7"},
    ]
    other = scenario.under("hpcc").to_simulator_json()["controllers"]
    assert [x["name"] for x in other][-2:] == ["hpcc", "swift"]  # the first belongs to the entry


def test_whoever_plays_has_the_flows_that_no_group_gives_away() -> None:
    content = Scenario.from_mapping(keys(), "x").under("swift").to_simulator_json()
    names = [content["controllers"][i]["name"] for i in content["flows"]["controller"]]
    assert names[-5:] == ["hpcc", "hpcc", "swift", "hpcc", "swift"]
    bound = Scenario.from_mapping(keys(), "x").under("oracle").to_simulator_json()
    assert set(bound["flows"]["controller"]) == {0}
    assert "classes" not in bound
    assert bound["groups"] == ["storage", "rpc", "mine"]


def test_without_groups_and_classes_the_simulator_is_told_nothing_of_them() -> None:
    sent = Scenario().to_simulator_json()
    assert not {"groups", "classes"} & sent.keys()
    assert not {"group", "class"} & sent["flows"].keys()


def test_a_groups_attribute_is_refused_by_the_groups_key() -> None:
    groups = {**GROUPS, "mine": {"controller": "swift", "attributes": {"NoSuch": 1}}}
    scenario = Scenario.from_mapping(keys(groups=groups), "x")
    words = "'controllers[3].attributes.NoSuch' controller 'swift': cannot set attribute"
    assert scenario.refusal(words).startswith("x: groups.mine.attributes.NoSuch: controller 'swift'")
    with pytest.raises(ScenarioError, match="flows under 'agent' need a policy"):
        Scenario.from_mapping(keys(groups={**GROUPS, "mine": {"controller": AGENT}}), "x").under("hpcc")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a scenario what its file says, and is a wrong one refused with file and key?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import MIB, Scenario

INCAST = {"kind": "incast", "size_bytes": 1000}


def one_flow(**flow: Any) -> dict[str, Any]:
    return {"traffic": {"kind": "list", "flows": [{"src": 0, "dst": 4, "size_bytes": 1000, **flow}]}}


@pytest.mark.parametrize(
    ("data", "key", "text"),
    [
        ({"topolgy": {}}, "", "unknown key 'topolgy'; the nearest known one is 'topology'"),
        ({"topology": {"kind": "dumbbell", "sendrs": 3}}, "topology", "the nearest known one is 'senders'"),
        (
            {"traffic": {"kind": "mix", "parts": [{"kind": "incast", "flos": 1}]}},
            "traffic.parts.0",
            "'flows'",
        ),
        (one_flow(size_byte=3), "traffic.flows.0", "'size_bytes'"),
        (one_flow(size_bytes=0), "traffic.flows.0.size_bytes", "greater than or equal to 1"),
        (one_flow(size_bytes=-5), "traffic.flows.0.size_bytes", "-5"),
        (one_flow(dst=0), "traffic.flows.0.dst", "a flow from host 0 to itself"),
        (one_flow(dst=9), "traffic.flows.0.dst", "there is no host 9"),
        (one_flow(dst=5), "traffic.flows.0.dst", "there is no host 5"),
        (one_flow(controller="cubic"), "traffic.controller", "'cubic' is not among the controllers"),
        ({"topology": {"kind": "dumbbell", "rate_bps": 0}}, "topology.rate_bps", "greater than 0"),
        ({"topology": {"kind": "dumbbell", "rate_bps": -1e9}}, "topology.rate_bps", "greater than 0"),
        ({"topology": {"kind": "dumbbell", "rate_bps": float("inf")}}, "topology.rate_bps", "finite"),
        ({"topology": {"kind": "dumbbell", "delay_ns": 0}}, "topology.delay_ns", "greater than 0"),
        ({"topology": {"kind": "dumbell"}}, "topology", "'dumbbell'"),
        (
            {"switch": {"buffer_bytes": 200_000}},
            "switch.buffer_bytes",
            "reserves and headrooms of switch 5, 218880 B",
        ),
        ({"switch": {"ecn": {"kmin_bytes": 9e5}}}, "switch.ecn", "kmax_bytes"),
        ({"min_rate_bps": 50e9, "traffic": INCAST}, "min_rate_bps", "4 flows"),
        ({"traffic": {**INCAST, "receiver": 77}}, "traffic.receiver", "there is no host 77"),
        ({"traffic": {**INCAST, "senders": [4]}}, "traffic.senders.0", "to itself"),
        ({"traffic": {"kind": "poisson", "sizes": "webserch"}}, "traffic.sizes", "websearch"),
        ({"traffic": {"kind": "poisson", "load": 0}}, "traffic.load", "greater than 0"),
        ({"clock": {"name": "synchron"}}, "clock", "'synchronous'"),
        ({"controllers": []}, "controllers", "at least 1"),
        ({"controllers": [{"name": "hpcc"}], "controlled_flows": [0]}, "controlled_flows", "'agent'"),
        (
            {"controllers": [{"name": "agent"}, {"name": "hpcc"}], "controlled_flows": [8]},
            "controlled_flows",
            "there is no flow 8",
        ),
        (
            {
                "topology": {
                    "kind": "graph",
                    "nodes": ["host", "host", "switch"],
                    "links": [{"a": 0, "b": 2, "rate_bps": 1e9, "delay_ns": 1}],
                }
            },
            "topology.links",
            "host 1 has 0 links",
        ),
    ],
)
def test_bad_input_names_file_and_key(data: dict[str, Any], key: str, text: str, tmp_path: Path) -> None:
    import yaml

    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {key}"), message
    assert text in message
    assert "\n" not in message


def test_files_that_are_no_yaml_say_so(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="No such file"):
        Scenario.load(tmp_path / "none.yaml")
    path = tmp_path / "x.yaml"
    path.write_text("a: [1")
    with pytest.raises(ScenarioError, match="not YAML"):
        Scenario.load(path)
    path.write_text("- 1")
    with pytest.raises(ScenarioError, match="keys and values"):
        Scenario.load(path)


def test_presets_differ_in_timing_and_buffers_follow_the_rate() -> None:
    default = Scenario().to_simulator_json()
    reference = Scenario.from_mapping({"preset": "reference"}, "x").to_simulator_json()
    slow = Scenario.from_mapping({"topology": {"kind": "dumbbell", "rate_bps": 1e9}}, "x").to_simulator_json()
    assert (default["timing"], reference["timing"]) == ("exact", "truncated")
    assert default["switch"]["buffer_bytes"] == 32 * MIB
    assert slow["switch"]["buffer_bytes"] == 16 * MIB


def test_controlled_flows_have_slots_and_the_others_a_controller() -> None:
    scenario = Scenario.from_mapping(
        {
            "controllers": [{"name": "agent"}, {"name": "hpcc", "attributes": {"Eta": 0.9}}],
            "controlled_flows": [2, 0],
        },
        "x",
    )
    flows = scenario.to_simulator_json()["flows"]
    assert flows["controller"] == [0, 1, 0, 1]
    assert flows["slot"] == [0, -1, 1, -1]
    assert scenario.agent_flow_count == 2
    assert scenario.to_simulator_json()["controllers"][1]["attributes"] == {"Eta": "0.9"}


def test_large_incast_lowers_the_least_rate() -> None:
    scenario = Scenario.from_mapping({"traffic": {**INCAST, "flows": 1024}}, "x").to_simulator_json()
    assert scenario["min_rate_bps"] * 1024 <= 100e9
    assert "min_rate_bps" not in Scenario().to_simulator_json()


def test_seed_alone_changes_the_traffic_and_is_kept_apart() -> None:
    scenario = Scenario.from_mapping({"traffic": {**INCAST, "spread_ns": 1000}}, "file.yaml")
    other = scenario.with_seed(99)
    assert other.source == "file.yaml"
    assert other.to_simulator_json()["seed"] == 99
    assert other.to_simulator_json() == scenario.with_seed(99).to_simulator_json()
    assert other.to_simulator_json()["flows"]["start_ns"] != scenario.to_simulator_json()["flows"]["start_ns"]

# SPDX-License-Identifier: GPL-2.0-or-later
"""The simulator's bounds of numbers, checked in Python by the key that the user wrote."""

from __future__ import annotations

import copy
import re
from functools import cache
from typing import Any

import pytest
from pydantic import BaseModel

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell, FatTree2, FatTree3, LeafSpine, ParkingLot
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator
from tests.scenario.json_places import Place, at, changed, last_name, named, places, valid

#: Numbers of the simulator's JSON that no user writes: they are made from the topology and the traffic.
MADE = ("a", "b", "src", "dst", "controller", "slot")

#: The keys of a scenario that become a number of the JSON, "KIND:" where it is another kind's.
KEYS: dict[str, list[str]] = {
    "links[0].rate_bps": [
        "dumbbell:topology.rate_bps",
        "dumbbell:topology.bottleneck_bps",
        "parking_lot:topology.rate_bps",
        "leaf_spine:topology.rate_bps",
        "leaf_spine:topology.uplink_bps",
        "fat_tree_2:topology.rate_bps",
        "fat_tree_2:topology.fabric_bps",
        "fat_tree_3:topology.rate_bps",
        "fat_tree_3:topology.fabric_bps",
        "graph:topology.links.0.rate_bps",
    ],
    "links[0].delay_ns": [
        "dumbbell:topology.delay_ns",
        "parking_lot:topology.delay_ns",
        "leaf_spine:topology.delay_ns",
        "leaf_spine:topology.uplink_delay_ns",
        "fat_tree_2:topology.delay_ns",
        "fat_tree_3:topology.delay_ns",
        "graph:topology.links.0.delay_ns",
    ],
    "flows.size_bytes[0]": [
        "incast:traffic.size_bytes",
        "joining:traffic.sizes_bytes.0",
        "long_short:traffic.long_bytes",
        "long_short:traffic.short_bytes",
        "poisson_incast:traffic.size_bytes",
        "list:traffic.flows.0.size_bytes",
    ],
    "flows.start_ns[0]": [
        "incast:traffic.start_ns",
        "incast:traffic.spread_ns",
        "joining:traffic.interval_ns",
        "long_short:traffic.short_start_ns",
        "list:traffic.flows.0.start_ns",
    ],
    "streams.rate_bps[0]": ["constant_rate:traffic.parts.1.rate_bps"],
    "streams.start_ns[0]": ["constant_rate:traffic.parts.1.start_ns"],
    "streams.stop_ns[0]": ["constant_rate:traffic.parts.1.stop_ns"],
    "record.measurement.begin_ns": ["window:measurement.warm_up_ns"],
    "record.measurement.end_ns": ["window:measurement.end_ns"],
    "loss.probability": ["loss_probability"],
    "priority_group": ["list:traffic.priority_group"],
    "clock.interval_ns": ["synchronous:clock.interval_ns"],
    "clock.rtt_fraction": ["per_flow_rtt:clock.rtt_fraction"],
}

#: What a kind has to have beside the number.
KINDS: dict[str, dict[str, Any]] = {
    "dumbbell": {"topology": {"kind": "dumbbell"}},
    "constant_rate": {
        "traffic": {
            "kind": "mix",
            "parts": [{"kind": "incast"}, {"kind": "constant_rate", "src": 0, "dst": 4, "rate_bps": 1e9}],
        }
    },
    "incast": {"traffic": {"kind": "incast"}},
    "per_flow_rtt": {"clock": {"name": "per_flow_rtt"}},
    "poisson_incast": {"traffic": {"kind": "poisson_incast", "fan_in": 1, "load": 0.1}},
    "window": {"measurement": {"end_ns": 1}},
    "leaf_spine": {"topology": {"kind": "leaf_spine"}},
    "parking_lot": {"topology": {"kind": "parking_lot"}},
    "fat_tree_2": {"topology": {"kind": "fat_tree_2"}},
    "fat_tree_3": {"topology": {"kind": "fat_tree_3"}},
    "graph": {
        "topology": {
            "kind": "graph",
            "nodes": ["host", "host"],
            "links": [{"a": 0, "b": 1, "rate_bps": 1e9, "delay_ns": 1}],
        }
    },
    "joining": {"traffic": {"kind": "joining", "sizes_bytes": [1, 1]}},
    "long_short": {"traffic": {"kind": "long_short"}},
    "list": {"traffic": {"kind": "list", "flows": [{"src": 0, "dst": 4, "size_bytes": 1}]}},
    "synchronous": {"clock": {"name": "synchronous"}},
}


def content() -> dict[str, Any]:
    """The simulator's JSON with every number there is."""
    made = valid()
    made["clock"] = {"name": "per_flow_rtt", "rtt_fraction": 0.5}
    return made


def numbers() -> list[Place]:
    """Where a user's numbers are in the JSON, one of each list."""
    found = [
        place
        for place in places(content())
        if isinstance(at(content(), place), int | float)
        and not isinstance(at(content(), place), bool)
        and last_name(place) not in MADE
        and "attributes" not in place
        and all(key == 0 for key in place if isinstance(key, int))
    ]
    return [*found, ("clock", "interval_ns")]


@cache
def ranges() -> dict[str, tuple[float, float, bool]]:
    """(least, largest, whole) of each number, as the simulator says when it refuses one."""
    found = {}
    with Simulator() as simulator:
        for place in numbers():
            base = content()
            if place == ("clock", "interval_ns"):
                base["clock"] = {"name": "synchronous", "interval_ns": 1}
            with pytest.raises(ScenarioError) as refused:
                simulator.play(changed(base, place, -1e300))
            said = re.search(r"must be in \[(.+), (.+)\], a (whole )?number$", str(refused.value))
            assert said is not None, str(refused.value)
            found[named(place)] = float(said[1]), float(said[2]), said[3] is not None
    return found


def keys() -> list[tuple[str, str]]:
    return [(named(place), key) for place in numbers() for key in KEYS.get(named(place), [named(place)])]


def scenario(key: str, value: float) -> dict[str, Any]:
    """A scenario's keys and values with that number."""
    kind, _, path = key.rpartition(":")
    data: dict[str, Any] = copy.deepcopy(KINDS.get(kind, {}))
    where: Any = data
    *parents, last = path.split(".")
    for parent in parents:
        where = where[int(parent)] if isinstance(where, list) else where.setdefault(parent, {})
    if isinstance(where, list):
        where[int(last)] = value
    else:
        where[last] = value
    return data


@pytest.mark.parametrize(("place", "key"), keys())
def test_what_is_beyond_the_simulators_bounds_is_refused_by_the_users_key(place: str, key: str) -> None:
    low, high, whole = ranges()[place]
    beyond: list[float] = (
        [int(low) - 1, int(high) + 1] if whole else [low - abs(low) / 100 - 1e-9, high * 1.01]
    )
    for value in beyond:
        with pytest.raises(ScenarioError) as refused:
            Scenario.from_mapping(scenario(key, value), "s.yaml")
        where = key.rpartition(":")[2]
        section, _, name = where.rpartition(".")
        # Of two thresholds in the wrong order the section is at fault.
        assert str(refused.value).startswith((f"s.yaml: {where}: ", f"s.yaml: {section}: {name} ")), value


def test_every_kind_of_topology_is_tried() -> None:
    kinds: list[type[BaseModel]] = [Dumbbell, ParkingLot, LeafSpine, FatTree2, FatTree3]
    tried = {key for _, key in keys()}
    for kind in kinds:
        name = kind.model_fields["kind"].default
        for field in kind.model_fields:
            if field.endswith(("_bps", "_ns")):
                assert f"{name}:topology.{field}" in tried


def test_a_least_rate_that_is_worked_out_is_one_that_the_simulator_takes() -> None:
    topology, traffic = Dumbbell(senders=2, rate_bps=1e4), Incast(flows=2000, size_bytes=1)
    made = Scenario(topology=topology, traffic=traffic, time_limit_ns=1).to_simulator_json()
    assert made["min_rate_bps"] == ranges()["min_rate_bps"][0]

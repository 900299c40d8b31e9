# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups and classes of a scenario's flows: their controllers, queues and faults."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ns3_env.programs.executable import network_bounds
from ns3_env.scenario.controllers import AGENT, POLICY, Controller
from ns3_env.scenario.declared import CONGESTION_POINTS, MARKING, SCHEDULING, Declared
from ns3_env.scenario.derived import class_indices, most_kmax_bytes, played_controllers, timing
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.switch import TrafficClass
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import DATA_GROUP, Flows

#: Settings that a class may override, by its key.
_OWN: dict[str, Declared[Any]] = {"ecn": MARKING, "congestion_points": CONGESTION_POINTS}


def class_sections(
    scenario: ScenarioFields, network: Network, flows: Flows, controllers: list[int]
) -> list[dict[str, Any]]:
    """The classes as the simulator reads them; ``controllers``: each flow's, as an index."""
    classes = class_indices(scenario, flows.group)
    sections = []
    for i, traffic_class in enumerate(scenario.classes):
        inside = [index for index, chosen in zip(controllers, classes, strict=True) if chosen == i]
        ecn = _setting(traffic_class, "ecn", scenario, inside)
        points = _setting(traffic_class, "congestion_points", scenario, inside)
        marking = None
        if ecn is not None:
            most = most_kmax_bytes(scenario, network, ecn) if traffic_class.ecn == "auto" else None
            marking = {**ecn.model_dump(), **({} if most is None else {"most_kmax_bytes": most})}
        sections.append(
            {
                "name": traffic_class.name,
                "weight": traffic_class.weight or 0,
                "pfc": scenario.switch.pfc if traffic_class.pfc is None else traffic_class.pfc,
                "ecn": marking,
                "congestion_points": None if points is None else points.model_dump(),
            }
        )
    return sections


def _setting(traffic_class: TrafficClass, key: str, scenario: ScenarioFields, inside: list[int]) -> Any:
    value = getattr(traffic_class, key)
    return _OWN[key].of(scenario, inside) if value == "auto" else value


def class_conflicts(
    scenario: ScenarioFields, flows: Callable[[], Flows], controllers: Callable[[], list[int]]
) -> list[str]:
    """Lists conflicts of controllers over the queue of their class, and ports that cannot have classes."""

    def inside(which: int) -> list[int]:
        return [index for index, chosen in zip(under, classes, strict=True) if chosen == which]

    under, classes = controllers(), class_indices(scenario, flows().group)
    faults = []
    if (SCHEDULING.of(scenario, under) or "fifo") != "fifo":
        faults.append("classes: there are none at ports that send of the flow with the least bytes left")
    for i, traffic_class in enumerate(scenario.classes):
        for key, declared in _OWN.items():
            is_explicit = getattr(traffic_class, key) != "auto"
            conflicts = [] if is_explicit else declared.faults(scenario, partial(inside, i))
            faults += [fault.replace(declared.place, f"classes.{i}.{key}", 1) for fault in conflicts]
    return faults


def class_faults(scenario: ScenarioFields) -> list[str]:
    """Lists the faults of the classes by themselves, a line each, by key."""
    names = [traffic_class.name for traffic_class in scenario.classes]
    faults = [f"classes: {name!r} is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    weighted = [traffic_class.weight is not None for traffic_class in scenario.classes]
    if weighted != sorted(weighted):
        faults.append(
            f"classes.{weighted.index(True)}: has a weight, and a later one has none, which would be served "
            "before it: put classes without weights first"
        )
    if names and timing(scenario) == "published":
        faults.append("classes: the published simulator has one data class: leave out preset and timing")
    if names and scenario.traffic.priority_groups() - {DATA_GROUP}:
        faults.append("classes: leave out the traffic's priority_group: classes take its place")
    return faults


def group_faults(scenario: ScenarioFields) -> list[str]:
    """Lists the faults of the groups, a line each, by key."""
    group_names = ", ".join(map(repr, scenario.groups)) or "there are none"
    faults = [
        f"traffic.group: {name!r} is none of the groups ({group_names})"
        for name in sorted(scenario.traffic.named_groups() - scenario.groups.keys())
    ]
    classes = [traffic_class.name for traffic_class in scenario.classes]
    for name, group in scenario.groups.items():
        if group.traffic_class is not None and group.traffic_class not in classes:
            there = ", ".join(map(repr, classes)) or "there are none"
            faults.append(f"groups.{name}.traffic_class: {group.traffic_class!r} is no class ({there})")
        if group.controller in (AGENT, POLICY) and group.controller not in (
            x.name for x in scenario.controllers
        ):
            faults.append(f"groups.{name}.controller: {group.controller!r} is not among the controllers")
        if group.attributes and group.controller is None and scenario.controlled_flows is not None:
            faults.append(f"groups.{name}.attributes: beside controlled_flows a group names its controller")
    return faults + _bound_faults(scenario)


def _bound_faults(scenario: ScenarioFields) -> list[str]:
    """A bound covers the whole network."""
    bounds = network_bounds(scenario.transport) if scenario.groups else frozenset()
    controllers: list[Controller] = played_controllers(scenario)
    return [
        f"groups.{name}.controller: {group.controller!r} is a bound for all flows of a network: "
        "leave it out, and play the scenario under it"
        for name, group in scenario.groups.items()
        if group.controller in bounds and len(controllers) > 1
    ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a scenario told to the simulator? As JSON, with its network built and its flows drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ns3_env.errors import ScenarioError
from ns3_env.scenario.controller import AGENT
from ns3_env.scenario.declared import DECLARED
from ns3_env.scenario.derived import (
    buffer_bytes,
    controller_indices,
    draw_flows,
    headroom_frames,
    min_rate_bps,
    timing,
)
from ns3_env.scenario.faults import declared_faults

if TYPE_CHECKING:
    from ns3_env.scenario.scenario import Scenario


def simulator_json(scenario: Scenario) -> dict[str, Any]:
    """What rdma-sim reads. Traffic is drawn from the scenario's seed."""
    network = scenario.topology.build()
    flows = draw_flows(scenario, network)
    controllers = controller_indices(scenario, flows)
    if faults := declared_faults(scenario, lambda: controllers):
        place = f"{scenario.source}: " if scenario.source else ""
        raise ScenarioError("\n".join(place + fault for fault in faults))
    slots = []
    taken = 0
    for index in controllers:
        under_agent = scenario.controllers[index].name == AGENT
        slots.append(taken if under_agent else -1)
        taken += under_agent
    declared = {setting.key: setting.of(scenario, controllers) for setting in DECLARED}
    content: dict[str, Any] = {
        "seed": scenario.seed,
        "time_limit_ns": scenario.time_limit_ns,
        "timing": timing(scenario),
        "payload_bytes": scenario.payload_bytes,
        "nodes": network.nodes,
        "links": [
            {"a": link.a, "b": link.b, "rate_bps": link.rate_bps, "delay_ns": link.delay_ns}
            for link in network.links
        ],
        "switch": {
            **scenario.switch.model_dump(),
            "buffer_bytes": buffer_bytes(scenario, network),
            "headroom_frames": headroom_frames(scenario),
            **{key: None if value is None else value.model_dump() for key, value in declared.items()},
        },
        "loss": {"probability": scenario.loss_probability},
        "retransmission_timeout_ns": scenario.retransmission_timeout_ns,
        "controllers": [
            {
                "name": controller.name,
                "attributes": {k: _text(v) for k, v in controller.attributes.items()},
            }
            for controller in scenario.controllers
        ],
        "clock": scenario.clock.model_dump(),
        "decision_quantum_ns": scenario.decision_quantum_ns,
        "flows": {
            "src": flows.src,
            "dst": flows.dst,
            "size_bytes": flows.size_bytes,
            "start_ns": flows.start_ns,
            "controller": controllers,
            "slot": slots,
        },
        "record": scenario.record.model_dump(),
    }
    if streams := flows.streams:
        content["streams"] = {
            "src": [x.src for x in streams],
            "dst": [x.dst for x in streams],
            "rate_bps": [x.rate_bps for x in streams],
            "start_ns": [x.start_ns for x in streams],
            "stop_ns": [-1 if x.stop_ns is None else x.stop_ns for x in streams],
        }
    if (span := scenario.measured_ns()) is not None:
        content["record"]["measurement"] = {"begin_ns": span[0], "end_ns": span[1]}
    min_rate = min_rate_bps(scenario, network)
    if min_rate is not None:
        content["min_rate_bps"] = min_rate
    return content


def _text(value: bool | int | float | str) -> str:
    """An attribute's value as ns-3 reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

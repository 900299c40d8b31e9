# SPDX-License-Identifier: GPL-2.0-or-later
"""Refuses keys, clocks and controllers of the other transport in a scenario."""

from __future__ import annotations

from ns3_env.errors import SimulatorError
from ns3_env.programs.executable import list_controllers
from ns3_env.programs.transport import SHOWN, Transport, other
from ns3_env.scenario.controller import AGENT, NETWORK
from ns3_env.scenario.fields import ScenarioFields

#: Keys that one transport alone has, and what to do under the other one.
_KEYS: dict[Transport, dict[str, str]] = {
    "rdma": {
        "preset": "there is no published simulator of TCP here: leave it out",
        "timing": "TCP is simulated to the picosecond: leave it out",
        "payload_bytes": "write tcp.mtu_bytes, of which 40 B are headers",
        "min_rate_bps": "TCP's laws have no least rate: leave it out",
        "switch": "write tcp.queue: how much each egress holds (limit), and when it marks or drops (marking)",
        "retransmission_timeout_ns": "write tcp.min_rto_ns, and tcp.initial_rto_ns of a SYN",
    },
    "tcp": {
        "tcp": "write transport: tcp if the flows are to be TCP's, or leave it out",
    },
}


def keys_of(transport: Transport) -> dict[str, str]:
    """Keys of a scenario that only this transport has, and what to do under the other one."""
    return _KEYS[transport]


def transport_faults(scenario: ScenarioFields) -> list[str]:
    """What is said of the other transport, a line each."""
    foreign = other(scenario.transport)
    fields = type(scenario).model_fields
    faults = [
        f"{key}: is {SHOWN[foreign]}'s, and the transport is {scenario.transport}: {text}"
        for key, text in _KEYS[foreign].items()
        if getattr(scenario, key) != fields[key].default
    ]
    if scenario.transport == "tcp" and scenario.clock.name == "per_notification":
        faults.append(
            "clock.name: 'per_notification' waits for feedback frames of switches, which TCP has not: "
            "'per_flow_rtt', 'per_ack' or 'synchronous'"
        )
    return faults + controllers_faults(scenario)


def controllers_faults(scenario: ScenarioFields) -> list[str]:
    """Controllers that only the other transport has; of a name that nobody knows the simulator will tell."""
    names = [controller.name for controller in scenario.controllers]
    if not set(names) - {AGENT, NETWORK}:
        return []
    own = _known(scenario.transport)
    strange = [(i, name) for i, name in enumerate(names) if name not in own]
    foreign = other(scenario.transport)
    theirs = _known(foreign) if strange else []
    return [
        f"controllers.{i}: {name!r} is {SHOWN[foreign]}'s; {SHOWN[scenario.transport]}'s are {', '.join(own)}"
        for i, name in strange
        if name in theirs
    ]


def _known(transport: Transport) -> list[str]:
    """Nothing where there is no such simulator: whoever needs it will say so."""
    try:
        return list_controllers(transport=transport)
    except SimulatorError:
        return []

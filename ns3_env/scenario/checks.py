# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a scenario against its network, its flows and its transport."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator

from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS
from ns3_env.errors import SimulatorError
from ns3_env.programs.executable import list_controllers, network_bounds
from ns3_env.programs.transport import SHOWN, Transport, other
from ns3_env.scenario.classes import class_conflicts, class_faults, group_faults
from ns3_env.scenario.controllers import AGENT, POLICY
from ns3_env.scenario.declared import DECLARED, MARKING
from ns3_env.scenario.derived import (
    agent_ports,
    buffer_bytes,
    committed_bytes,
    controller_indices,
    draw_flows,
    enough_bytes,
    fastest_port_bps,
    frame_bytes,
    has_pfc,
    keeps_headroom,
    phase_of,
    played_controllers,
)
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.paths import Valiant, link_rate_faults
from ns3_env.scenario.switch import EcnAgents
from ns3_env.scenario.topology import Network
from ns3_env.scenario.topology.directions import direction_faults
from ns3_env.scenario.topology.network import MAX_PATH_SWITCHES
from ns3_env.scenario.traffic import ENDLESS_BYTES, ConstantRate, Flows, Mix, TrafficKind

#: Maximum number of hosts whose paths are checked for windows that are too narrow.
_MOST_SOURCES = 100
#: Keys that only one transport has, and the advice under the other one.
TRANSPORT_KEYS: dict[Transport, dict[str, str]] = {
    "rdma": {
        "preset": "there is no published simulator of TCP here: leave it out",
        "timing": "TCP is simulated to the picosecond: leave it out",
        "payload_bytes": "write tcp.mtu_bytes, of which 40 B are headers",
        "min_rate_bps": "TCP's controllers have no least rate: leave it out",
        "corruption": "write loss_probability, which is of all links",
        "recovery": "TCP recovers by SACK (tcp.sack): leave it out",
        "nic": "write tcp.packets_per_ack for an ACK of several packets; TCP has no CNPs",
        "load_balancing": "TCP's flows keep their paths: leave it out",
        "failures": "TCP's links never fail: leave it out",
        "switch": "write tcp.queue: how much each egress holds (limit), and when it marks or drops (marking)",
        "classes": "a port of TCP has one queue: leave them out",
        "simulator": "TCP's networks are played as a whole: leave it out",
        "retransmission_timeout_ns": "write tcp.min_rto_ns, and tcp.initial_rto_ns of a SYN",
    },
    "tcp": {
        "tcp": "write transport: tcp if the flows are to be TCP's, or leave it out",
    },
}


def faults_of(scenario: ScenarioFields, network: Network) -> list[str]:
    """Lists its faults, a line each, by key."""
    faults = transport_faults(scenario)
    faults += [f"topology.{fault}" for fault in scenario.topology.faults(network)]
    if not faults:
        faults = [f"traffic.{fault}" for fault in scenario.traffic.faults(network)]
        if len(groups := sorted(scenario.traffic.priority_groups())) > 1:
            faults.append(
                f"traffic: flows of the priority groups {', '.join(map(str, groups))}: a network has one "
                "data class; give all flows the same"
            )
        if scenario.traffic.is_background():
            faults.append(
                "traffic: streams alone are no episode, which ends with its flows: put them into a mix with "
                "at least one flow (of the size endless, if it is to go on until time_limit_ns)"
            )
        faults += buffer_faults(scenario, network) if scenario.transport == "rdma" else []
        faults += direction_faults("corruption", scenario.corruption, network)
        faults += link_rate_faults(scenario.link_rates, network, scenario.time_limit_ns)
        if scenario.failures is not None:
            wrong = scenario.failures.faults(network, scenario.time_limit_ns)
            faults += [f"failures.{fault}" for fault in wrong]
        faults += detour_faults(scenario, network)
    if not faults and (many := scenario.traffic.expected_flows(network)) > MAX_FLOWS:
        faults = [f"traffic: about {many:.3g} flows; there may be at most {MAX_FLOWS}: {WHY_FLOWS}"]
    faults += time_faults(scenario)
    faults += class_faults(scenario) + group_faults(scenario)
    faults += controller_faults(scenario, network if not faults else None)
    if not faults:
        faults = declared_faults(
            scenario,
            lambda: draw_flows(scenario, network),
            lambda: controller_indices(scenario, draw_flows(scenario, network)),
        )
    if not faults and scenario.switch.ecn_agents is not None:
        faults = [f"switch.ecn_agents{fault}" for fault in ecn_agent_faults(scenario, network)]
    return faults


def ecn_agent_faults(scenario: ScenarioFields, network: Network) -> list[str]:
    """Refuses agents at ports that do not exist, cannot mark, or share the channel with flows."""
    agents = scenario.switch.ecn_agents
    assert agents is not None
    if scenario.classes:
        return [
            ": a port has thresholds for each traffic class, and an agent sets one: leave one of the two out"
        ]
    if isinstance(agents.ports, list):
        everywhere = scenario.model_copy(
            update={"switch": scenario.switch.model_copy(update={"ecn_agents": EcnAgents()})}
        )
        possible = agent_ports(everywhere, network)
        if unknown := [pair for pair in agents.ports if pair not in possible]:
            a, b = unknown[0]
            near = sorted({y for x, y in possible if x == a})
            beside = f"; next to switch {a} are {', '.join(map(str, near))}" if near else ""
            return [f".ports: no switch {a} has a port to node {b}{beside}"]
        if not agents.ports:
            return [".ports: is empty: write all, hosts, or [switch, neighbour] of each"]
    under = controller_indices(scenario, draw_flows(scenario, network))
    if any(played_controllers(scenario)[index].name == AGENT for index in set(under)):
        return [
            ": flows are under 'agent' as well, and only one of the two decides across the channel: write "
            "controllers: [dcqcn], or another controller that reacts to marks"
        ]
    if MARKING.of(scenario, under) is None:
        return [": no port marks, as no controller of the flows reacts to it: write controllers: [dcqcn]"]
    return []


def detour_faults(scenario: ScenarioFields, network: Network) -> list[str]:
    """Refuses detours without a path, and next to settings that choose paths anew."""
    if not isinstance(scenario.load_balancing, Valiant):
        return []
    if network.cards:
        return ["load_balancing: by valiant a path may go by any host's switch: each host has one card"]
    if scenario.failures is not None:
        return ["failures: routes by valiant do not change where a link fails: leave one of the two out"]
    return []


def time_faults(scenario: ScenarioFields) -> list[str]:
    """Refuses times after the time limit."""
    first, limit = scenario.traffic.first_start_ns(), scenario.time_limit_ns
    faults = []
    if first is not None and first >= limit:
        faults.append(f"time_limit_ns: the first flow starts at {first} ns, not before {limit}")
    if scenario.measurement is not None:
        wrong = scenario.measurement.faults(scenario.traffic.arrivals_end_ns(), limit)
        faults += [f"measurement.{fault}" for fault in wrong]
    return faults


def buffer_faults(scenario: ScenarioFields, network: Network) -> list[str]:
    """Reserves and headrooms (3 x rate x delay and some frames) must leave something to share.

    Without PFC nothing is kept as headroom, and the rest must have room for a packet; the published simulator
    keeps it all the same.
    """
    needed = committed_bytes(scenario, network)
    if not needed:
        return []
    buffer, frame = buffer_bytes(scenario, network), frame_bytes(scenario)
    worst = max(needed, key=lambda node: needed[node])
    if keeps_headroom(scenario):
        if needed[worst] < buffer:
            return []
        return [
            f"switch.buffer_bytes: {buffer} B is no more than the reserves and headrooms of switch {worst}, "
            f"{needed[worst]:.0f} B; {enough_bytes(needed[worst])} would do"
            + (
                ""
                if has_pfc(scenario)
                else "; timing 'published' keeps headroom without PFC, 'exact' does not"
            )
        ]
    if needed[worst] + frame <= buffer:
        return []
    return [
        f"switch.buffer_bytes: {buffer} B hold no packet of {frame} B beside the reserves of switch "
        f"{worst}, {needed[worst]:.0f} B (reserve_bytes may be 0); "
        f"{enough_bytes(needed[worst] + frame)} would do"
    ]


def controller_faults(scenario: ScenarioFields, network: Network | None) -> list[str]:
    names = [controller.name for controller in scenario.controllers]
    faults = [f"controllers: {name!r} is there twice" for name in set(names) if names.count(name) > 1]
    if scenario.controlled_flows is not None:
        if AGENT not in names and POLICY not in names:
            faults.append(f"controlled_flows: needs {AGENT!r} among the controllers")
        if network is not None and not scenario.traffic.flow_count_is_drawn():
            # The number of flows is the same for every seed.
            flows = draw_flows(scenario, network)
            beyond = [flow for flow in scenario.controlled_flows if not 0 <= flow < len(flows)]
            if beyond:
                faults.append(
                    f"controlled_flows: there is no flow {beyond[0]}; flows are 0 to {len(flows) - 1}"
                )
            if len(names) < 2 and len(set(scenario.controlled_flows)) < len(flows):
                faults.append("controllers: the flows that are not controlled need another controller")
    choices = ", ".join(names)
    faults += [
        f"traffic.controller: {name!r} is not among the controllers ({choices})"
        for name in sorted(scenario.traffic.named_controllers())
        if name not in names
    ]
    return faults + _bound_faults(scenario)


def _bound_faults(scenario: ScenarioFields) -> list[str]:
    """A bound covers the whole network: all flows must be under it."""
    names = [controller.name for controller in scenario.controllers]
    others = {x.name for x in played_controllers(scenario)} | scenario.traffic.named_controllers()
    bounds = network_bounds(scenario.transport) if len(others) > 1 else frozenset()
    return [
        f"controllers.{i}: {name!r} is a bound for all flows of a network, and the scenario has some under "
        f"{', '.join(sorted(others - {name}))}: name it alone, or play the scenario under it "
        f"(`eval run SCENARIO {name}` takes all flows)"
        for i, name in enumerate(names)
        if name in bounds
    ]


def declared_faults(
    scenario: ScenarioFields, flows: Callable[[], Flows], controllers: Callable[[], list[int]]
) -> list[str]:
    """Lists conflicts if the controllers of flows (``controllers()``: their indices) need different things of
    a port."""
    if scenario.classes:
        return class_conflicts(scenario, flows, controllers)
    settings = DECLARED[scenario.transport]
    return [fault for setting in settings for fault in setting.faults(scenario, controllers)]


def warnings_of(scenario: ScenarioFields, network: Network) -> list[str]:
    """Lists settings that are simulated as written but are probably unintended, a line each, by key."""
    return [
        *_rate_warnings(scenario, network),
        *_marking_warnings(scenario, network),
        *_window_warnings(scenario, network),
        *_tie_warnings(scenario, network),
    ]


def _rate_warnings(scenario: ScenarioFields, network: Network) -> Iterator[str]:
    """Warns of minimum rates at which no controller can empty the queue."""
    if scenario.min_rate_bps is None:
        return
    for host, flows in scenario.traffic.senders_at(network).items():
        rate = network.access[host].rate_bps
        if flows * scenario.min_rate_bps > rate:
            yield (
                f"min_rate_bps: {flows} flows x {scenario.min_rate_bps:g} bit/s = "
                f"{flows * scenario.min_rate_bps:g} bit/s exceed the link of host {host}, {rate:g} bit/s: "
                f"its queue cannot empty; {rate / flows:g} would do"
            )


def _marking_warnings(scenario: ScenarioFields, network: Network) -> Iterator[str]:
    """Warns of marking thresholds above the buffer, which no queue reaches."""
    ecn = scenario.switch.ecn
    if scenario.transport != "rdma" or ecn is None or ecn == "auto":
        return
    rate, buffer = fastest_port_bps(network), buffer_bytes(scenario, network)
    for key, comes_of_it in (
        ("kmin_bytes", "packets are lost or paused, and none is ever marked"),
        ("kmax_bytes", "no queue is so long that each packet is marked"),
    ):
        threshold = getattr(ecn, key) * rate / ecn.at_rate_bps
        if threshold > buffer:
            yield (
                f"switch.ecn.{key}: {threshold:g} B at a port of {rate / 1e9:g} Gb/s are more than "
                f"buffer_bytes, {buffer} B: {comes_of_it}; `ecn: auto` keeps kmax to half of a buffer"
            )
            return


def _window_warnings(scenario: ScenarioFields, network: Network) -> Iterator[str]:
    """Warns of TCP flows whose window the socket's buffer limits to less than the path's BDP."""
    if scenario.transport != "tcp":
        return
    buffer = scenario.tcp.socket_buffer_bytes
    links = [(link.rate_bps, link.delay_ns) for link in network.links]
    most = max(rate for rate, _ in links) * 2 * (MAX_PATH_SWITCHES + 1) * max(delay for _, delay in links)
    if most <= 8e9 * buffer:
        return
    flows = draw_flows(scenario, network)
    large = {
        (src, dst)
        for src, dst, size in zip(flows.src, flows.dst, flows.size_bytes, strict=True)
        if size > buffer or size == ENDLESS_BYTES
    }
    sources = sorted({src for src, _ in large})[:_MOST_SOURCES]
    bdps = {src: network.bdps_from(src) for src in sources}
    large_paths = [(bdps[src][dst], -src, -dst) for src, dst in large if src in bdps]
    bdp, src, dst = max(large_paths, default=(0.0, 0, 0))
    if bdp > buffer:
        yield (
            f"tcp.socket_buffer_bytes: {buffer} B are less than the path from host {-src} to host {-dst} "
            f"holds, {bdp:.3g} B: a flow there uses {100 * buffer / bdp:.2g} % of it; {2 * bdp:.3g} would do"
        )


def _tie_warnings(scenario: ScenarioFields, network: Network) -> Iterator[str]:
    """Warns of equal streams over equal links: their packets always reach a switch in the same order."""
    fabric = [x.rate_bps for x in network.links if "switch" == network.nodes[x.a] == network.nodes[x.b]]
    together: dict[tuple[object, ...], list[ConstantRate]] = defaultdict(list)
    for stream in _streams(scenario.traffic):
        link, switch = network.access[stream.src], network.access_switch(stream.src)
        phase = phase_of(scenario, stream.fixed_phase_ns)
        first_ns = stream.start_ns + (phase or 0)
        together[stream.rate_bps, phase is None, first_ns, link.rate_bps, link.delay_ns, switch].append(
            stream
        )
    for (_, are_drawn, *_), streams in together.items():
        receivers = {stream.dst for stream in streams}
        sinks = [network.access[dst].rate_bps for dst in receivers if len(receivers) == 1]
        rate, hosts = streams[0].rate_bps, sorted({stream.src for stream in streams})
        if len(hosts) > 1 and rate * len(streams) > min([*fabric, *sinks], default=math.inf):
            yield (
                f"traffic: packets of the streams from hosts {', '.join(map(str, hosts))}, {rate:g} bit/s "
                f"each, reach switch {network.access_switch(hosts[0])} "
                + (
                    "at constant distances: their phases decide which loses most, and each seed has others"
                    if are_drawn
                    else "at the same instant, always in one order: one may lose for all, under every seed; "
                    "give each another phase_ns"
                )
            )


def _streams(traffic: TrafficKind) -> Iterator[ConstantRate]:
    """The streams of a traffic, and of the parts of a mix."""
    if isinstance(traffic, ConstantRate):
        yield traffic
    for part in traffic.parts if isinstance(traffic, Mix) else ():
        yield from _streams(part)


def transport_faults(scenario: ScenarioFields) -> list[str]:
    """Lists keys of the other transport, a line each."""
    foreign = other(scenario.transport)
    fields = type(scenario).model_fields
    faults = [
        f"{key}: is {SHOWN[foreign]}'s, and the transport is {scenario.transport}: {text}"
        for key, text in TRANSPORT_KEYS[foreign].items()
        if getattr(scenario, key) != fields[key].default
    ]
    if scenario.transport == "tcp" and scenario.clock.name == "per_notification":
        faults.append(
            "clock.name: 'per_notification' waits for feedback frames of switches, which TCP has not: "
            "'per_flow_rtt', 'per_ack' or 'synchronous'"
        )
    if scenario.transport == "tcp" and scenario.record.reordering:
        faults.append("record.reordering: is counted of RDMA's flows alone: leave it out")
    return faults + controllers_faults(scenario)


def controllers_faults(scenario: ScenarioFields) -> list[str]:
    """Controllers that only the other transport has; unknown names are reported by the simulator."""
    places = [(f"controllers.{i}", controller.name) for i, controller in enumerate(scenario.controllers)]
    places += [(f"groups.{name}.controller", x.controller or AGENT) for name, x in scenario.groups.items()]
    if not {name for _, name in places} - {AGENT, POLICY}:
        return []
    local_names = _controller_names(scenario.transport)
    strange = [(place, name) for place, name in places if name not in local_names]
    foreign = other(scenario.transport)
    foreign_names = _controller_names(foreign) if strange else []
    return [
        f"{place}: {name!r} is {SHOWN[foreign]}'s; {SHOWN[scenario.transport]}'s are {', '.join(local_names)}"
        + ("; RDMA and TCP are not mixed in one network" if place.startswith("groups") else "")
        for place, name in strange
        if name in foreign_names
    ]


def _controller_names(transport: Transport) -> list[str]:
    """Nothing if there is no such simulator: the code that needs it will report that."""
    try:
        return list_controllers(transport=transport)
    except SimulatorError:
        return []

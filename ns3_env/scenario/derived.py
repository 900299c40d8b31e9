# SPDX-License-Identifier: GPL-2.0-or-later
"""Derived values of a scenario: defaults that depend on its network and flows."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Literal

import numpy as np

from ns3_env.config.bounds import MAX_BUFFER_BYTES, MIN_RATE_BPS
from ns3_env.config.collector import paused_collector
from ns3_env.scenario.controllers import AGENT, POLICY, Controller
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.switch import Ecn
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import Flows, Group, Stream

MIB = 1 << 20
_PFC_FRAME_BYTES = 43
#: Bytes of a data packet's headers with the largest telemetry (HPCC's 42 B).
_MAX_HEADER_BYTES = 90
#: Receiving hosts from which parts are faster than a network as a whole (docs/large-networks.md).
_RECEIVERS_OF_PARTS = 128
_HOSTS_PER_THREAD = 64
#: Stream of random numbers of streams' phases.
_PHASES = 0x7068


def agent_ports(scenario: ScenarioFields, network: Network) -> list[tuple[int, int]]:
    """Switch and neighbour of each port under ``switch.ecn_agents``, in the order of their slots."""
    agents = scenario.switch.ecn_agents
    if agents is None:
        return []
    chosen = agents.ports
    ends = [pair for link in network.links for pair in ((link.a, link.b), (link.b, link.a))]
    ends = [(a, b) for a, b in ends if network.nodes[a] == "switch"]
    if chosen == "hosts":
        ends = [(a, b) for a, b in ends if network.nodes[b] == "host"]
    elif chosen != "all":
        ends = [pair for pair in ends if pair in chosen]
    return sorted(ends, key=lambda pair: pair[0])  # at a switch in the order of links, as its ports


def timing(scenario: ScenarioFields) -> Literal["exact", "published"]:
    return scenario.timing or ("published" if scenario.preset == "published" else "exact")


def headroom_frames(scenario: ScenarioFields) -> int:
    if scenario.switch.headroom_frames is not None:
        return scenario.switch.headroom_frames
    return 0 if scenario.preset == "published" else 2


def buffer_bytes(scenario: ScenarioFields, network: Network) -> int:
    if scenario.switch.buffer_bytes is not None:
        return scenario.switch.buffer_bytes
    fast = max(link.rate_bps for link in network.links) >= 100e9
    usual = (32 if fast else 16) * MIB
    needed = max(committed_bytes(scenario, network).values(), default=0.0)
    return usual if needed < usual else enough_bytes(needed)


def enough_bytes(needed: float) -> int:
    """A buffer of which half is left after reserves and headrooms, in whole MiB, at most the largest."""
    return min(math.ceil(2 * needed / MIB) * MIB, MAX_BUFFER_BYTES)


def keeps_headroom(scenario: ScenarioFields) -> bool:
    """Returns whether ports keep headroom: with PFC, and always in the published simulator."""
    return has_pfc(scenario) or timing(scenario) == "published"


def frame_bytes(scenario: ScenarioFields) -> int:
    """Bytes of a full data frame with the largest telemetry."""
    return scenario.payload_bytes + _MAX_HEADER_BYTES


def committed_bytes(scenario: ScenarioFields, network: Network) -> dict[int, float]:
    """Bytes of reserves and headrooms (3 x rate x delay and some frames) by switch."""
    frames, needed = headroom_frames(scenario) * frame_bytes(scenario), dict[int, float]()
    each: dict[tuple[float, int], float] = {}
    for link in network.links:
        kind = link.rate_bps, link.delay_ns
        if kind not in each:
            headroom = 3 * link.rate_bps * link.delay_ns / 8e9 + frames
            each[kind] = accounts_bytes(scenario, headroom * keeps_headroom(scenario))
        for end in (link.a, link.b):
            if network.nodes[end] == "switch":
                needed[end] = needed.get(end, 0.0) + each[kind]
    return needed


def has_pfc(scenario: ScenarioFields) -> bool:
    """Returns whether ports pause each other, in one class at least."""
    pfc = scenario.switch.pfc
    return any(pfc if x.pfc is None else x.pfc for x in scenario.classes) if scenario.classes else pfc


def accounts_bytes(scenario: ScenarioFields, headroom: float) -> float:
    """Bytes that an ingress port keeps of a buffer: a reserve of each class, and this headroom of each with
    PFC."""
    reserve = scenario.switch.reserve_bytes
    if not scenario.classes:
        return headroom + reserve
    more = headroom + _PFC_FRAME_BYTES * len(scenario.classes) if headroom else 0
    pfc = scenario.switch.pfc
    with_pfc = sum(pfc if x.pfc is None else x.pfc for x in scenario.classes)
    return reserve * len(scenario.classes) + more * with_pfc


def most_kmax_bytes(scenario: ScenarioFields, network: Network, ecn: Ecn) -> float | None:
    """Returns the largest kmax of any port; None if it is less at the fastest one.

    By ``auto`` half of the buffer: the other half absorbs the packets that arrive until senders react to the
    mark. Thresholds in the scenario are used unchanged, and published timing keeps the published ones.
    """
    if scenario.switch.ecn != "auto" or timing(scenario) == "published":
        return None
    half = buffer_bytes(scenario, network) / 2
    return half if ecn.kmax_bytes * fastest_port_bps(network) / ecn.at_rate_bps > half else None


def fastest_port_bps(network: Network) -> float:
    """Rate of the fastest link of a switch, bit/s; 0 if there is no switch."""
    switched = (link for link in network.links if "switch" in (network.nodes[link.a], network.nodes[link.b]))
    return max((link.rate_bps for link in switched), default=0.0)


def min_rate_bps(scenario: ScenarioFields, network: Network) -> float | None:
    """Minimum rate; None: the simulator's default, a hundredth of the host's rate, suits up to 100 flows."""
    if scenario.min_rate_bps is not None:
        return scenario.min_rate_bps
    needed: float | None = None
    host_rate = max(link.rate_bps for link in network.access.values())
    for host, flows in scenario.traffic.senders_at(network).items():
        share = network.access[host].rate_bps / flows
        if share < host_rate / 100:
            needed = share / 10 if needed is None else min(needed, share / 10)
    return None if needed is None else max(needed, MIN_RATE_BPS)


def draw_flows(scenario: ScenarioFields, network: Network) -> Flows:
    """The flows under the scenario's seed, not to be changed: later calls return the same object."""
    for traffic, topology, seed, flows in tuple(_DRAWN):
        if traffic is scenario.traffic and topology is scenario.topology and seed == scenario.seed:
            return flows
    with paused_collector():
        flows = scenario.traffic.draw(network, np.random.default_rng(scenario.seed))
        if network.cards:
            flows = between_cards(flows, network)
    _DRAWN.append((scenario.traffic, scenario.topology, scenario.seed, flows))
    return flows


def between_cards(flows: Flows, network: Network) -> Flows:
    """The same flows, each between two cards of its hosts, in turn if several pairs are equally near.

    Raises ScenarioError if no two hosts reach each other.
    """
    pairs = list(zip(flows.src, flows.dst, strict=True))
    turns = {}
    for pair in dict.fromkeys(pairs):
        ways = network.ways_between(*pair)
        first = sum(pair) % len(ways)
        turns[pair] = cycle(ways[first:] + ways[:first])
    ends = list(map(next, map(turns.__getitem__, pairs)))
    streams = []
    for stream in flows.streams:
        src, dst = network.ways_between(stream.src, stream.dst)[0]
        streams.append(stream._replace(src=src, dst=dst))
    return replace(flows, src=[src for src, _ in ends], dst=[dst for _, dst in ends], streams=streams)


#: The last draw: traffic, topology, seed, flows.
_DRAWN: deque[tuple[object, object, int, Flows]] = deque(maxlen=1)


def played_controllers(scenario: ScenarioFields) -> list[Controller]:
    """Returns the controllers of the scenario, and then an entry for each group that has a controller or
    its own attributes.

    A group's controller has the attributes that the scenario gives to one of its name, its own before them.
    """
    group_controllers = []
    for group in own_controllers(scenario).values():
        base = scenario.controllers[0]
        if group.controller is not None:
            matches = (x for x in scenario.controllers if x.name == group.controller)
            base = next(matches, Controller(name=group.controller))
        attributes = {**base.attributes, **group.attributes}
        group_controllers.append(base.model_copy(update={"attributes": attributes}))
    return [*scenario.controllers, *group_controllers]


def own_controllers(scenario: ScenarioFields) -> dict[str, Group]:
    """The groups with their own controller or attributes, in the order in which they are simulated."""
    return {name: x for name, x in scenario.groups.items() if x.controller is not None or x.attributes}


def class_indices(scenario: ScenarioFields, groups: Iterable[str | None]) -> list[int]:
    """The class of each flow, by the names of their groups; the last one by default."""
    index = {traffic_class.name: i for i, traffic_class in enumerate(scenario.classes)}
    of_group = {name: index.get(x.traffic_class or "", len(index) - 1) for name, x in scenario.groups.items()}
    return [len(index) - 1 if name is None else of_group[name] for name in groups]


def controller_indices(scenario: ScenarioFields, flows: Flows) -> list[int]:
    """Each flow's controller, as an index of ``played_controllers``."""
    index = {controller.name: i for i, controller in enumerate(scenario.controllers)}
    of_group = {name: len(index) + i for i, name in enumerate(own_controllers(scenario))}
    policy = AGENT if AGENT in index else POLICY
    default = 0
    chosen: set[int] = set()
    if scenario.controlled_flows is not None:
        chosen = set(scenario.controlled_flows)
        default = next((i for name, i in index.items() if name != policy), index[policy])
    result = []
    for flow, (name, group) in enumerate(zip(flows.controller, flows.group, strict=True)):
        if name is not None:
            result.append(index[name])
        elif group is not None and group in of_group:
            result.append(of_group[group])
        else:
            result.append(index[policy] if flow in chosen else default)
    return result


def thread_count(scenario: ScenarioFields, network: Network, flows: Flows) -> int | None:
    """Threads of a network in parts; None of one that is simulated as a whole.

    ``auto`` is one for each core, but for each 64 hosts at most: fewer give a thread too little to do.
    ``by_size`` chooses parts where they change only the order of simultaneous events and the random numbers:
    the start of a flow that waits for another one, and an agent's decision, would be delayed.
    """
    match scenario.simulator.threads:
        case "auto":
            return max(1, min(len(os.sched_getaffinity(0)), len(network.access) // _HOSTS_PER_THREAD))
        case "by_size":
            if len(network.access) < _RECEIVERS_OF_PARTS or flows.tasks or scenario.switch.ecn_agents:
                return None
            if any(controller.name == AGENT for controller in played_controllers(scenario)):
                return None
            receivers = {*flows.dst, *(stream.dst for stream in flows.streams)}
            return 1 if len(receivers) >= _RECEIVERS_OF_PARTS else None
        case threads:
            return threads


def phase_of(scenario: ScenarioFields, fixed_ns: int | None) -> int | None:
    """A stream's phase, ns; None if it is drawn from the seed, which the preset published does not."""
    return 0 if fixed_ns is None and scenario.preset == "published" else fixed_ns


def in_phase(scenario: ScenarioFields, streams: Sequence[Stream]) -> list[Stream]:
    """The streams from their first packets on: equal ones are out of step, and every seed has them otherwise.

    In step, packets of two of them would reach a switch at the same instant, always in one order.
    """
    payload = scenario.tcp.payload_bytes if scenario.transport == "tcp" else scenario.payload_bytes
    random = np.random.default_rng((_PHASES, scenario.seed))
    shifted = []
    for stream in streams:
        phase = phase_of(scenario, stream.phase_ns)
        if phase is None:
            share, gap_ns = random.random(), 8e9 * payload / stream.rate_bps
            left_ns = math.inf if stream.stop_ns is None else stream.stop_ns - stream.start_ns - 1
            phase = int(share * min(gap_ns, left_ns))
        shifted.append(stream._replace(start_ns=stream.start_ns + phase))
    return shifted

# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario as JSON for the simulator, with its network built and its flows drawn.

Also reports the simulator's complaints in the user's words: with the file, and the key as written there.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ns3_env._native import json_of
from ns3_env.errors import ScenarioError, ScenarioWarning, SimulatorError
from ns3_env.programs.executable import describe_controllers
from ns3_env.programs.transport import Transport
from ns3_env.scenario.checks import controllers_faults, declared_faults
from ns3_env.scenario.classes import class_sections
from ns3_env.scenario.controllers import AGENT
from ns3_env.scenario.declared import (
    CONGESTION_POINTS,
    HOST_QUEUE_MARKING,
    MARKING,
    QUEUE_MARKING,
    SCHEDULING,
)
from ns3_env.scenario.derived import (
    agent_ports,
    buffer_bytes,
    class_indices,
    controller_indices,
    draw_flows,
    fastest_port_bps,
    headroom_frames,
    in_phase,
    min_rate_bps,
    most_kmax_bytes,
    own_controllers,
    played_controllers,
    thread_count,
    timing,
)
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.paths import are_drawn, balancing_content, link_rate_rows
from ns3_env.scenario.reliability import Nic, SelectiveRepeat, corruption_rows
from ns3_env.scenario.tcp_queue import Tcp, Threshold
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import Flows, Stream

#: Keys of a switch that are written only if they are on, so that other scenarios keep their text and hash.
_OFF_BY_DEFAULT = ("pfc_watchdog", "trimming")


def rdma_sections(scenario: ScenarioFields, network: Network, controllers: list[int]) -> dict[str, Any]:
    """RDMA's keys; ``controllers``: each flow's, as an index."""
    points, ecn = CONGESTION_POINTS.of(scenario, controllers), MARKING.of(scenario, controllers)
    if scenario.classes:
        points, ecn = None, None  # each class has its own
    marking = None
    if ecn is not None:
        most = most_kmax_bytes(scenario, network, ecn)
        marking = {**ecn.model_dump(), **({} if most is None else {"most_kmax_bytes": most})}
    unused = [key for key in _OFF_BY_DEFAULT if not getattr(scenario.switch, key)]
    content: dict[str, Any] = {
        "timing": timing(scenario),
        "payload_bytes": scenario.payload_bytes,
        "priority_group": next(iter(scenario.traffic.priority_groups())),
        "switch": {
            **scenario.switch.model_dump(exclude={"ecn_agents", *unused}),
            "buffer_bytes": buffer_bytes(scenario, network),
            "headroom_frames": headroom_frames(scenario),
            "ecn": marking,
            "congestion_points": None if points is None else points.model_dump(),
            "scheduling": SCHEDULING.of(scenario, controllers) or "fifo",
        },
        "retransmission_timeout_ns": scenario.retransmission_timeout_ns,
    }
    if (agents := scenario.switch.ecn_agents) is not None:
        ports = sorted(set(agent_ports(scenario, network)))
        content["switch"]["ecn_agents"] = {"interval_ns": agents.interval_ns, "ports": ports}
    if isinstance(scenario.recovery, SelectiveRepeat):
        content["selective_repeat"] = scenario.recovery.model_dump(exclude={"kind"})
    if scenario.nic != Nic():
        content["nic"] = scenario.nic.model_dump()
    if (balancing := balancing_content(scenario.load_balancing)) is not None:
        content["load_balancing"] = balancing
    min_rate = min_rate_bps(scenario, network)
    if min_rate is not None:
        content["min_rate_bps"] = min_rate
    return content


def tcp_sections(scenario: ScenarioFields, network: Network, controllers: list[int]) -> dict[str, Any]:
    """TCP's keys; ``controllers``: each flow's, as an index."""
    tcp = resolved(scenario, controllers)
    _warn_of_thresholds(scenario, tcp, network)
    section = tcp.model_dump(exclude={"mtu_bytes", "queue", "host_queue"})
    section["queue"] = tcp.queue.content
    if tcp.ack_noise is None:
        del section["ack_noise"]  # the simulator's own default
    section["host_queue"] = None if tcp.host_queue is None else tcp.host_queue.content
    return {"transport": "tcp", "payload_bytes": tcp.payload_bytes, "tcp": section}


def _warn_of_thresholds(scenario: ScenarioFields, tcp: Tcp, network: Network) -> None:
    """Warns of thresholds above a queue's capacity: such a queue drops and never marks."""
    marking, limit = tcp.queue.marking, tcp.queue.limit
    packets = {"packets": limit.amount, "bytes": limit.amount / tcp.mtu_bytes, "bdps": math.inf}[limit.unit]
    if not isinstance(marking, Threshold):
        return
    rate = fastest_port_bps(network)
    threshold = marking.packets_at(rate)
    if packets <= threshold < math.inf:
        warnings.warn(
            (f"{scenario.source}: " if scenario.source else "")
            + f"tcp.queue.limit: {limit.text()} are full before the threshold of a port of {rate / 1e9:g} "
            f"Gb/s, {threshold:g} packets: it drops and never marks; {2 * threshold:g} packets would do",
            ScenarioWarning,
            stacklevel=2,
        )


def resolved(scenario: ScenarioFields, controllers: list[int]) -> Tcp:
    """The section ``tcp`` with the declarations of the flows' controllers instead of ``auto``."""
    queues = {"queue": QUEUE_MARKING, "host_queue": HOST_QUEUE_MARKING}
    update = {
        name: queue.model_copy(update={"marking": declared.of(scenario, controllers)})
        for name, declared in queues.items()
        if (queue := getattr(scenario.tcp, name)) is not None
    }
    return scenario.tcp.model_copy(update=update)


#: Sections that only one transport's simulator reads.
_SECTIONS: dict[Transport, Callable[[ScenarioFields, Network, list[int]], dict[str, Any]]] = {
    "rdma": rdma_sections,
    "tcp": tcp_sections,
}


def simulator_json(scenario: ScenarioFields) -> dict[str, Any]:
    """Returns the input of the transport's simulator. Traffic is drawn from the scenario's seed."""
    network = scenario.topology.build()
    flows = draw_flows(scenario, network)
    controllers = controller_indices(scenario, flows)
    fixed = _fixed(scenario, network, flows, controllers)
    return {**fixed, **_draw_content(scenario, network, flows, controllers)}


def simulator_text(scenario: ScenarioFields) -> str:
    """The same as JSON's text; scenarios that differ only in their seed share all other parts."""
    parts = tuple(value for key, value in scenario.__dict__.items() if key != "seed")
    cached_parts = _WRITTEN_PARTS.get(tuple(map(id, parts)))
    if cached_parts is None:
        cached_parts = _Parts(parts, scenario.topology.build())
        _WRITTEN_PARTS[tuple(map(id, parts))] = cached_parts
        if len(_WRITTEN_PARTS) > _MOST_PARTS:
            del _WRITTEN_PARTS[next(iter(_WRITTEN_PARTS))]
    flows = draw_flows(scenario, cached_parts.network)
    controllers = controller_indices(scenario, flows)
    text = cached_parts.text(scenario, flows, controllers)
    return f"{_dumped(_draw_content(scenario, cached_parts.network, flows, controllers))[:-1]},{text[1:]}"


def _dumped(content: Any) -> str:
    """JSON without spaces; long lists of whole numbers are written natively."""
    if _is_long(content):
        if isinstance(content, dict):
            pairs = (f"{json.dumps(name)}:{_dumped(value)}" for name, value in content.items())
            return f"{{{','.join(pairs)}}}"
        with suppress(TypeError):
            return json_of(content)
    return json.dumps(content, separators=(",", ":"))


def _is_long(content: Any) -> bool:
    if isinstance(content, dict):
        return any(map(_is_long, content.values()))
    return isinstance(content, list) and len(content) > _MOST_SHORT


@dataclass
class _Parts:
    """Parts of a scenario without its seed, kept alive so that their ids stay valid."""

    parts: tuple[Any, ...]
    network: Network
    #: By the controllers that flows are under, and their groups: the simulators' declarations of them,
    #: and the text.
    texts: dict[tuple[tuple[int, str | None], ...], tuple[object, str]] = field(default_factory=dict)

    def text(self, scenario: ScenarioFields, flows: Flows, controllers: list[int]) -> str:
        """Parts that do not depend on the seed, as JSON; ``controllers``: each flow's, as an index."""
        pairs = set(zip(controllers, flows.group, strict=True))
        under = tuple(sorted(pairs, key=lambda pair: (pair[0], pair[1] or "")))
        try:
            declared: object = describe_controllers(transport=scenario.transport)
        except SimulatorError:
            declared = object()  # never the same
        previous, text = self.texts.get(under, (None, ""))
        if previous is not declared:
            text = _dumped(_fixed(scenario, self.network, flows, controllers))
            self.texts[under] = declared, text
        return text


_WRITTEN_PARTS: dict[tuple[int, ...], _Parts] = {}
_MOST_PARTS = 16
#: Entries of a list that Python's encoder writes as fast.
_MOST_SHORT = 256


def _draw_content(
    scenario: ScenarioFields, network: Network, flows: Flows, controllers: list[int]
) -> dict[str, Any]:
    """Draws the parts that depend on the seed; ``controllers``: each flow's, as an index."""
    agents, slot = [x.name == AGENT for x in played_controllers(scenario)], count()
    slots = [next(slot) if agents[index] else -1 for index in controllers]
    content: dict[str, Any] = {
        "seed": scenario.seed,
        "flows": {
            "src": flows.src.copy(),
            "dst": flows.dst.copy(),
            "size_bytes": flows.size_bytes.copy(),
            "start_ns": flows.start_ns.copy(),
            "controller": controllers,
            "slot": slots,
        },
    }
    if scenario.transport == "rdma" and (threads := thread_count(scenario, network, flows)):
        content["threads"] = threads
    limit = scenario.time_limit_ns
    if are_drawn(scenario.link_rates):
        content["link_rates"] = link_rate_rows(scenario.link_rates, network, scenario.seed, limit)
    if scenario.failures is not None:
        content["failures"] = scenario.failures.content(network, scenario.seed, limit)
    if streams := flows.streams:
        content["streams"] = {
            name: [-1 if value is None else value for value in column]
            for name, column in zip(
                Stream._fields, zip(*in_phase(scenario, streams), strict=True), strict=True
            )
            if name not in ("phase_ns", "group")
        }
    if flows.tasks:
        content["dependencies"] = flows.tasks.content(len(flows))
    if scenario.groups:
        number = {name: i for i, name in enumerate(scenario.groups)}
        content["groups"] = list(number)
        content["flows"]["group"] = [-1 if name is None else number[name] for name in flows.group]
    if scenario.classes:
        content["flows"]["class"] = class_indices(scenario, flows.group)
        if streams:
            content["streams"]["class"] = class_indices(scenario, (x.group for x in streams))
    return content


def _fixed(
    scenario: ScenarioFields, network: Network, flows: Flows, controllers: list[int]
) -> dict[str, Any]:
    """Parts that do not depend on the seed, but on the controllers and groups of flows."""
    faults = controllers_faults(scenario) or declared_faults(scenario, lambda: flows, lambda: controllers)
    if faults:
        place = _place(scenario)
        raise ScenarioError("\n".join(place + fault for fault in faults))
    content: dict[str, Any] = {
        "time_limit_ns": scenario.time_limit_ns,
        "nodes": network.simulator_kinds,
        "links": [vars(link) for link in network.links],
        "loss": {"probability": scenario.loss_probability},
        "controllers": [
            {"name": controller.name, "attributes": {k: _text(v) for k, v in controller.attributes.items()}}
            for controller in played_controllers(scenario)
        ],
        "clock": scenario.clock.model_dump(),
        "decision_quantum_ns": scenario.decision_quantum_ns,
        "record": scenario.record.model_dump(exclude={"reordering", "film_ns"}),
    }
    if network.cards:
        hosts = {card: host for host, (_, *cards) in network.cards.items() for card in cards}
        content["cards"] = {"node": list(hosts), "host": list(hosts.values())}
    if scenario.link_rates and not are_drawn(scenario.link_rates):
        content["link_rates"] = link_rate_rows(
            scenario.link_rates, network, scenario.seed, scenario.time_limit_ns
        )
    if scenario.corruption:
        content["loss"]["links"] = corruption_rows(scenario.corruption, network)
    if scenario.record.reordering or isinstance(scenario.recovery, SelectiveRepeat):
        content["record"]["reordering"] = True
    if scenario.record.film_ns:
        content["record"]["film_ns"] = scenario.record.film_ns
    if (span := scenario.measured_ns()) is not None:
        content["record"]["measurement"] = {"begin_ns": span[0], "end_ns": span[1]}
    if scenario.classes:
        content["classes"] = class_sections(scenario, network, flows, controllers)
    return {**content, **_SECTIONS[scenario.transport](scenario, network, controllers)}


#: A key of the simulator's JSON, quoted and first, and the complaint about it.
_REFUSED = re.compile(r"'([^']+)':? (.+)", re.DOTALL)


#: Keys of that JSON whose content the simulator knows under another name than a scenario.
_WRITTEN = {"nodes": "topology", "links": "topology", "flows": "traffic", "streams": "traffic"}


def refusal(scenario: ScenarioFields, text: str) -> str:
    """Describes the simulator's complaint: ``FILE: KEY: FAULT``.

    Args:
        scenario: the scenario that it refuses.
        text: its message, which starts with the key of its JSON if there is one.
    """
    match = _REFUSED.fullmatch(text)
    if match is None:
        return _place(scenario) + text
    key, rest = re.sub(r"\[(\d+)\]", r".\1", match[1]), match[2]
    first = key.partition(".")[0]
    if first == "controllers":
        key = _controllers_key(scenario, key)
    elif first == "loss":
        key = "corruption" if key.startswith("loss.links") else "loss_probability"
    elif first == "selective_repeat":
        key = key.replace(first, "recovery", 1)
    elif key == "payload_bytes" and scenario.transport == "tcp":
        key = "tcp.mtu_bytes"
    return f"{_place(scenario)}{_WRITTEN.get(first, key)}: {rest}"


def _controllers_key(scenario: ScenarioFields, key: str) -> str:
    """Key as the file has it; of a controller or an attribute that the command line brought,
    NAME.ATTRIBUTE."""
    _, number, section, attribute = (*key.split(".", 3), "", "", "")[:4]
    if not number:
        return key
    player = played_controllers(scenario)[int(number)]
    if int(number) >= len(scenario.controllers):
        return _groups_key(scenario, int(number), section, attribute)
    for i, controller in enumerate(scenario.given_controllers):
        if controller.name == player.name and controller.attributes.get(attribute) == player.attributes.get(
            attribute
        ):
            return ".".join(filter(None, ("controllers", str(i), section, attribute)))
    return ".".join(filter(None, (player.name, attribute)))


def _groups_key(scenario: ScenarioFields, number: int, section: str, attribute: str) -> str:
    """Key of the controller of a group, which follows the scenario's own."""
    group_names = list(own_controllers(scenario))
    key = "controller" if section == "name" else section
    return ".".join(filter(None, ("groups", group_names[number - len(scenario.controllers)], key, attribute)))


def _place(scenario: ScenarioFields) -> str:
    return f"{scenario.source}: " if scenario.source else ""


def _text(value: bool | int | float | str) -> str:
    """An attribute's value as ns-3 reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

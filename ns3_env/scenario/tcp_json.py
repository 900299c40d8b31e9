# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON sections that only the TCP simulator reads: sockets, segments and queues."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.declared import HOST_QUEUE_MARKING, QUEUE_MARKING
from ns3_env.scenario.derived import fastest_port_bps
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.tcp import Tcp
from ns3_env.scenario.tcp_queue import Queue, RedMarking, Threshold
from ns3_env.scenario.topology import Network


def tcp_sections(scenario: ScenarioFields, network: Network, controllers: list[int]) -> dict[str, Any]:
    """TCP's keys; ``controllers``: each flow's, as an index."""
    tcp = resolved(scenario, controllers)
    _warn_of_thresholds(scenario, tcp, network)
    own = tcp.model_dump(exclude={"mtu_bytes", "queue", "host_queue"})
    own["queue"] = _content(tcp.queue)
    own["host_queue"] = None if tcp.host_queue is None else _content(tcp.host_queue)
    return {"transport": "tcp", "payload_bytes": tcp.payload_bytes, "tcp": own}


def _warn_of_thresholds(scenario: ScenarioFields, tcp: Tcp, network: Network) -> None:
    """A queue that is full before it is as long as its threshold marks nothing, and drops instead."""
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
    """The section ``tcp`` with what the flows' laws declare in the place of ``auto``."""
    tcp = scenario.tcp
    update: dict[str, Queue] = {
        "queue": _with_marking(tcp.queue, QUEUE_MARKING.of(scenario, controllers)),
    }
    if tcp.host_queue is not None:
        update["host_queue"] = _with_marking(tcp.host_queue, HOST_QUEUE_MARKING.of(scenario, controllers))
    return tcp.model_copy(update=update)


def _with_marking(queue: Queue, marking: Threshold | RedMarking | None) -> Queue:
    return queue.model_copy(update={"marking": marking})


def _content(queue: Queue) -> dict[str, Any]:
    marking = queue.marking
    assert marking != "auto"
    return {"limit": queue.limit.content, "marking": None if marking is None else marking.content}

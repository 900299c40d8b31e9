# SPDX-License-Identifier: GPL-2.0-or-later
"""Open-loop runs: windows by a schedule, written across the channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ns3_env.eval.paper.mpcc.model import Bottleneck, Floats
from ns3_env.scenario import AGENT, Controller, Record, Scenario, Switch, Synchronous
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import DecisionBatch, Simulator
from ns3_env.task.observations import column

SENDERS = 4
RATE_BPS = 1e9
#: A window that never binds, bytes.
NO_WINDOW = 1e12
#: More than any of these runs can send, bytes.
_ENDLESS = 10**12
#: Tells neither what a queue at line rate may grow to nor when PFC would stop it.
_ROOM = 1 << 30


@dataclass(frozen=True)
class Response:
    """Queues over time; time 0 is when the senders begin.

    Attributes:
        times_ns: (n,).
        switch_bytes: (n,) at the bottleneck's egress port.
        seen_ns: (m,) when sender 0 was asked.
        seen_bytes: (m,) the queue in the telemetry of its last ACK; 0 before the first.
        bottleneck: with the BDP that the simulator computes for the path.
    """

    times_ns: Floats
    switch_bytes: Floats
    seen_ns: Floats
    seen_bytes: Floats
    bottleneck: Bottleneck


def scenario(delay_ns: int, interval_ns: int, until_ns: int, sample_ns: int) -> Scenario:
    """Four endless flows over a dumbbell of 1 Gb/s links (Zheng 2024, Fig. 3.1), asked every ``interval_ns``.

    They start a nanosecond before the first question, so that the first answer rules from the first packet
    on. No PFC, and no telemetry on the wire: neither is in the model.

    Args:
        delay_ns: of each link.
        interval_ns: between two questions.
        until_ns: end, counted from the first question.
        sample_ns: interval of the queue's samples.
    """
    start = interval_ns - 1
    return Scenario(
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS, delay_ns=delay_ns),
        traffic=FlowList(
            flows=[Flow(src=i, dst=SENDERS, size_bytes=_ENDLESS, start_ns=start) for i in range(SENDERS)]
        ),
        switch=Switch(pfc=False, buffer_bytes=_ROOM, ecn=None),
        controllers=[Controller(name=AGENT, attributes={"TelemetryBytes": 0, "InitialWindow": False})],
        clock=Synchronous(interval_ns=interval_ns),
        retransmission_timeout_ns=10**12,  # a queue of seconds is no loss
        time_limit_ns=interval_ns + until_ns,
        record=Record(queue_series_ns=sample_ns),
    )


def respond(simulator: Simulator, played: Scenario, window: Callable[[int, float], float]) -> Response:
    """Plays a scenario of :func:`scenario` under ``window``.

    Whatever the window, the senders send at line rate while it lets them; a window of 0 stops them.

    Args:
        simulator: plays it.
        played: the scenario.
        window: bytes, of the question's number (0, 1, ...) and the path's BDP (bytes).

    Raises:
        SimulatorError: the simulator failed.
    """
    assert isinstance(played.clock, Synchronous)
    origin = played.clock.interval_ns
    seen: list[tuple[float, float]] = []
    bdp = float("nan")
    simulator.send_reset(played)
    while isinstance(message := simulator.receive(), DecisionBatch):
        records = message.records[message.due]
        if len(records):
            number = round(message.time_ns / origin) - 1
            bdp = float(column(records, "bdp_bytes")[0])
            seen.append((message.time_ns - origin, float(column(records, "state_queue_bytes")[0])))
        actions = np.zeros((len(records), 3))
        if len(records):
            actions[:] = window(number, bdp), RATE_BPS, 0.0
        simulator.send_actions(actions)
    series = bottleneck_port(message.results)["series"]
    moments = np.array(seen).reshape(-1, 2)
    return Response(
        np.asarray(series["t_ns"], dtype=np.float64) - origin,
        np.asarray(series["bytes"], dtype=np.float64),
        moments[:, 0],
        moments[:, 1],
        Bottleneck(SENDERS, RATE_BPS, RATE_BPS, bdp),
    )


def bottleneck_port(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """The port between the dumbbell's switches: switch 1's egress queue in the thesis (Fig. 3.1)."""
    port: Mapping[str, Any] = next(
        queue for queue in results["queues"] if (queue["node"], queue["port"]) == BOTTLENECK
    )
    return port


#: (node, port) of it: hosts come first, then switch 1, whose ports are in the order of its links.
BOTTLENECK = (SENDERS + 1, SENDERS)

# SPDX-License-Identifier: GPL-2.0-or-later
"""What does it cost to ask MPCC across the channel? The same decisions, in the simulator and from Python."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from agents.mpcc import MpccPolicy
from agents.policy import State
from ns3_env.actions import AbsoluteWindow
from ns3_env.scenario import AGENT, Controller, PerAck, Record, Scenario
from ns3_env.simulator import Decisions, Simulator
from ns3_env.telemetry import column
from ns3_env.topology import Dumbbell
from ns3_env.traffic import Incast

#: The controller that each placement gives the flows; both send packets of the same length.
PLACEMENTS = {
    "simulator": Controller(name="mpcc"),
    "channel": Controller(name=AGENT, attributes={"TelemetryBytes": 32}),
}


def incast(
    placement: str, senders: int = 4, size_bytes: int = 500_000, record: Record | None = None
) -> Scenario:
    """An incast whose flows decide on every ACK. Raises KeyError for an unknown placement."""
    return Scenario(
        seed=3,
        topology=Dumbbell(senders=senders),
        traffic=Incast(size_bytes=size_bytes, spread_ns=5_000),
        controllers=[PLACEMENTS[placement]],
        clock=PerAck(),
        time_limit_ns=100_000_000,
        record=record or Record(queues=False),
    )


def play_placed(simulator: Simulator, scenario: Scenario) -> tuple[dict[str, Any], int]:
    """Results, and the number of decisions, wherever they were made. Raises SimulatorError."""
    if scenario.controllers[0].name != AGENT:
        results = simulator.play(scenario)
        return results, int(results["counters"]["mpcc_decisions"])
    policy, to_action = MpccPolicy(), AbsoluteWindow()
    states: dict[int, State | None] = {}
    decisions = 0
    simulator.send_reset(scenario)
    while isinstance(answer := simulator.receive(), Decisions):
        records = answer.records[answer.due]
        windows = np.empty((len(records), 1))
        for row, flow in enumerate(answer.flows[answer.due]):
            seen = np.stack([column(records[row : row + 1], name) for name in policy.fields], axis=1)
            windows[row], states[int(flow)] = policy.predict(seen, states.get(int(flow)))
        simulator.send_actions(to_action(windows, records))
        decisions += len(records)
    return answer.results, decisions


def decision_us(placement: str) -> float:
    """Wall microseconds per decision of an incast, packets included."""
    with Simulator() as simulator:
        play_placed(simulator, incast(placement, size_bytes=50_000))  # started and warm
        began = time.perf_counter()
        _, decisions = play_placed(simulator, incast(placement))
        return 1e6 * (time.perf_counter() - began) / decisions

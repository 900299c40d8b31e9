# SPDX-License-Identifier: GPL-2.0-or-later
"""Cost of MPCC's decisions by placement: inside the simulator, or across the channel from Python."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ns3_env.agents.baselines.mpcc import MpccPolicy
from ns3_env.envs.background_policy import BackgroundPolicy
from ns3_env.scenario import AGENT, Controller, PerAck, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import DecisionBatch, Simulator

#: The controller that each placement gives the flows; both send packets of the same length.
PLACEMENTS = {
    "simulator": Controller(name="mpcc"),
    "python": Controller(name=AGENT, attributes={"TelemetryBytes": 32}),
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
    companions = BackgroundPolicy(MpccPolicy())
    decisions = 0
    simulator.send_reset(scenario)
    while isinstance(answer := simulator.receive(), DecisionBatch):
        due = answer.due
        simulator.send_actions(companions.actions(answer.records[due], answer.flows[due]))
        decisions += int(np.count_nonzero(due))
    return answer.results, decisions


def decision_us(placement: str) -> float:
    """Wall microseconds per decision of an incast, packets included."""
    with Simulator() as simulator:
        play_placed(simulator, incast(placement, size_bytes=50_000))  # started and warm
        began = time.perf_counter()
        _, decisions = play_placed(simulator, incast(placement))
        return 1e6 * (time.perf_counter() - began) / decisions

# SPDX-License-Identifier: GPL-2.0-or-later
"""Does it matter where MPCC lives? In the simulator and across the channel it decides alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.mpcc import MpccPolicy
from agents.policy import State
from ns3_env.actions import AbsoluteWindow
from ns3_env.scenario import Controller, PerAck, Record, Scenario
from ns3_env.simulator import Decisions, Simulator
from ns3_env.telemetry import column
from ns3_env.topology import Dumbbell
from ns3_env.traffic import Incast


def incast(senders: int, controller: Controller) -> Scenario:
    return Scenario(
        seed=3,
        topology=Dumbbell(senders=senders),
        traffic=Incast(size_bytes=200_000, spread_ns=5_000),
        controllers=[controller],
        clock=PerAck(),
        time_limit_ns=100_000_000,
        record=Record(windows=True),
    )


def play_across_the_channel(scenario: Scenario) -> dict[str, Any]:
    policy, to_action = MpccPolicy(), AbsoluteWindow()
    states: dict[int, State | None] = {}
    with Simulator() as simulator:
        simulator.send_reset(scenario)
        while isinstance(answer := simulator.receive(), Decisions):
            records = answer.records[answer.due]
            windows = np.empty((len(records), 1))
            for row, flow in enumerate(answer.flows[answer.due]):
                seen = np.stack([column(records[row : row + 1], name) for name in policy.fields], axis=1)
                windows[row], states[int(flow)] = policy.predict(seen, states.get(int(flow)))
            simulator.send_actions(to_action(windows, records))
        return answer.results


@pytest.mark.parametrize("senders", [2, 4, 12, 32])
def test_both_placements_choose_the_same_windows_at_the_same_instants(senders: int) -> None:
    with Simulator() as simulator:
        simulator.send_reset(incast(senders, Controller(name="mpcc")))
        inside = simulator.receive()
    outside = play_across_the_channel(
        incast(senders, Controller(name="agent", attributes={"TelemetryBytes": 32}))
    )
    assert not isinstance(inside, Decisions)
    assert outside["flows"] == inside.results["flows"]
    by_instant = {(time, flow): window for time, flow, window, _ in inside.results["windows"]}
    shared = [
        (window, by_instant[time, flow])
        for time, flow, window, _ in outside["windows"]
        if (time, flow) in by_instant
    ]
    assert len(shared) > 0.9 * len(by_instant)
    mine, theirs = np.array(shared).T
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)

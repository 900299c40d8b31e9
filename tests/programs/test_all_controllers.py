# SPDX-License-Identifier: GPL-2.0-or-later
"""Incasts under every controller and under an agent, with all that can be recorded."""

import json
from typing import Any

import numpy as np
import pytest

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import AGENT, Clock, Controller, PerAck, PerFlowRtt, Record, Scenario, Synchronous
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator, list_controllers
from tests.samples.policy_files import needed_attributes

RTT = PerFlowRtt()
EVERYTHING = Record(
    queue_series_ns=1000, windows=True, events=True, controller_state=True, controller_counters=True
)


def incast(controller: str, *, clock: Clock = RTT, loss: float = 0.0) -> Scenario:
    return Scenario(
        time_limit_ns=2_000_000,
        topology=Dumbbell(senders=4),
        traffic=Incast(size_bytes=200_000, spread_ns=5000),
        controllers=[Controller(name=controller, attributes=dict(needed_attributes(controller)))],
        clock=clock,
        loss_probability=loss,
        record=EVERYTHING,
    )


@pytest.mark.parametrize("loss", [0.0, 0.01])
@pytest.mark.parametrize("controller", [name for name in list_controllers() if name != AGENT])
def test_a_controller_plays(controller: str, loss: float, simulator: Simulator) -> None:
    results = simulator.play(incast(controller, loss=loss))
    assert loss > 0 or results["totals"]["unfinished"] == 0
    json.dumps(results, allow_nan=False)


@pytest.mark.parametrize("clock", [RTT, Synchronous(interval_ns=5000), PerAck()], ids=lambda x: x.name)
def test_an_agent_plays(clock: Clock) -> None:
    with FlowStream(incast(AGENT, clock=clock), num_simulators=2, slots=4) as stream:
        stream.start()
        results: list[tuple[int, dict[str, Any]]] = []
        while len(results) < 4:
            batch = stream.recv()
            results += batch.results
            due = batch.slots[batch.due]
            stream.send(np.full((len(due), 1), 0.5), due)
        assert all(content["totals"]["unfinished"] == 0 for _, content in results)

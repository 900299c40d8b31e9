# SPDX-License-Identifier: GPL-2.0-or-later
"""Incasts under every controller and under an agent, with all that can be recorded."""

import json
from typing import Any

import numpy as np
import pytest

from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import AGENT, Clock, PerAck, PerFlowRtt, Record, Scenario, Synchronous
from ns3_env.simulator import Simulator, list_controllers
from tests.samples.policy_files import needed_attributes
from tests.samples.scenarios import incast

RTT = PerFlowRtt()
EVERYTHING = Record(
    queue_series_ns=1000, windows=True, events=True, controller_state=True, controller_counters=True
)


def recorded(name: str, **keys: Any) -> Scenario:
    controller = {"name": name, "attributes": needed_attributes(name)}
    return incast(4, 200_000, controller, 5000, time_limit_ns=2_000_000, record=EVERYTHING, **keys)


@pytest.mark.parametrize("loss", [0.0, 0.01])
@pytest.mark.parametrize("controller", [name for name in list_controllers() if name != AGENT])
def test_a_controller_plays(controller: str, loss: float, simulator: Simulator) -> None:
    results = simulator.play(recorded(controller, loss_probability=loss))
    assert loss > 0 or results["totals"]["unfinished"] == 0
    json.dumps(results, allow_nan=False)


@pytest.mark.parametrize("clock", [RTT, Synchronous(interval_ns=5000), PerAck()], ids=lambda x: x.name)
def test_an_agent_plays(clock: Clock) -> None:
    with FlowStream(recorded(AGENT, clock=clock.model_dump()), num_simulators=2, slots=4) as stream:
        stream.start()
        results: list[tuple[int, dict[str, Any]]] = []
        while len(results) < 4:
            batch = stream.recv()
            results += batch.results
            due = batch.slots[batch.due]
            stream.send(np.full((len(due), 1), 0.5), due)
        assert all(content["totals"]["unfinished"] == 0 for _, content in results)

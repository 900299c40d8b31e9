# SPDX-License-Identifier: GPL-2.0-or-later
"""The reward "sharing_gain" against processor sharing by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.decision.actions import LogarithmicWindow
from ns3_env.decision.observations import column
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import Scenario

TASK = Task(("remaining", "attained"), "sharing_gain", LogarithmicWindow())


def incast(sizes: list[int], starts: list[int], **changes: Any) -> Scenario:
    """Flows of these sizes (B) to one host, which start at these times (ns); all decide every 5 µs."""
    flows = [
        {"src": i, "dst": len(sizes), "size_bytes": size, "start_ns": start}
        for i, (size, start) in enumerate(zip(sizes, starts, strict=True))
    ]
    content = {
        "topology": {"kind": "dumbbell", "senders": len(sizes)},
        "traffic": {"kind": "list", "flows": flows},
        "controllers": ["agent"],
        "clock": {"name": "synchronous", "interval_ns": 5000},
        **changes,
    }
    return Scenario.from_mapping(content, "incast")


#: A row: its flow, its time (ns), the share of its flow's bytes that is left, its reward.
Rows = list[tuple[int, float, float, float]]


def played(scenario: Scenario, actions: NDArray[np.float64]) -> tuple[Rows, dict[str, Any]]:
    """Rows but the first ones, under one action (by flow) for good, and the episode's results."""
    rows: Rows = []
    with FlowStream(scenario, slots=8, task=TASK) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            remaining, attained = batch.observations.T.astype(float)
            decisions = zip(
                batch.flows.tolist(),
                column(batch.records, "time_ns").tolist(),
                (remaining / (remaining + attained)).tolist(),
                batch.rewards.tolist(),
                batch.first.tolist(),
                strict=True,
            )
            rows += [
                (flow, time, remaining, reward)
                for flow, time, remaining, reward, first in decisions
                if not first
            ]
            due = batch.slots[batch.due]
            stream.send(actions[batch.flows[batch.due]][:, None], due)
        return rows, batch.results[0][1]


def processor_sharing(remaining: NDArray[np.float64], ideal: NDArray[np.float64]) -> float:
    """Remaining cost of flows with these bytes left at 100 Gb/s, in packets of 1048 B."""
    alone = remaining * 1048 / 1000 * 8 / 100  # ns
    return float((np.minimum(alone, alone[:, None]).sum(1) / ideal).sum())


def test_the_gain_is_what_processor_sharing_would_have_cost_more() -> None:
    sizes = np.array([200_000, 400_000, 100_000])
    rows, results = played(incast(sizes.tolist(), [0, 0, 0]), np.array([1.0, 0.2, 0.6]))
    ideal = np.array(results["flows"]["standalone_ns"])
    ends = np.array(results["flows"]["fct_ns"], dtype=float)
    times = sorted({time for _, time, _, _ in rows})
    to_go = {time: np.zeros(3) for time in times}
    for flow, time, remaining, _ in rows:
        to_go[time][flow] = remaining * sizes[flow]
    ticks = [time for time in times if time % 5000 == 0]
    checked = 0
    for before, now in pairwise(ticks):
        lived = np.clip(np.minimum(ends, now) - before, 0, None)
        expected = processor_sharing(to_go[before], ideal) - processor_sharing(to_go[now], ideal)
        expected -= float((lived / ideal).sum())
        for flow, time, _, reward in rows:
            if time == now:
                assert reward == pytest.approx(expected / (flow + 1), abs=1e-5)  # there at its start
                checked += 1
    assert checked > 10


def test_a_short_flow_that_is_served_first_gains_and_an_idle_link_loses() -> None:
    sizes = [800_000, 800_000, 300_000]

    def gained(actions: list[float]) -> float:
        rows, _ = played(incast(sizes, [0, 0, 0]), np.array(actions))
        return sum(reward for flow, _, _, reward in rows if flow == 0)

    assert gained([0.8, 0.8, 1.0]) > gained([1.0, 1.0, 1.0]) > gained([0.0, 0.0, 0.0])


def test_a_flow_that_joins_is_nobodys_loss() -> None:
    alone, _ = played(incast([400_000], [0]), np.ones(1))
    joined, _ = played(incast([400_000, 400_000], [0, 12_000]), np.ones(2))
    before = sum(reward for _, time, _, reward in alone if time <= 20_000)
    with_it = sum(reward for flow, time, _, reward in joined if flow == 0 and time <= 20_000)
    # Both flows have most of their bytes left: by their expectation then, it would be a loss of nearly 3.
    assert abs(with_it - before) < 0.2

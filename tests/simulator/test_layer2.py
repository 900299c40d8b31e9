# SPDX-License-Identifier: GPL-2.0-or-later
"""Feedback frames of switches, and their use by QCN, BCN, SMCC and an agent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.decision.observations import column, wire_bytes
from ns3_env.scenario import PerNotification, Scenario, published_congestion_points
from ns3_env.simulator import DecisionBatch, Simulator

#: Three flows of a megabyte into 1 Gb/s.
INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 3, "rate_bps": 1e9},
    "traffic": {"kind": "incast", "size_bytes": 5_000_000},
    "time_limit_ns": 2_000_000_000,
}
TOLD = {"feedback": "both", "sample_bytes": 30_000, "adaptive_sampling": False}


def scenario(controller: str, **other: Any) -> Scenario:
    """The incast under a controller."""
    return Scenario.from_mapping({**INCAST, "controllers": [{"name": controller}], **other}, "x")


def points(scenario: Scenario) -> Any:
    """The congestion points in the simulator's JSON."""
    return scenario.to_simulator_json()["switch"]["congestion_points"]


def test_switches_give_feedback_where_the_flows_law_needs_it() -> None:
    declared = published_congestion_points()
    assert {"bcn", "qcn", "smcc"} == set(declared) - {"aimd"}
    for name, points_config in declared.items():
        assert points(scenario(name)) == points_config.model_dump()
    for name in ("agent", "dcqcn", "hpcc", "mpcc"):
        assert points(scenario(name)) is None


def test_what_a_scenario_says_of_feedback_comes_first() -> None:
    assert points(scenario("qcn", switch={"congestion_points": None})) is None
    point = points(scenario("hpcc", switch={"congestion_points": TOLD}))
    assert (point["feedback"], point["sample_bytes"], point["target_bytes"]) == ("both", 30_000, 64_000)


@pytest.mark.parametrize("controller", ["bcn", "qcn", "smcc"])
def test_a_law_of_layer_2_holds_the_queue_at_its_target_and_the_link_busy(
    controller: str, simulator: Simulator
) -> None:
    qcn_scenario = scenario(
        controller, traffic={"kind": "incast", "size_bytes": 10**12}, time_limit_ns=500_000_000
    )
    results = simulator.play(qcn_scenario)
    queue = max(results["queues"], key=lambda port: port["mean_bytes"])
    assert results["totals"]["notification_frames"] > 100
    assert queue["mean_bytes"] == pytest.approx(64_000, rel=0.25)
    busy = queue["tx_bytes"] * 8e9 / (results["totals"]["end_ns"] * queue["rate_bps"])
    assert busy > 0.9


def test_a_policy_decides_at_each_frame_and_sees_what_it_says() -> None:
    qcn_scenario = scenario("agent", clock=PerNotification(), switch={"congestion_points": TOLD})
    qcn_scenario.controllers[0].attributes["InitialWindow"] = False
    batches: list[np.ndarray] = []
    with Simulator() as simulator:
        simulator.send_reset(qcn_scenario)
        while isinstance(message := simulator.receive(), DecisionBatch):
            due = message.records[message.due]
            batches.append(due)
            rates = np.where(column(due, "notified_offset") > 0, 1e8, 5e8)
            simulator.send_actions(np.stack([np.full(len(due), 1e12), rates, np.zeros(len(due))], axis=1))
        totals = message.results["totals"]
    heard = (
        "notified_offset",
        "notified_delta",
        "notified_feedback",
        "notification_recency",
        "notifications",
    )
    assert wire_bytes(heard) == 0  # switches' frames add nothing to data packets
    rows = np.concatenate(batches)
    # Each frame is a decision, but for those that come to flows that have ended.
    assert totals["notification_frames"] - 5 <= len(rows) <= totals["notification_frames"]
    assert (column(rows, "notifications") == 1).all()
    assert (column(rows, "notification_recency") == 1).all()
    offset = column(rows, "notified_offset") * column(rows, "bdp_bytes")
    delta = column(rows, "notified_delta") * column(rows, "bdp_bytes")
    np.testing.assert_allclose(np.rint(offset / 64) * 64, offset, atol=1e-6)
    # −Fb in 63 levels of q0 (2 w + 1), of a queue before it was rounded to 64 B.
    level = 63 * np.clip((offset + 2 * delta) / (64_000 * 5), 0, 1)
    np.testing.assert_allclose(column(rows, "notified_feedback") * 63, level, atol=1.1)
    assert offset.min() < 0 < offset.max()

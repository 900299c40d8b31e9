# SPDX-License-Identifier: GPL-2.0-or-later
"""The reward "job_progress": all flows of a job together pay for the time in which it sends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ns3_env.decision.actions import LogarithmicWindow
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import Scenario

STAR = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 6}


def played(traffic: dict[str, Any], **changes: Any) -> tuple[dict[int, float], dict[str, Any]]:
    """Total reward of each flow under constant windows, and the episode's results."""
    content = {
        "topology": STAR,
        "traffic": traffic,
        "controllers": ["agent"],
        "clock": {"name": "synchronous", "interval_ns": 3000},
        **changes,
    }
    paid: dict[int, float] = {}
    task = Task(("remaining",), "job_progress", LogarithmicWindow())
    with FlowStream(Scenario.from_mapping(content, "x"), slots=64, task=task) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            for flow, reward in zip(batch.flows.tolist(), batch.rewards.tolist(), strict=True):
                paid[flow] = paid.get(flow, 0.0) + reward
            stream.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
        return paid, batch.results[0][1]


def covered(intervals: list[tuple[float, float]]) -> float:
    total, until = 0.0, -np.inf
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def test_equal_flows_of_a_job_pay_together_for_the_time_in_which_it_sends() -> None:
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 600_000, "compute_ns": 9000}
    paid, results = played({**ring, "ranks": [0, 1, 2, 3]})
    flows = results["flows"]
    sends = covered(list(zip(flows["start_ns"], flows["end_ns"], strict=True)))
    assert -sum(paid.values()) == pytest.approx(sends / flows["standalone_ns"][0], rel=1e-5)


def test_jobs_do_not_pay_for_each_other() -> None:
    ring = {"algorithm": "all_gather", "size_bytes": 600_000, "kind": "collective"}
    alone, _ = played({**ring, "ranks": [0, 1, 2]})
    parts = [{**ring, "ranks": [0, 1, 2]}, {**ring, "ranks": [3, 4, 5]}]
    both, _ = played({"kind": "mix", "parts": parts})
    assert [both[flow] for flow in alone] == pytest.approx(list(alone.values()), rel=1e-5)


def test_a_flow_of_no_job_pays_its_slowdown() -> None:
    listed = [{"src": i, "dst": 5, "size_bytes": 200_000 * (i + 1)} for i in range(3)]
    paid, results = played({"kind": "list", "flows": listed})
    flows = results["flows"]
    slowdowns = np.divide(flows["fct_ns"], flows["standalone_ns"])
    assert [-paid[flow] for flow in range(3)] == pytest.approx(slowdowns, rel=1e-5)


def test_a_flow_that_is_cut_pays_for_what_is_left() -> None:
    listed = [{"src": 0, "dst": 5, "size_bytes": 2_000_000}]
    paid, results = played({"kind": "list", "flows": listed}, time_limit_ns=100_000)
    flows = results["flows"]
    remaining = 1 - flows["acked_bytes"][0] / 2_000_000
    assert -paid[0] == pytest.approx(100_000 / flows["standalone_ns"][0] + remaining, rel=1e-5)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The field "shorter_backlog": bytes of flows with less left on a flow's path."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.decision.actions import MultiplicativeWindow
from ns3_env.decision.observations import column, wire_bytes
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import Scenario

SIZES = [400_000, 1_000_000, 3_000_000]


def records_of(fields: tuple[str, ...], others: str | None = None) -> dict[int, np.ndarray]:
    """Records of each flow between 60 and 100 µs, of three that share a link of 100 Gb/s."""
    flows = [
        {"src": i, "dst": 3, "size_bytes": size, "start_ns": 0}
        | ({"controller": others} if others is not None and i == 0 else {})
        for i, size in enumerate(SIZES)
    ]
    scenario = Scenario.from_mapping(
        {"topology": {"kind": "dumbbell", "senders": 3}, "traffic": {"kind": "list", "flows": flows}}
        | {"controllers": ["agent"] if others is None else ["agent", others]},
        "shorter",
    )
    rows: dict[int, list[np.ndarray]] = {}
    with FlowStream(scenario, slots=4, task=Task(fields, "slowdown", MultiplicativeWindow())) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            for flow, record in zip(batch.flows, batch.records, strict=True):
                rows.setdefault(int(flow), []).append(record.copy())
            stream.send(np.zeros((int(batch.due.sum()), 1)), batch.slots[batch.due])
    between = {}
    for flow, of_flow in rows.items():
        records = np.array(of_flow)
        times = column(records, "time_ns")
        between[flow] = records[(times > 6e4) & (times < 1e5)]
    return between


def test_a_flow_sees_what_shorter_ones_have_left_in_bdps_of_the_link() -> None:
    records = records_of(("shorter_backlog",))
    remaining = {flow: column(rows, "remaining").mean() for flow, rows in records.items()}
    backlogs = {flow: column(rows, "shorter_backlog").mean() for flow, rows in records.items()}
    assert backlogs[0] == 0.0
    assert backlogs[1] == pytest.approx(remaining[0], rel=0.25)  # of a base RTT before, while it shrinks
    assert backlogs[2] == pytest.approx(remaining[0] + remaining[1], rel=0.15)


def test_it_is_not_told_to_who_does_not_observe_it() -> None:
    records = records_of(("qlen",))
    assert all(column(rows, "shorter_backlog").max() == 0 for rows in records.values())


def test_flows_that_tell_nothing_do_not_count() -> None:
    records = records_of(("shorter_backlog",), others="dcqcn")
    assert column(records[1], "shorter_backlog").max() == 0
    assert column(records[2], "shorter_backlog").min() > 0


def test_it_costs_eight_bytes_for_what_is_left_and_what_is_ahead() -> None:
    assert wire_bytes(["qlen", "flow_count", "shorter_backlog"]) == wire_bytes(["qlen", "flow_count"]) + 8

# SPDX-License-Identifier: GPL-2.0-or-later
"""The field "fair_share" and actions that scale it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from ns3_env.decision.actions import FairShareWindow
from ns3_env.decision.observations import FIELDS, INDEX, column, wire_bytes
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.policies.header import PolicySpec
from ns3_env.scenario import Scenario

OBSERVED = ("fair_share", "qlen")


def records_under(answer: float, topology: dict[str, Any], flows: list[tuple[int, int]]) -> np.ndarray:
    """Records of an episode whose flows of 2 MB all give the same answer, from 100 to 400 µs."""
    listed = [{"src": src, "dst": dst, "size_bytes": 2_000_000, "start_ns": 0} for src, dst in flows]
    scenario = Scenario.from_mapping(
        {"topology": topology, "traffic": {"kind": "list", "flows": listed}, "controllers": ["agent"]}, "fair"
    )
    rows = []
    with FlowStream(scenario, slots=8, task=Task(OBSERVED, "slowdown", FairShareWindow())) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            rows.append(batch.records.copy())
            stream.send(np.full((int(batch.due.sum()), 1), answer), batch.slots[batch.due])
    records = np.concatenate(rows)
    return records[(column(records, "time_ns") > 1e5) & (column(records, "time_ns") < 4e5)]


def test_flows_that_answer_zero_share_a_full_link_equally_with_a_bdp_in_flight() -> None:
    records = records_under(0.0, {"kind": "dumbbell", "senders": 4}, [(i, 4) for i in range(4)])
    np.testing.assert_allclose(column(records, "fair_share"), 0.25)
    np.testing.assert_allclose(column(records, "window_bytes"), column(records, "bdp_bytes") / 4)
    assert column(records, "goodput").mean() == pytest.approx(0.25 * 1000 / 1048, rel=0.02)
    assert column(records, "qlen").max() < 0.1


def test_an_action_scales_the_share_and_stops_at_one_bdp() -> None:
    records = records_under(0.4, {"kind": "dumbbell", "senders": 4}, [(i, 4) for i in range(4)])
    bdp = column(records, "bdp_bytes")
    np.testing.assert_allclose(column(records, "window_bytes"), bdp / 4 * np.exp(1.5 * 0.4))
    records = records_under(1.0, {"kind": "dumbbell", "senders": 2}, [(0, 2), (1, 2)])
    np.testing.assert_allclose(column(records, "window_bytes"), column(records, "bdp_bytes"))


def test_the_share_is_that_of_the_fullest_hop_of_the_path() -> None:
    chain = {"kind": "parking_lot", "switches": 3, "hosts_per_switch": 2}
    # Flow 0 crosses both links between switches; of the second one three flows share.
    records = records_under(0.0, chain, [(0, 6), (1, 4), (3, 5), (4, 6)])
    assert {round(share, 3) for share in column(records, "fair_share").tolist()} == {0.333, 0.5}


def test_a_share_that_no_hop_has_told_counts_as_the_whole_link() -> None:
    record = np.zeros((1, len(FIELDS)))
    for name, value in {
        "bdp_bytes": 1e5,
        "packet_bytes": 1e3,
        "base_rtt_ns": 8e3,
        "host_rate_bps": 1e11,
    }.items():
        record[:, INDEX[name]] = value
    assert FairShareWindow()(np.zeros((1, 1)), record)[0].tolist() == [1e5, 1e11, 0.0]


def test_it_costs_what_the_number_of_flows_costs() -> None:
    assert wire_bytes(["fair_share"]) == wire_bytes(["flow_count"]) == 18


def test_a_policy_that_does_not_observe_it_cannot_act_so() -> None:
    with pytest.raises(ValueError, match="the action map reads 'fair_share': add it to the observed fields"):
        Task(("rtt",), "slowdown", FairShareWindow())
    content = {
        "observation": [{"field": "rtt"}],
        "history": 1,
        "network": {"kind": "mlp", "hidden_activation": "relu", "output_activation": "tanh"},
        "action": {"name": "fair_share_window"},
        "clock": {"name": "per_ack"},
        "telemetry_bytes": 8,
    }
    with pytest.raises(ValidationError, match="the action map reads 'fair_share'"):
        PolicySpec.model_validate(content)

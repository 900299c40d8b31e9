# SPDX-License-Identifier: GPL-2.0-or-later
"""Decisions take effect at once: a flow that was slow sends again as soon as it may."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ns3_env.decision.actions import AbsoluteWindow, ActionMap, MultiplicativeRate
from ns3_env.decision.observations import column
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast

BDP_BYTES = 85_800.0
#: Per action map: an answer that slows the flow down, and the one that frees it.
ANSWERS: dict[str, tuple[ActionMap, float, float]] = {
    "absolute_window": (AbsoluteWindow(), 20.0, BDP_BYTES),
    "multiplicative_rate": (MultiplicativeRate(alpha=99.0), -1.0, 1.0),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_the_packet_that_waits_leaves_by_the_new_decision_not_after_the_old_gap(
    transport: str, name: str
) -> None:
    action, slow, free = ANSWERS[name]
    scenario = Scenario(
        transport=transport,
        topology=Dumbbell(senders=1, rate_bps=100e9),
        traffic=Incast(size_bytes=2_000_000),
        clock=PerFlowRtt(rtt_fraction=1.0),
        time_limit_ns=5_000_000,
    ).under(AGENT)
    times: list[float] = []
    rtts: list[float] = []
    with FlowStream(scenario, slots=1, fields=("remaining",), reward="slowdown", action=action) as stream:
        stream.start()
        while not (batch := stream.recv()).results and len(times) < 10:
            times.append(float(column(batch.records, "time_ns")[0]))
            rtts.append(float(column(batch.records, "base_rtt_ns")[0]))
            stream.send([[slow if 3 <= len(times) - 1 < 6 else free]], batch.slots)
    gaps = [after - before for before, after in pairwise(times)]
    assert gaps[4] > 5 * rtts[0], "a decision that slows the flow down does so"
    assert gaps[6] < 3 * rtts[0], "nor does the flow wait for the gap of its old rate"

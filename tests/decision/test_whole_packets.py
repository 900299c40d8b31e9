# SPDX-License-Identifier: GPL-2.0-or-later
"""A window of whole packets lets exactly that number be in flight."""

from __future__ import annotations

import pytest

from ns3_env.decision.actions import ActionMap, MultiplicativeWindow, RecursiveWindow
from ns3_env.decision.observations import column
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast


@pytest.mark.parametrize("action", [RecursiveWindow(), MultiplicativeWindow(alpha=1.0)])
@pytest.mark.parametrize("transport", ["rdma", "tcp"])
def test_sixteen_flows_of_one_packet_each_leave_a_link_of_sixteen_without_a_queue(
    transport: str, action: ActionMap
) -> None:
    scenario = Scenario(
        transport=transport,
        topology=Dumbbell(senders=16, rate_bps=100e9, delay_ns=180),
        traffic=Incast(size_bytes=2_000_000),
        clock=PerFlowRtt(rtt_fraction=1.0),
        time_limit_ns=200_000,
    ).under(AGENT)
    windows: set[float] = set()
    rtts: list[float] = []
    with FlowStream(scenario, slots=16, fields=("rtt",), reward="slowdown", action=action) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            if column(batch.records, "time_ns")[0] > 100_000:
                windows |= set(column(batch.records, "window_bytes"))
                rtts += batch.observations[:, 0].tolist()
            due = batch.slots[batch.due]
            if len(due) > 0:
                stream.send([[-1.0]] * len(due), due)
    assert windows == {1460.0 if transport == "tcp" else 1000.0}, "the payload of one packet"
    assert max(rtts) < 1.5, "of base RTTs; two packets each would fill as many again"

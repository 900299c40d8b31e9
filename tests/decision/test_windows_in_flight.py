# SPDX-License-Identifier: GPL-2.0-or-later
"""Effect of a decision on the packets of its flow, over either transport: how many, and how soon."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from ns3_env.decision.actions import (
    AbsoluteWindow,
    ActionMap,
    MultiplicativeRate,
    MultiplicativeWindow,
    RecursiveWindow,
)
from ns3_env.decision.observations import column
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast

transports = pytest.mark.parametrize("transport", ["rdma", "tcp"])


def records_of(
    transport: str, dumbbell: Dumbbell, action: ActionMap, answers: Iterator[float], **keys: int
) -> Iterator[NDArray[np.float64]]:
    """Records of each message of an incast whose flows get the answers, one after the other."""
    scenario = Scenario(
        transport=transport,
        topology=dumbbell,
        traffic=Incast(size_bytes=2_000_000),
        clock=PerFlowRtt(rtt_fraction=1.0),
        **keys,
    ).under(AGENT)
    with FlowStream(scenario, slots=16, fields=("rtt",), reward="slowdown", action=action) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            yield batch.records
            due = batch.slots[batch.due]
            if len(due) > 0:
                stream.send([[next(answers)]] * len(due), due)


@pytest.mark.parametrize("action", [RecursiveWindow(), MultiplicativeWindow(alpha=1.0)])
@transports
def test_sixteen_flows_of_one_packet_each_leave_a_link_of_sixteen_without_a_queue(
    transport: str, action: ActionMap
) -> None:
    dumbbell = Dumbbell(senders=16, rate_bps=100e9, delay_ns=180)
    answers = iter(lambda: -1.0, None)
    messages = records_of(transport, dumbbell, action, answers, time_limit_ns=200_000)
    late = np.concatenate([rows for rows in messages if column(rows, "time_ns")[0] > 100_000])
    assert set(column(late, "window_bytes")) == {1460.0 if transport == "tcp" else 1000.0}, "one payload"
    assert column(late, "rtt").max() < 1.5, "of base RTTs; two packets each would fill as many again"


BDP_BYTES = 85_800.0
#: Per action map: an answer that slows the flow down, and the one that frees it.
ANSWERS: dict[str, tuple[ActionMap, float, float]] = {
    "absolute_window": (AbsoluteWindow(), 20.0, BDP_BYTES),
    "multiplicative_rate": (MultiplicativeRate(alpha=99.0), -1.0, 1.0),
}


@pytest.mark.parametrize("name", ANSWERS)
@transports
def test_the_packet_that_waits_leaves_by_the_new_decision_not_after_the_old_gap(
    transport: str, name: str
) -> None:
    action, slow, free = ANSWERS[name]
    answers = iter([free] * 3 + [slow] * 3 + [free] * 100_000)
    one_sender = Dumbbell(senders=1, rate_bps=100e9)
    messages = records_of(transport, one_sender, action, answers, time_limit_ns=5_000_000)
    records = np.concatenate([rows for rows, _ in zip(messages, range(10), strict=False)])
    gaps = [after - before for before, after in pairwise(column(records, "time_ns"))]
    base_rtt_ns = column(records, "base_rtt_ns")[0]
    assert gaps[4] > 5 * base_rtt_ns, "a decision that slows the flow down does so"
    assert gaps[6] < 3 * base_rtt_ns, "nor does the flow wait for the gap of its old rate"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Episodes under fixed actions: fields and rewards that depend on other flows, effects of decisions."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from ns3_env.decision.actions import (
    AbsoluteWindow,
    ActionMap,
    FairShareWindow,
    LogarithmicWindow,
    MultiplicativeRate,
    MultiplicativeWindow,
    RecursiveWindow,
)
from ns3_env.decision.observations import column, wire_bytes
from ns3_env.decision.outcomes import Batch
from ns3_env.decision.task import Task
from ns3_env.envs.flow_stream import FlowStream
from ns3_env.policies.header import PolicySpec
from ns3_env.scenario import AGENT, PerFlowRtt, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast

Floats = NDArray[np.float64]


def episode(
    task: Task, content: dict[str, Any], answer: float | Callable[[Batch], Floats] = 0.0
) -> tuple[list[Batch], dict[str, Any]]:
    """Messages of an episode whose decisions have this answer, or those of a batch, and its results."""
    batches = []
    with FlowStream(
        Scenario.from_mapping({"controllers": ["agent"], **content}, "x"), slots=64, task=task
    ) as stream:
        stream.start()
        while not (batch := stream.recv()).results:
            batches.append(batch)
            due = batch.slots[batch.due]
            answers = answer(batch) if callable(answer) else np.full(len(due), answer)
            stream.send(answers[:, None], due)
    return batches, batch.results[0][1]


def listed(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "list", "flows": [{"src": i, "dst": len(flows), **flow} for i, flow in enumerate(flows)]}


def returns_by_flow(batches: list[Batch]) -> dict[int, float]:
    paid: dict[int, float] = {}
    for batch in batches:
        for flow, reward in zip(batch.flows.tolist(), batch.rewards.tolist(), strict=True):
            paid[flow] = paid.get(flow, 0.0) + reward
    return paid


def shared_records(answer: float, topology: dict[str, Any], *ends: tuple[int, int]) -> Floats:
    """Records from 100 to 400 µs of flows of 2 MB between these hosts, under FairShareWindow."""
    task = Task(("fair_share", "qlen"), "slowdown", FairShareWindow())
    flows = [{"src": src, "dst": dst, "size_bytes": 2_000_000} for src, dst in ends]
    content = {"topology": topology, "traffic": {"kind": "list", "flows": flows}}
    records = np.concatenate([batch.records for batch in episode(task, content, answer)[0]])
    return records[(column(records, "time_ns") > 1e5) & (column(records, "time_ns") < 4e5)]


FOUR = {"kind": "dumbbell", "senders": 4}, *((i, 4) for i in range(4))


def test_flows_that_answer_zero_share_a_full_link_equally_with_a_bdp_in_flight() -> None:
    records = shared_records(0.0, *FOUR)
    np.testing.assert_allclose(column(records, "fair_share"), 0.25)
    np.testing.assert_allclose(column(records, "window_bytes"), column(records, "bdp_bytes") / 4)
    assert column(records, "goodput").mean() == pytest.approx(0.25 * 1000 / 1048, rel=0.02)
    assert column(records, "qlen").max() < 0.1


def test_the_share_is_that_of_the_fullest_hop_of_the_path() -> None:
    chain = {"kind": "parking_lot", "switches": 3, "hosts_per_switch": 2}
    # Flow 0 crosses both links between switches; of the second one three flows share.
    records = shared_records(0.0, chain, (0, 6), (1, 4), (3, 5), (4, 6))
    assert {round(share, 3) for share in column(records, "fair_share").tolist()} == {0.333, 0.5}


def test_a_policy_that_does_not_observe_the_share_cannot_act_by_it() -> None:
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


def backlogs_of(*fields: str, others: str | None = None) -> dict[int, tuple[Floats, Floats]]:
    """Backlogs and remaining bytes of three flows that share a link, between 60 and 100 µs; the first may
    be under another controller."""
    flows: list[dict[str, Any]] = [{"size_bytes": size} for size in (400_000, 1_000_000, 3_000_000)]
    if others is not None:
        flows[0]["controller"] = others
    content = {
        "topology": {"kind": "dumbbell", "senders": 3},
        "traffic": listed(*flows),
        "controllers": ["agent", *([others] if others else [])],
    }
    batches, _ = episode(Task(fields, "slowdown", MultiplicativeWindow()), content)
    records = np.concatenate([batch.records for batch in batches])
    of_flows, times = np.concatenate([batch.flows for batch in batches]), column(records, "time_ns")
    chosen = {flow: records[(of_flows == flow) & (times > 6e4) & (times < 1e5)] for flow in set(of_flows)}
    return {
        flow: (column(rows, "shorter_backlog"), column(rows, "remaining")) for flow, rows in chosen.items()
    }


def test_a_flow_sees_what_shorter_ones_have_left_in_bdps_of_the_link() -> None:
    flows = backlogs_of("shorter_backlog")
    backlogs, remaining = ([flows[flow][i].mean() for flow in range(3)] for i in range(2))
    assert backlogs[0] == 0.0
    assert backlogs[1] == pytest.approx(remaining[0], rel=0.25)  # of a base RTT before, while it shrinks
    assert backlogs[2] == pytest.approx(remaining[0] + remaining[1], rel=0.15)


def test_a_backlog_is_told_to_who_observes_it_and_of_flows_that_tell_theirs() -> None:
    assert all(backlogs.max() == 0 for backlogs, _ in backlogs_of("qlen").values())
    flows = backlogs_of("shorter_backlog", others="dcqcn")
    assert flows[1][0].max() == 0
    assert flows[2][0].min() > 0


def test_a_policy_is_told_the_wish_for_fairness_of_its_scenario() -> None:
    content = {
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": listed({"size_bytes": 100_000}, {"size_bytes": 100_000}),
        "controllers": [{"name": "agent", "attributes": {"FairnessWeight": 0.25}}],
    }
    batches, _ = episode(Task(("fairness_weight",), "slowdown", MultiplicativeWindow()), content)
    assert {value for batch in batches for value in batch.observations.ravel()} == {0.25}
    assert wire_bytes(["fairness_weight"]) == 0


def test_fields_cost_the_bytes_of_what_packets_carry() -> None:
    assert wire_bytes(["fair_share"]) == wire_bytes(["flow_count"]) == 18
    assert wire_bytes(["qlen", "flow_count", "shorter_backlog"]) == wire_bytes(["qlen", "flow_count"]) + 8


def paid_by(traffic: dict[str, Any], **changes: Any) -> tuple[dict[int, float], dict[str, Any]]:
    """Total "job_progress" of each flow on a star, and the episode's results."""
    content = {
        "topology": {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 6},
        "traffic": traffic,
        "clock": {"name": "synchronous", "interval_ns": 3000},
        **changes,
    }
    batches, results = episode(Task(("remaining",), "job_progress", LogarithmicWindow()), content)
    return returns_by_flow(batches), results["flows"]


def covered(intervals: list[tuple[float, float]]) -> float:
    total, until = 0.0, -np.inf
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


RING = {"kind": "collective", "size_bytes": 600_000}


def test_equal_flows_of_a_job_pay_together_for_the_time_in_which_it_sends() -> None:
    paid, flows = paid_by({**RING, "algorithm": "ring_all_reduce", "compute_ns": 9000, "ranks": [0, 1, 2, 3]})
    sends = covered(list(zip(flows["start_ns"], flows["end_ns"], strict=True)))
    assert -sum(paid.values()) == pytest.approx(sends / flows["standalone_ns"][0], rel=1e-5)


def test_jobs_do_not_pay_for_each_other() -> None:
    parts = [{**RING, "algorithm": "all_gather", "ranks": ranks} for ranks in ([0, 1, 2], [3, 4, 5])]
    alone, both = paid_by(parts[0])[0], paid_by({"kind": "mix", "parts": parts})[0]
    assert [both[flow] for flow in alone] == pytest.approx(list(alone.values()), rel=1e-5)


def test_a_flow_of_no_job_pays_its_slowdown_and_one_that_is_cut_for_what_is_left() -> None:
    paid, flows = paid_by(listed(*({"size_bytes": 200_000 * (i + 1)} for i in range(3))))
    slowdowns = np.divide(flows["fct_ns"], flows["standalone_ns"])
    assert [-paid[flow] for flow in range(3)] == pytest.approx(slowdowns, rel=1e-5)
    paid, flows = paid_by(listed({"size_bytes": 2_000_000}), time_limit_ns=100_000)
    remaining = 1 - flows["acked_bytes"][0] / 2_000_000
    assert -paid[0] == pytest.approx(100_000 / flows["standalone_ns"][0] + remaining, rel=1e-5)


#: A row: its flow, its time (ns), the share of its flow's bytes that is left, its reward.
Rows = list[tuple[int, float, float, float]]


def gains(sizes: list[int], actions: list[float], starts: tuple[int, ...] = (0, 0, 0)) -> tuple[Rows, Any]:
    """Rows but the first ones of flows of these sizes (B) that start at these times (ns), decide every 5 µs,
    and have one action each for good; and their results."""
    flows = [{"size_bytes": size, "start_ns": start} for size, start in zip(sizes, starts, strict=False)]
    content = {
        "topology": {"kind": "dumbbell", "senders": len(sizes)},
        "traffic": listed(*flows),
        "clock": {"name": "synchronous", "interval_ns": 5000},
    }
    task = Task(("remaining", "attained"), "sharing_gain", LogarithmicWindow())
    batches, results = episode(task, content, lambda batch: np.array(actions)[batch.flows[batch.due]])
    rows: Rows = []
    for batch in batches:
        remaining, attained = batch.observations.T.astype(float)
        times = column(batch.records, "time_ns")
        columns = zip(batch.flows, times, remaining / (remaining + attained), batch.rewards, strict=True)
        rows += [
            (int(flow), *map(float, rest))
            for (flow, *rest), first in zip(columns, batch.first, strict=True)
            if not first
        ]  # type: ignore[misc]
    return rows, results["flows"]


def processor_sharing(remaining: Floats, ideal: Floats) -> float:
    """Remaining cost of flows with these bytes left at 100 Gb/s, in packets of 1048 B."""
    alone = remaining * 1048 / 1000 * 8 / 100  # ns
    return float((np.minimum(alone, alone[:, None]).sum(1) / ideal).sum())


def test_the_gain_is_what_processor_sharing_would_have_cost_more() -> None:
    sizes = [200_000, 400_000, 100_000]
    rows, flows = gains(sizes, [1.0, 0.2, 0.6])
    ideal, ends = np.array(flows["standalone_ns"]), np.array(flows["fct_ns"], dtype=float)
    times = sorted({time for _, time, _, _ in rows})
    to_go = {time: np.zeros(3) for time in times}
    for flow, time, remaining, _ in rows:
        to_go[time][flow] = remaining * sizes[flow]
    checked = 0
    for before, now in pairwise(time for time in times if time % 5000 == 0):
        lived = np.clip(np.minimum(ends, now) - before, 0, None)
        expected = processor_sharing(to_go[before], ideal) - processor_sharing(to_go[now], ideal)
        expected -= float((lived / ideal).sum())
        for flow, time, _, reward in rows:
            if time == now:
                assert reward == pytest.approx(expected / (flow + 1), abs=1e-5)  # there at its start
                checked += 1
    assert checked > 10


def test_a_short_flow_that_is_served_first_gains_and_an_idle_link_loses() -> None:
    def gain(actions: list[float]) -> float:
        rows, _ = gains([800_000, 800_000, 300_000], actions)
        return sum(reward for flow, _, _, reward in rows if flow == 0)

    assert gain([0.8, 0.8, 1.0]) > gain([1.0, 1.0, 1.0]) > gain([0.0, 0.0, 0.0])


def test_a_flow_that_joins_is_nobodys_loss() -> None:
    alone, joined = gains([400_000], [1.0])[0], gains([400_000] * 2, [1.0, 1.0], (0, 12_000))[0]
    before, with_it = (
        sum(reward for flow, time, _, reward in rows if flow == 0 and time <= 20_000)
        for rows in (alone, joined)
    )
    # Both flows have most of their bytes left: by their expectation then, it would be a loss of nearly 3.
    assert abs(with_it - before) < 0.2


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

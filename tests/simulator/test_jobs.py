# SPDX-License-Identifier: GPL-2.0-or-later
"""Training jobs in the simulator: start times of waiting flows, and durations of collectives."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from ns3_env.scenario.traffic.jobs.algorithms import Algorithm
from ns3_env.simulator.results import Results
from tests.samples.scenarios import results_of

RATE_BPS = 100e9
LINK_NS = 1000.0
#: A full packet and an ACK on a link, without telemetry.
PACKET_NS = 1048 * 8 / RATE_BPS * 1e9
ACK_NS = 60 * 8 / RATE_BPS * 1e9
ALGORITHMS = get_args(Algorithm)


def play(traffic: dict[str, Any], **more: Any) -> Results:
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
    content = {"topology": star, "controllers": [{"name": "fixed-window"}], "traffic": traffic, **more}
    return results_of(content)


def one_way_ns(packets: int) -> float:
    """Time until a message's last byte is at its receiver: two links, and a store-and-forward switch."""
    return 2 * LINK_NS + (packets + 1) * PACKET_NS


def listed(*flows: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "list", "flows": [{"size_bytes": 10_000, **flow} for flow in flows]}


def test_a_flow_starts_when_the_receivers_of_others_have_them_and_its_delay_is_over() -> None:
    flows = play(
        listed(
            {"src": 0, "dst": 1, "name": "a"},
            {"src": 1, "dst": 2, "name": "b", "after": ["a"], "delay_ns": 5000},
            {"src": 3, "dst": 4, "after": ["a", "b"]},
            {"src": 5, "dst": 6, "after": ["a"], "start_ns": 10_000, "delay_ns": 50},
            {"src": 5, "dst": 7, "start_ns": 20_000, "delay_ns": 50},
        )
    )["flows"]
    delay_ns = one_way_ns(10)
    starts = [0, delay_ns + 5000, 2 * delay_ns + 5000, 10_050, 20_050]
    assert flows["start_ns"] == pytest.approx(starts, abs=1e-3)
    assert flows["delivered_ns"] == pytest.approx([start + delay_ns for start in starts], abs=1e-3)
    assert flows["fct_ns"] == pytest.approx([flows["standalone_ns"][0]] * 5, abs=1e-3)


@pytest.mark.parametrize("packets", [1, 10, 24])
def test_an_idle_ring_takes_as_long_as_its_messages_and_an_ack_between(packets: int) -> None:
    """2(N - 1) messages one after the other, each behind the ACK of the one that it waited for."""
    ranks = 8
    results = play(
        {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": ranks * packets * 1000}
    )
    rounds = 2 * (ranks - 1)
    expected = rounds * one_way_ns(packets) + (rounds - 1) * ACK_NS
    assert max(results["flows"]["delivered_ns"]) == pytest.approx(expected, abs=1e-3)


def test_iterations_compute_between() -> None:
    ring = {"kind": "collective", "algorithm": "all_gather", "size_bytes": 8000}
    once = max(play(ring)["flows"]["delivered_ns"])
    results = play({**ring, "iterations": 3, "compute_ns": 50_000})
    assert max(results["flows"]["delivered_ns"]) == pytest.approx(3 * (once + 50_000), abs=1e-3)
    assert results["steps"]["start_ns"][8:16] == pytest.approx([once + 50_000] * 8, abs=1e-3)
    assert results["jobs"]["iteration"][-24:] == [i for i in range(3) for _ in range(8)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_that_is_sent_arrives_and_another_seed_computes_otherwise(algorithm: str) -> None:
    job = {"kind": "collective", "algorithm": algorithm, "size_bytes": 400_000, "chunk_bytes": 20_000}
    traffic = {**job, "iterations": 2, "compute_ns": 1000, "compute_spread_ns": 3000}
    results = play(traffic)
    totals = results["totals"]
    assert totals["unfinished"] == totals["packets_left"] == 0
    assert totals["delivered_payload_bytes"] == sum(results["flows"]["size_bytes"])
    assert play(traffic, seed=2)["steps"] != results["steps"]


@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_jobs_end_where_packets_are_lost(recovery: str) -> None:
    job = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 400_000}
    results = play(job, loss_probability=0.01, recovery={"kind": recovery}, time_limit_ns=10**9)
    assert results["totals"]["unfinished"] == 0
    assert min(results["flows"]["delivered_ns"]) > 0


def test_a_run_ends_with_the_last_step() -> None:
    job = {"kind": "collective", "algorithm": "pipeline", "size_bytes": 8000, "compute_ns": 100_000}
    results = play(job)
    assert results["totals"]["end_ns"] == max(results["steps"]["end_ns"])
    assert results["totals"]["end_ns"] > 8 * 100_000


def test_what_has_not_started_at_the_time_limit_has_not_lived() -> None:
    results = play(
        listed({"src": 0, "dst": 1, "name": "a"}, {"src": 1, "dst": 2, "after": ["a"]}), time_limit_ns=2000
    )
    assert results["totals"]["unfinished"] == 2
    assert results["flows"]["start_ns"] == [0, 2000]
    assert results["flows"]["delivered_ns"] == [-1, -1]


def test_tcp_flows_wait_as_well() -> None:
    flows = play(
        listed({"src": 0, "dst": 1, "name": "a"}, {"src": 1, "dst": 2, "after": ["a"], "delay_ns": 500}),
        transport="tcp",
        controllers=[{"name": "cubic"}],
    )["flows"]
    assert flows["start_ns"][1] == pytest.approx(flows["delivered_ns"][0] + 500, abs=1e-3)
    assert flows["delivered_ns"][0] < flows["end_ns"][0]
    assert flows["fct_ns"][1] == pytest.approx(flows["fct_ns"][0], abs=1)


def test_a_bound_plays_jobs_too() -> None:
    job = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 800_000}
    fluid = play(job, controllers=[{"name": "max_min"}])
    assert fluid["totals"]["unfinished"] == 0
    assert max(fluid["flows"]["delivered_ns"]) == pytest.approx(14 * one_way_ns(100), rel=1e-6)

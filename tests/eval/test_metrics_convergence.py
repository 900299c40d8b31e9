# SPDX-License-Identifier: GPL-2.0-or-later
"""The time until flows have a fair share, against values read off by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ns3_env import _native
from ns3_env.eval import metrics
from ns3_env.eval.metrics.convergence import BIN_RTTS, MIN_BINS, changes
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining
from ns3_env.simulator import Simulator

#: 8 Gbit/s: a byte per ns. Base RTT 100 ns, so a bin is 1000 ns and a window of 100 B is the whole link.
RATE, RTT = 8e9, 100.0


def results_of(
    starts: list[float], ends: list[float], windows: list[list[Any]], rates: list[float]
) -> dict[str, Any]:
    """Flows into one receiver; ``rates`` are each one's mean rate on the wire (B/ns)."""
    sizes = [
        round((end - start) * rate / 1.048) for start, end, rate in zip(starts, ends, rates, strict=True)
    ]
    wire = [size + 48 * math.ceil(size / 1000) for size in sizes]
    n = len(starts)
    return {
        "flows": {
            "src": list(range(n)),
            "dst": [9] * n,
            "size_bytes": sizes,
            "start_ns": starts,
            "end_ns": ends,
            "fct_ns": [end - start for start, end in zip(starts, ends, strict=True)],
            "standalone_ns": [RTT + x for x in wire],
            "base_rtt_ns": [RTT] * n,
            "payload_bytes": [1000] * n,
            "header_bytes": [48] * n,
            "acked_bytes": list(sizes),
            "retransmitted_bytes": [0] * n,
            "pause_ns": [0] * n,
        },
        "queues": [
            {
                "node": 8,
                "port": 0,
                "peer": 9,
                "rate_bps": RATE,
                "mean_bytes": 5.0,
                "p99_bytes": 9.0,
                "tx_bytes": 1,
            }
        ],
        "all_active": {"interval_ns": [max(starts), min(ends)], "received_bytes": [0] * n},
        "totals": {"end_ns": max(ends), "pfc_frames": 0, "dropped_packets": 0},
        "windows": windows,
    }


def join_and_leave() -> dict[str, Any]:
    """Flow 0 from 0 to 50 µs, flow 1 from 10 to 30 µs.

    After the join the windows are 75 and 25 B for 5 µs, then 50 and 50: fair after 5000 ns. After the leave
    flow 0 has 50 B for 8 µs, half the link, then 100 B: fair after 8000 ns.
    """
    windows = [
        [0, 0, 100, None],
        [10_000, 0, 75, None], [10_000, 1, 25, None],
        [15_000, 0, 50, None], [15_000, 1, 50, None],
        [38_000, 0, 100, None],
    ]  # fmt: skip
    mean_0 = (10 * 1 + 5 * 0.75 + 15 * 0.5 + 8 * 0.5 + 12 * 1) / 50
    mean_1 = (5 * 0.25 + 15 * 0.5) / 20
    return results_of([0, 10_000], [50_000, 30_000], windows, [mean_0, mean_1])


def test_each_join_and_leave_has_its_time() -> None:
    join, leave = changes(join_and_leave())
    assert (join.at_ns, join.until_ns, join.active, join.joined) == (10_000, 30_000, (0, 1), True)
    assert (leave.at_ns, leave.until_ns, leave.active, leave.joined) == (30_000, 50_000, (0,), False)
    assert join.after_ns == pytest.approx(5000)
    assert leave.after_ns == pytest.approx(8000)
    values = metrics.measure(join_and_leave())
    assert values["convergence_mean_ns"] == pytest.approx(6500)
    assert values["convergence_max_ns"] == pytest.approx(8000)
    assert values["unconverged_changes"] == 0


def test_a_share_that_never_is_fair_counts_whole_and_is_told() -> None:
    windows = [[0, 0, 100, None], [10_000, 0, 60, None], [10_000, 1, 40, None], [30_000, 0, 100, None]]
    results = results_of([0, 10_000], [50_000, 30_000], windows, [(10 + 12 + 20) / 50, 0.4])
    join, leave = changes(results)
    assert math.isnan(join.after_ns)
    assert leave.after_ns == 0
    values = metrics.measure(results)
    assert values["convergence_max_ns"] == 20_000  # until the next change
    assert values["unconverged_changes"] == 1


def test_a_share_that_is_fair_and_then_is_not_has_not_converged_yet() -> None:
    results = join_and_leave()
    changed = ((20_000, 0, 56), (20_000, 1, 44), (22_000, 0, 50), (22_000, 1, 50))
    results["windows"] += [[*change, None] for change in changed]
    assert changes(results)[0].after_ns == pytest.approx(12_000)


def test_swings_within_a_bin_and_windows_that_fill_a_queue_are_fair() -> None:
    # Windows of 150 B each: the port serves both alike. Flow 0 swings around its share every 100 ns.
    windows: list[list[Any]] = [[0, 0, 100, None], [10_000, 1, 150, None]]
    windows += [[10_000 + 100 * i, 0, 150 + 50 * (-1) ** i, None] for i in range(200)]
    windows += [[30_000, 0, 100, None]]
    results = results_of([0, 10_000], [50_000, 30_000], windows, [0.8, 0.5])
    assert [change.after_ns for change in changes(results)] == [0, 0]


def test_pacing_rates_count_where_there_is_no_window() -> None:
    results = join_and_leave()
    results["windows"] = [[t, flow, None, 8e9 * window / RTT] for t, flow, window, _ in results["windows"]]
    assert [x.after_ns for x in changes(results)] == pytest.approx([5000, 8000])


def test_changes_too_close_to_tell_are_left_out() -> None:
    short = (MIN_BINS - 1) * BIN_RTTS * RTT
    windows: list[list[Any]] = [[0, 0, 100, None], [10_000, 0, 50, None], [10_000, 1, 50, None]]
    windows.append([10_000 + short, 0, 100, None])
    rates = [(10_000 + short / 2 + 20_000) / (30_000 + short), 0.5]
    results = results_of([0, 10_000], [30_000 + short, 10_000 + short], windows, rates)
    assert [change.joined for change in changes(results)] == [False]


def test_a_common_start_is_a_join() -> None:
    windows = [[0, 0, 75, None], [0, 1, 25, None], [4000, 0, 50, None], [4000, 1, 50, None]]
    results = results_of([0, 0], [20_000, 20_000], windows, [0.55, 0.45])
    (start,) = changes(results)
    assert start.joined
    assert start.after_ns == pytest.approx(4000)


@pytest.mark.parametrize("lacking", ["records", "one receiver", "an explanation of what arrived"])
def test_nothing_is_said_without_records_that_explain_what_arrived_at_one_bottleneck(lacking: str) -> None:
    results = join_and_leave()
    if lacking == "records":
        del results["windows"]
    elif lacking == "one receiver":
        results["flows"]["dst"] = [9, 7]
    else:
        results["flows"]["acked_bytes"][1] = round(results["flows"]["acked_bytes"][1] * 0.6)
        assert math.isnan(metrics.measure(results)["convergence_mean_ns"])
    assert changes(results) == []


@pytest.mark.parametrize("payload", [256, 1000, 4096])
def test_packets_of_any_length_are_understood(payload: int) -> None:
    """The simulator reports each flow's base RTT and bytes per packet; nothing is derived from 1000 B."""
    scenario = Scenario(
        topology=Dumbbell(senders=2, rate_bps=100e9, delay_ns=1000),
        traffic=Joining(sizes_bytes=[12_000_000, 4_000_000], interval_ns=300_000),
        controllers=[Controller(name="mpcc")],
        payload_bytes=payload,
        time_limit_ns=50_000_000,
        record=Record(windows=True),
    )
    with Simulator() as simulator:
        results = simulator.play(scenario)
    # Three links of 1 us, to and back, and three serialisations of a payload at 100 Gb/s.
    assert results["flows"]["base_rtt_ns"] == pytest.approx([6000 + 3 * payload * 8 / 100] * 2, abs=0.01)
    assert results["flows"]["payload_bytes"] == [payload] * 2
    assert results["flows"]["header_bytes"] == [48 + 32] * 2
    join, leave = changes(results)
    assert (join.joined, leave.joined) == (True, False)
    values = metrics.measure(results)
    assert 0 <= values["convergence_mean_ns"] < 100_000
    assert 0.8 * payload / (payload + 80) < values["goodput"] <= payload / (payload + 80)


def test_served_rates_are_numpys_to_the_bit() -> None:
    random = np.random.default_rng(5)
    flows, capacity, beside = 7, 100e9, 3e9
    times = [np.sort(random.uniform(0, 9e5, size)) for size in (0, 1, 40, 300, 1000, 5, 77)]
    rates = [random.uniform(0, 60e9, len(of_flow)) for of_flow in times]
    begin = np.cumsum([0, *map(len, times)])
    steps = _native.Steps(begin, np.concatenate(times), np.concatenate(rates))
    active, edges = np.arange(flows), np.linspace(1e5, 8e5, 42)
    inside = [of_flow[(of_flow > edges[0]) & (of_flow < edges[-1])] for of_flow in times]
    moments = np.unique(np.concatenate([edges, *inside]))
    allowed = np.zeros((flows, len(moments) - 1))
    for row, (of_flow, its) in enumerate(zip(times, rates, strict=True)):
        at = np.searchsorted(of_flow, moments[:-1], side="right") - 1
        if len(its):
            allowed[row] = np.where(at >= 0, its[np.maximum(at, 0)], 0.0)
    served = allowed * np.minimum(1.0, capacity / (allowed.sum(axis=0) + beside))
    expected = np.zeros((flows, len(edges) - 1))
    into = np.clip(np.searchsorted(edges, moments[:-1], side="right") - 1, 0, len(edges) - 2)
    for row, rate in zip(expected, served, strict=True):
        np.add.at(row, into, rate * np.diff(moments))
    expected /= np.diff(edges)
    assert (steps.served(active, edges, capacity, beside) == expected).all()


@pytest.mark.parametrize("active", [[-1], [3]])
def test_served_flows_are_those_that_there_are(active: list[int]) -> None:
    steps = _native.Steps(np.array([0, 1, 1, 2]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    with pytest.raises(ValueError, match="flows that there are"):
        steps.served(np.array(active), np.array([0.0, 5.0]), 1.0, 0.0)

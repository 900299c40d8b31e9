# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics, among them the time to a fair share, against values computed by hand."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ns3_env import _native
from ns3_env.eval import metrics
from ns3_env.eval.metrics import convergence, goodput, queues, slowdown
from ns3_env.eval.metrics.convergence import BIN_RTTS, MIN_BINS, changes
from ns3_env.eval.output import table
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Joining
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import charged_slowdowns

PORT = {"rate_bps": 8e9, "tx_bytes": 5}


@pytest.fixture
def results() -> dict[str, Any]:
    """Two flows of 1000 and 3000 B into host 2 over 8 Gbit/s (1 B per ns); the third never finishes."""
    return {
        "flows": {
            "src": [0, 1, 3],
            "dst": [2, 2, 2],
            "size_bytes": [1000, 3000, 9000],
            "start_ns": [0, 1000, 1000],
            "end_ns": [4000, 9000, -1],
            "fct_ns": [4000, 8000, -1],
            "standalone_ns": [2000, 2000, 10000],
            "base_rtt_ns": [100, 100, 100],
            "payload_bytes": [1000, 1000, 1000],
            "header_bytes": [48, 80, 90],
            "acked_bytes": [1000, 3000, 1000],
            "retransmitted_bytes": [0, 0, 0],
            "pause_ns": [1000, 500, 0],
        },
        "queues": [
            {"node": 4, "port": 0, "peer": 5, "mean_bytes": 70.0, "p99_bytes": 90.0, **PORT},
            {"node": 5, "port": 0, "peer": 2, "mean_bytes": 7.0, "p99_bytes": 9.0, **PORT},
        ],
        "all_active": {"interval_ns": [1000, 4000], "received_bytes": [300, 600, 600]},
        "totals": {"end_ns": 10000, "pfc_frames": 4, "dropped_packets": 0},
    }


def test_slowdown_is_of_the_flows_that_finished(results: dict[str, Any]) -> None:
    assert list(slowdown.fct_slowdowns(results)) == [2.0, 4.0]
    row = metrics.line(results)
    assert row["fct_slowdown_avg"] == 3.0
    assert row["fct_slowdown_p99"] == pytest.approx(2.0 + 0.99 * 2.0)
    assert row["unfinished_flows"] == 1


def test_a_flow_that_is_cut_is_charged_its_time_and_the_share_that_is_left(results: dict[str, Any]) -> None:
    # 9000 of 10000 ns lived, 8000 of 9000 B left.
    assert list(charged_slowdowns(results)) == pytest.approx([2.0, 4.0, 0.9 + 8 / 9])
    assert metrics.line(results)["slowdown_charged"] == pytest.approx((2.0 + 4.0 + 0.9 + 8 / 9) / 3)
    results["flows"]["start_ns"][2] = 10000  # has not started
    assert metrics.line(results)["slowdown_charged"] == 3.0
    results["flows"]["endless"] = [0, 1, 0]
    assert metrics.line(results)["slowdown_charged"] == 2.0


def test_queue_is_that_of_the_bottleneck(results: dict[str, Any]) -> None:
    row = metrics.line(results)
    assert (row["queue_avg_bytes"], row["queue_p99_bytes"]) == (70.0, 90.0)


def test_goodput_counts_payload_over_the_receivers_link(results: dict[str, Any]) -> None:
    # 5000 B of payload in 10000 ns (a flow is unfinished: to the episode's end) over 1 B per ns.
    assert goodput.goodput(results) == pytest.approx(0.5)
    results["flows"]["end_ns"][2] = 9500
    assert goodput.goodput(results) == pytest.approx(5000 / 9500)


def test_a_late_flow_does_not_lower_the_goodput(results: dict[str, Any]) -> None:
    """Only time in which work was offered counts, receiver by receiver."""
    flows = results["flows"]
    flows["start_ns"], flows["end_ns"] = [0, 1000, 5_000_000], [4000, 5000, 5_005_000]
    flows["acked_bytes"] = [1000, 3000, 5000]
    assert goodput.goodput(results) == pytest.approx(9000 / (5000 + 5000))
    flows["dst"] = [2, 2, 7]
    results["queues"].append({**results["queues"][1], "peer": 7, "rate_bps": 16e9})
    assert goodput.goodput(results) == pytest.approx(9000 / (5000 + 2 * 5000))


def test_a_flow_that_the_time_limit_forestalled_offered_nothing(results: dict[str, Any]) -> None:
    whole = goodput.goodput(results)
    for name, value in (("start_ns", 20_000), ("end_ns", -1), ("fct_ns", -1), ("dst", 9)):
        results["flows"][name].append(value)
    for name in set(results["flows"]) - {"start_ns", "end_ns", "fct_ns", "dst"}:
        results["flows"][name].append(0)
    assert goodput.goodput(results) == whole


def test_goodput_ceilings_are_those_of_the_packet_formats(results: dict[str, Any]) -> None:
    # 1000 / (1000 + 48 + telemetry), docs/sources/metrics.md: none, 32 B, 42 B
    assert goodput.goodput_ceilings(results).round(3).tolist() == [0.954, 0.926, 0.917]


def test_unfair_ratio_is_over_the_interval_in_which_all_are_active(results: dict[str, Any]) -> None:
    # Bandwidths 0.8, 1.6, 1.6 Gbit/s: mean 4/3.
    assert list(convergence.common_bandwidths(results)) == pytest.approx([0.8e9, 1.6e9, 1.6e9])
    row = metrics.line(results)
    assert row["unfair_ratio"] == pytest.approx(1.6 / (4 / 3) - 1)
    assert row["jain_index"] == pytest.approx(4.0**2 / (3 * (0.64 + 2.56 + 2.56)))
    # Over whole lifetimes: 1000/4000, 3000/8000, 1000/9000 B per ns.
    lives = np.array([1 / 4, 3 / 8, 1 / 9])
    assert row["unfair_ratio_lifetime"] == pytest.approx(lives.max() / lives.mean() - 1)


def test_fair_is_zero_and_one() -> None:
    assert convergence.unfair_ratio(np.ones(4)) == 0.0
    assert convergence.jain_index(np.ones(4)) == 1.0
    assert convergence.jain_index(np.array([1.0, 0.0, 0.0, 0.0])) == 0.25


def test_pause_fraction_is_of_the_flows_lifetimes(results: dict[str, Any]) -> None:
    assert queues.pfc_pause_fraction(results) == pytest.approx(1500 / (4000 + 8000 + 9000))


def test_what_is_not_defined_is_none_and_shown_as_a_dash(results: dict[str, Any], tmp_path: Path) -> None:
    results["all_active"] = {"interval_ns": [5, 5], "received_bytes": [0, 0, 0]}
    row = metrics.line(results)
    assert math.isnan(row["unfair_ratio"])
    table.write_json(tmp_path / "t.json", {"hpcc": metrics.without_nan(row)})
    again = json.loads((tmp_path / "t.json").read_text())
    assert again["hpcc"]["unfair_ratio"] is None
    assert again["hpcc"]["fct_slowdown_avg"] == 3.0
    out = io.StringIO()
    table.show("an incast", {"hpcc": row}, Console(file=out, width=140))
    assert "hpcc" in out.getvalue()
    assert "–" in out.getvalue()


def test_mean_over_episodes_skips_the_undefined_and_sums_the_counts(results: dict[str, Any]) -> None:
    one = metrics.line(results)
    results["all_active"] = {"interval_ns": [5, 5], "received_bytes": [0, 0, 0]}
    results["queues"][0]["mean_bytes"] = 90.0
    both = metrics.mean([one, metrics.line(results)])
    assert both["unfair_ratio"] == one["unfair_ratio"]
    assert both["queue_avg_bytes"] == 80.0
    assert both["pfc_frames"] == 8


def test_slowdowns_fall_into_the_bucket_of_their_size(results: dict[str, Any]) -> None:
    # 10 kB belongs to the first bucket, a byte more to the second; slowdowns 2 and 4; the third never ends.
    results["flows"]["size_bytes"] = [10_000, 10_001, 5]
    of_size = slowdown.fct_slowdowns_by_size(results)
    assert {name: list(x) for name, x in of_size.items()} == {
        "to_10kB": [2.0], "to_100kB": [4.0], "to_1MB": [], "over_1MB": [],
    }  # fmt: skip
    values = metrics.measure(results)
    assert [values[f"fct_slowdown_to_100kB_{x}"] for x in ("avg", "p50", "p95", "p99")] == [4.0] * 4
    assert math.isnan(values["fct_slowdown_to_1MB_avg"])
    results["flows"]["size_bytes"] = [100_001, 1_000_000, 1_000_001]
    values = metrics.measure(results)
    assert values["fct_slowdown_to_1MB_avg"] == 3.0
    assert values["fct_slowdown_to_1MB_p95"] == pytest.approx(2 + 0.95 * 2)
    assert math.isnan(values["fct_slowdown_over_1MB_avg"])  # it has not finished


@pytest.mark.parametrize(
    ("port", "span_ns", "lengths", "shares"),
    [
        (
            {"series": {"t_ns": [0, 10, 20, 30, 40], "bytes": [0, 50, 0, 200, 0]}},
            None,
            [0, 50, 200],
            [0.6, 0.8, 1],
        ),
        # Values outside a window are left out.
        (
            {"series": {"t_ns": [0, 10, 20, 30, 40], "bytes": [7, 50, 0, 200, 9]}},
            (10, 40),
            [0, 50, 200],
            [1 / 3, 2 / 3, 1],
        ),
        # Without a series: the simulator's percentiles.
        (
            {"p50_bytes": 10, "p95_bytes": 80, "p99_bytes": 90, "max_bytes": 90},
            None,
            [10, 80, 90],
            [0.5, 0.95, 1],
        ),
    ],
)
def test_queue_cdf_counts_equal_times(
    port: dict[str, Any], span_ns: tuple[int, int] | None, lengths: list[int], shares: list[float]
) -> None:
    cdf = queues.queue_cdf(port, span_ns=span_ns)
    assert cdf[0].tolist() == lengths
    assert cdf[1].tolist() == pytest.approx(shares)


def test_a_long_queue_cdf_is_thinned_but_keeps_its_ends() -> None:
    port = {"series": {"t_ns": list(range(1000)), "bytes": list(range(1000))}}
    lengths, shares = queues.queue_cdf(port, points=50)
    assert len(lengths) == 50
    assert (lengths[0], lengths[-1], shares[-1]) == (0, 999, 1.0)
    assert shares == pytest.approx((lengths + 1) / 1000)


def test_what_links_and_senders_did_is_of_the_bottleneck_or_summed(results: dict[str, Any]) -> None:
    results["queues"][0]["tx_bytes"] = 8000  # of 10000 B that 1 B per ns sends in 10000 ns
    assert goodput.link_utilisation(results) == pytest.approx(0.8)
    results["queues"][0]["paused_ns"], results["queues"][1]["paused_ns"] = 30, 12
    results["totals"]["host_pause_ns"] = 100.0
    assert queues.pfc_pause_ns(results) == 142.0  # of all links
    results["flows"]["retransmitted_bytes"], results["flows"]["timeouts"] = [0, 2000, 500], [0, 1, 2]
    values = metrics.measure(results)
    assert (values["retransmitted_bytes"], values["timeouts"]) == (2500, 3)
    results["queues"] = []
    assert math.isnan(goodput.link_utilisation(results))


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics against values computed by hand."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from ns3_env.eval import metrics
from ns3_env.eval.metrics import fairness, goodput, queues, slowdown
from ns3_env.eval.output import table
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
    assert list(fairness.common_bandwidths(results)) == pytest.approx([0.8e9, 1.6e9, 1.6e9])
    row = metrics.line(results)
    assert row["unfair_ratio"] == pytest.approx(1.6 / (4 / 3) - 1)
    assert row["jain_index"] == pytest.approx(4.0**2 / (3 * (0.64 + 2.56 + 2.56)))
    # Over whole lifetimes: 1000/4000, 3000/8000, 1000/9000 B per ns.
    lives = np.array([1 / 4, 3 / 8, 1 / 9])
    assert row["unfair_ratio_lifetime"] == pytest.approx(lives.max() / lives.mean() - 1)


def test_fair_is_zero_and_one() -> None:
    assert fairness.unfair_ratio(np.ones(4)) == 0.0
    assert fairness.jain_index(np.ones(4)) == 1.0
    assert fairness.jain_index(np.array([1.0, 0.0, 0.0, 0.0])) == 0.25


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

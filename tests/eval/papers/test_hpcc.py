# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC's Fig. 11: its network, its two loads, the data extracted from a run, and verdicts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.hpcc.fct import (
    BUSY,
    DIRECTIONS,
    INCAST,
    INCAST_BYTES,
    LABELS,
    Tails,
    claims,
    measure,
    topology,
)
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator import Simulator

CASES = declared("hpcc-fct").cases


def test_the_network_is_the_published_one() -> None:
    """376 nodes and 480 links (mix/fat.txt); no switch has more to send up than it can."""
    built = topology().build()
    assert (len(built.nodes), len(built.hosts), len(built.links)) == (376, 320, 480)
    assert DIRECTIONS == 2 * 480
    assert built.faults() == []
    rates = Counter(rate for link in built.links for rate in [link.rate_bps])
    assert rates == {100e9: 320, 400e9: 160}
    degrees = Counter(end for link in built.links for end in (link.a, link.b))
    assert {degrees[node] for node in range(320, 340)} == {16 + 4}
    assert {degrees[node] for node in range(340, 360)} == {4 + 4}
    assert {degrees[node] for node in range(360, 376)} == {5}


def test_the_base_rtt_is_twelve_microseconds(simulator: Simulator) -> None:
    far = FlowList(flows=[Flow(src=0, dst=319, size_bytes=1000)])
    base = CASES(0.0002)[BUSY].model_copy(update={"traffic": far})
    assert simulator.play(base.under("dcqcn"))["flows"]["base_rtt_ns"][0] == pytest.approx(12e3, rel=0.05)


def test_loads_are_the_papers_and_incasts_add_two_percent() -> None:
    duration = 2_000_000
    offered, incasts = {}, {}
    for title, scenario in CASES(0.02).items():
        flows = scenario.flows()
        sizes = np.array(flows.size_bytes)
        offered[title] = float(sizes[sizes != INCAST_BYTES].sum() * 8e9 / (320 * 100e9 * duration))
        incasts[title] = Counter(flows.start_ns[i] for i in np.flatnonzero(sizes == INCAST_BYTES))
    assert offered == pytest.approx({INCAST: 0.3, BUSY: 0.5}, rel=0.1)
    assert not incasts[BUSY]
    assert set(incasts[INCAST].values()) == {60}
    assert 1 <= len(incasts[INCAST]) <= 15  # 5.3 in the mean


def test_incasts_are_in_no_slowdown_and_a_flow_without_an_end_pays_for_what_is_left() -> None:
    results = {
        "flows": {
            "size_bytes": [324, 1000, INCAST_BYTES, 200_000],
            "fct_ns": [24_000, 12_000, 10**9, -1],
            "standalone_ns": [12_000, 12_000, 50_000, 30_000],
            "start_ns": [0, 0, 0, 0],
            "end_ns": [24_000, 12_000, 10**9, -1],
            "acked_bytes": [324, 1000, INCAST_BYTES, 50_000],
        },
        "queues": [{"paused_ns": 960}],
        "totals": {"pfc_frames": 3, "end_ns": 90_000, "host_pause_ns": 0},
    }
    tails = measure(results)
    assert tails.flows == 3
    assert tails.p95["324"] == 2
    assert tails.p95["1k"] == 1
    assert math.isnan(tails.p95["7k"])
    assert tails.p95[LABELS[-1]] == pytest.approx(90_000 / 30_000 + 0.75)
    assert tails.numbers["latency_p50_us"] == 18
    assert tails.numbers["paused"] == pytest.approx(960 / (90_000 * 960))
    assert tails.numbers["unfinished"] == 1


def runs(**changed: float) -> dict[str, dict[str, Tails]]:
    """Numbers that bear the claims out, but for those that are changed under HPCC."""

    def numbers(tail: float, paused: float = 0.0, latency: float = 45.0, long: float = 2.0) -> Tails:
        values = {
            "short": tail,
            "long": long,
            "latency_p95_us": latency,
            "paused": paused,
            "pauses": 1e3 * paused,
        }
        return Tails(100, dict.fromkeys(LABELS, tail), values)

    hpcc = numbers(1.5, latency=18.0, long=3.0)
    by_name = {
        "dcqcn": numbers(60.0, 0.01),
        "timely": numbers(70.0, 0.01),
        "dcqcn+window": numbers(4.0),
        "timely+window": numbers(4.5),
        "dctcp": numbers(3.0),
        "hpcc": replace(hpcc, numbers={**hpcc.numbers, **changed}),
    }
    return {INCAST: by_name, BUSY: by_name}


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({}, set()),
        ({"pauses": 1.0}, {3}),
        ({"latency_p95_us": 21.0}, {5}),
        ({"latency_p95_us": 23.0}, {5, 6}),
        ({"long": 1.9}, {8}),
        ({"long": math.nan}, {8}),  # no verdict without flows
    ],
)
def test_verdicts_follow_the_numbers(changed: dict[str, float], broken: set[int]) -> None:
    pairs = list(claims(runs(**changed)).values())
    assert {i for i, (holds, _) in enumerate(pairs) if not holds} == broken
    assert all(evidence for _, evidence in pairs)

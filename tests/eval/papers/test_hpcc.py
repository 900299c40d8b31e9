# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC's Fig. 11 and Lynn et al. 2020: networks, the data extracted from a run, and verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from ns3_env.eval.papers.rttmpc import bottleneck, buffers, sharing
from ns3_env.eval.papers.rttmpc.bottleneck import RATE_BPS, RTT_NS, Flows, Path, episode, rttmpc
from ns3_env.eval.papers.rttmpc.buffers import BUFFERS_BDP, FLOWS
from ns3_env.eval.papers.rttmpc.sharing import ALONE, BBR, CUBIC, DIFFERENT, NEAR_B, NEAR_P, PUBLISHED
from ns3_env.eval.papers.rttmpc.ten_gigabit import MPC, NOISY, one_flow_claims
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats
from tests.eval.papers.verdicts import failed

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


SMALL = Path(40e6, (RTT_NS, RTT_NS), 1.0)


def bits(text: Any) -> int:
    """The number of "123bps"."""
    return int(str(text).removesuffix("bps"))


def test_scaling_changes_the_rate_and_nothing_else() -> None:
    """RTTs and buffers in BDPs stay; packets in a BDP and rates shrink together."""
    for buffer in BUFFERS_BDP:
        long, short = Path(RATE_BPS, (RTT_NS,), buffer), Path(1e-2 * RATE_BPS, (RTT_NS,), buffer)
        assert short.buffer_packets == pytest.approx(1e-2 * long.buffer_packets, rel=0.01)
        assert bits(short.payload_bps(0.3)) == pytest.approx(1e-2 * bits(long.payload_bps(0.3)), rel=1e-6)
    assert Path(RATE_BPS).buffer_packets == 83_333
    full, small = ({path.rtts_ns for path, _ in sharing.entries(x).values()} for x in (RATE_BPS, 1e6))
    assert full == small
    assert len(buffers.paths(1e6)) == 36 + 4


def test_a_capped_flow_keeps_its_cap_on_a_path_of_25_ms() -> None:
    with Simulator() as simulator:
        run = bottleneck.measure(simulator.play(episode(SMALL, rttmpc(SMALL, 0.1, (0.3, 0.6)), 1.5)))
    late = run.after(0.75)
    assert run.rtts_ms[:, 0] == pytest.approx([25.0, 25.0], abs=1e-4)
    assert late.rates.mean(axis=1) == pytest.approx([12.0, 24.0], rel=0.03)
    assert late.rtts_ms.max() < 26
    assert run.lost == 0


def test_numbers_of_a_run_are_those_of_its_bottleneck() -> None:
    """A link of 40 Mb/s: 5000 B wait for a millisecond, and 10 Mb/s are 10 of 40."""
    times = [0.0, 5e6, 10e6]
    series = {"t_ns": times, "bytes": [0, 5000, 10_000]}
    slow = {"node": 4, "port": 2, "rate_bps": 40e6, "tx_bytes": 90 * 1502, "series": series}
    back = {**slow, "node": 5, "tx_bytes": 4000}
    fast = {**slow, "port": 0, "rate_bps": 400e6}
    lost = [{"node": 4, "port": 2, "packets": 10}, {"node": 5, "port": 2, "packets": 7}]
    flows = {"payload_bytes": [1460] * 2, "header_bytes": [42] * 2}
    flows |= {"base_rtt_ns": [25e6, 35e6], "acked_bytes": [14_600, 29_200], "timeouts": [1, 2]}
    results = bottleneck.measure(
        {
            "flows": {"src": [0, 1], "fct_ns": [-1, -1], **flows},
            "queues": [fast, back, slow],
            "totals": {"end_ns": 12_016_000},
            "losses": lost,
            # The host's own rate: no flow is paced yet.
            "windows": [[0, 0, 1.0, 400e6], [1e6, 0, 1.0, 10e6], [6e6, 1, 1.0, 20e6], [7e6, 0, 1.0, 5e6]],
        }
    )
    assert results.rtts_ms == pytest.approx(np.array([[25, 26, 27], [35, 36, 37]]))
    assert results.rates == pytest.approx(np.array([[0, 10, 5], [0, 0, 20]]))
    assert results.goodputs == pytest.approx([10, 20])
    assert (results.lost, results.timeouts) == (0.1, 3)
    assert results.mean_rtts_ms == pytest.approx([30, 31, 32])


def run_with(rates: list[float]) -> Flows:
    """A run with one flow's rates, sampled each 5 ms."""
    values = np.array([rates])
    return Flows(5e-3 * np.arange(len(rates), dtype=np.float64), values, values, values[0], 0.0, 0)


def test_an_overshoot_has_not_reached_the_links_rate() -> None:
    slow = [10.0] * 20 + [60.0] * 5 + [20.0] * 75
    assert run_with(slow + [40.0] * 100).reached_s == pytest.approx(0.5)
    assert run_with([60.0] + [38.1] * 49).reached_s == 0
    assert np.isnan(run_with(slow * 3).reached_s)


def test_table_v_meets_the_papers_own_claims_but_for_three() -> None:
    """8 flows lose less at 1/16 BDP than at 1/8, and less than one flow does; 8 BDP are not above 1/4 s.

    Spreads and times as Figs. 5, 6, 8 have them: growing, and falling to an RTT.
    """
    steps = np.arange(len(BUFFERS_BDP))
    curves = {"rate_spread": 0.1 * steps, "rtt_spread": 0.5 * steps}
    curves["reached_s"] = np.maximum(0.025, 1000 / 8.0**steps)
    table = {
        name: np.array([numbers[flows] for flows in FLOWS]) for name, numbers in buffers.PUBLISHED.items()
    }
    assert failed(buffers.claims(table | {name: np.array([x] * 4) for name, x in curves.items()})) == [
        "The number of flows hardly changes the combined rate",
        "Larger buffers lose fewer packets",
        "More flows lose more packets",
    ]


def test_fig_4_meets_the_papers_own_claims() -> None:
    """9.4 of the 9.41 Gb/s that Ethernet's headers leave, drops that are probes, no loss."""
    quiet = {"goodput": 9.4, "rate_std": 0.3, "rtt_std": 0.3, "lost": 0.0}
    published = {MPC: quiet, NOISY: {**quiet, "rtt_std": 0.4}, "cubic": {**quiet, "rtt_std": 7.0}}
    assert failed(one_flow_claims(published, 9.41)) == []
    worse = {**published, MPC: {**quiet, "lost": 1e-6, "rate_std": 3.0}}
    assert failed(one_flow_claims(worse, 9.41)) == ["Its rate is stable", "It loses nothing"]


KINDS = ("rate", "rate_std", "rtt", "rtt_std")


def their_flows(*columns: Sequence[float]) -> dict[str, Floats]:
    """Flows with the paper's numbers: mean and standard deviation of rate and RTT (ms)."""
    return {name: np.array(x, dtype=np.float64) for name, x in zip(KINDS, columns, strict=True)}


def test_tables_i_and_ii_meet_the_papers_own_claims_but_for_one_cap_each() -> None:
    """18.8 of a cap of 20 (Table I), 9.0 of 10 (Table II)."""
    results = {case: their_flows(*(columns[name] for name in KINDS)) for case, columns in PUBLISHED.items()}
    results[ALONE] = results[BBR] = their_flows((40.0,), (0.5,), (25.2,), (0.2,))
    results[CUBIC] = their_flows((40.0,), (0.5,), (25.2,), (7.0,))
    results[NEAR_P] = results[DIFFERENT]
    results[NEAR_B] = their_flows((15.3, 10.5, 8.0, 5.8), *((x,) * 4 for x in (1.0, 25.2, 0.2)))
    assert failed(sharing.claims(results)) == [
        "Flows with caps keep them, with little variation",
        "So do flows with different RTTs",
    ]
    assert all(row.as_dict()["deviation"] == 0 for row in sharing.rows(results))

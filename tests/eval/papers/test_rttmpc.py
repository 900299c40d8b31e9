# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of Lynn et al. 2020: their path, and the paper's numbers against its claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.papers.rttmpc import buffers, sharing
from ns3_env.eval.papers.rttmpc.bottleneck import RATE_BPS, RTT_NS, Flows, Path, episode, measure, rttmpc
from ns3_env.eval.papers.rttmpc.buffers import BUFFERS_BDP, FLOWS
from ns3_env.eval.papers.rttmpc.sharing import ALONE, BBR, CUBIC, DIFFERENT, NEAR_B, NEAR_P, PUBLISHED
from ns3_env.eval.papers.rttmpc.ten_gigabit import MPC, NOISY, one_flow_claims
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats
from tests.eval.papers.verdicts import failed

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
        run = measure(simulator.play(episode(SMALL, rttmpc(SMALL, 0.1, (0.3, 0.6)), 1.5)))
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
    results = measure(
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""The model of Zheng 2024 by hand and against the switch; shares of a link frame by frame."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.mpcc import open_loop, state_switch
from ns3_env.eval.papers.mpcc.link import empty_ns
from ns3_env.eval.papers.mpcc.open_loop import BOTTLENECK, NO_WINDOW, RATE_BPS, model, respond, slope_bps
from ns3_env.eval.papers.runs import count_shares
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator

#: BDP of four senders of 1 Gb/s into 1 Gb/s (Zheng 2024, Fig. 3.1), round for easy sums.
BDP = 4000


def test_the_model_is_eq_3_4_by_hand() -> None:
    # B = 1 µs x 4 x 1e9 / (8 x 4000) = 0.125; W* = 1e9 x 4000 / (1e9 x 4) = 1000 B
    # W = BDP: 0.125 x 3000 = 375 B per µs, 3 Gb/s; W = 0: -125 B per µs, -1 Gb/s; the fair share: nothing
    queue = model([4000, 4000, 0, 1000, 0], 1000, BDP)
    assert queue == pytest.approx([0, 375, 750, 625, 625, 500])
    assert slope_bps([0, 1000, 2000], queue[:3]) == pytest.approx(3e9)
    assert math.isnan(slope_bps([0], [0]))
    # an empty queue stays empty, a bounded one bounded
    assert model([0, 0, 4000, 0, 0, 0, 0], 1000, BDP) == pytest.approx([0, 0, 0, 375, 250, 125, 0, 0])
    assert model([4000] * 4, 1000, BDP, bound_bytes=800) == pytest.approx([0, 375, 750, 800, 800])


def test_the_switch_follows_the_model_in_open_loop() -> None:
    with Simulator() as simulator:
        base = open_loop.scenario(1000, 200_000, 800_000, 1000)
        answer = respond(simulator, base, lambda k, bdp: 0.0 if k % 2 else NO_WINDOW)
    on = (answer.times_ns[:-1] >= 0) & (answer.times_ns[:-1] // 200_000 % 2 == 0)
    theory = model(np.where(on, answer.bdp_bytes, 0.0), 1000, answer.bdp_bytes)
    assert answer.bdp_bytes == pytest.approx(3750)  # 6 µs, and three frames of 1000 B (eq. 2.2)
    assert np.abs(answer.switch_bytes - theory).max() < 6 * 1048
    assert answer.switch_bytes.max() > 75_000


def test_the_state_is_the_later_bottlenecks_queue_while_that_is_the_longer_one() -> None:
    with Simulator() as simulator:
        run, hops = state_switch.keep(
            simulator.play(declared("mpcc-state-switch").cases(0.2)["flow 2 after 30 µs"])
        )
    assert hops[:, 1].tolist() == [1, 3, 1]
    first, third = (run.lengths[port] for port in state_switch.BOTTLENECKS.values())
    longer = run.times_ns[third > first + 1080]
    # an ACK comes 5 µs of links behind switch 3, and after its frame's waiting time there
    news_ns = hops[1:, 0] - (longer[0], longer[-1])
    assert ((news_ns > 4_500) & (news_ns < 6_500)).all()


def test_throughput_is_what_the_flows_received() -> None:
    bin_ns = 50_000
    base = Scenario(
        topology=Dumbbell(senders=4, rate_bps=RATE_BPS),
        traffic=Incast(size_bytes=20_500),
        time_limit_ns=10_000_000,
    )
    with Simulator() as simulator:
        run = count_shares(simulator, base.under("hpcc"), BOTTLENECK, bin_ns)
    # 21 frames of 48 B of headers and 42 B of telemetry
    assert run.share.sum(axis=1) * bin_ns * RATE_BPS / 8e9 == pytest.approx([20_500 + 21 * 90] * 4)
    assert run.share.shape[1] == run.results["totals"]["end_ns"] // bin_ns + 1
    assert run.share.sum(axis=0).max() <= 1.2  # a whole frame may be counted in one bin


def test_a_queue_is_empty_after_its_peak() -> None:
    times = np.arange(6) * 100.0
    assert empty_ns(times, np.array([0.0, 5, 9, 4, 0, 3])) == 400
    assert math.isnan(empty_ns(times, np.array([0.0, 5, 9, 4, 1, 3])))

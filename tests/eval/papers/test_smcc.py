# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of Jiang 2015 on simulated links: watched ports, parameters, and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.papers.runs import Run
from ns3_env.eval.papers.smcc import bottlenecks, network, numbers
from ns3_env.eval.papers.smcc.bottlenecks import _decreases
from ns3_env.eval.papers.smcc.network import BOTTLENECK, DUMBBELL, ENTRIES, QCN, SMCC, TWO_STAGES, shorter
from ns3_env.eval.papers.smcc.theory.phase_plane import _back
from ns3_env.scenario.topology import Network
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats


def run_of(queue: Floats, rates: list[tuple[float, int, float]] | None = None) -> Run:
    """A run of two flows with one queue, seen each 100 µs."""
    node, port = BOTTLENECK
    series = {"t_ns": np.arange(len(queue)) * 1e5, "bytes": queue}
    return Run(
        {
            "flows": {"src": [0, 1]},
            "queues": [{"node": node, "port": port, "series": series}],
            "windows": [(t, flow, 0.0, rate) for t, flow, rate in rates or []],
            "totals": {"end_ns": len(queue) * 1e5},
            "losses": [],
        }
    )


def far_end(network: Network, port: tuple[int, int]) -> int:
    """The node at the other end of a port's link."""
    node, number = port
    own = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    return own[number]


def test_the_watched_ports_are_the_bottlenecks() -> None:
    assert far_end(DUMBBELL.build(), BOTTLENECK) == 7
    lot = bottlenecks.parking_lot_topology().build()
    assert (far_end(lot, bottlenecks.FIRST), far_end(lot, bottlenecks.SECOND)) == (9, 10)
    assert far_end(network.topology().build(), network.TO_RECEIVER) == 0
    assert len(network.endless().flows) == 15


def test_entries_have_the_papers_parameters() -> None:
    assert ENTRIES[SMCC].attributes == {"LargeStep": 0.256, "SmallStep": 0.256, "DeltaStep": 0.064}
    assert ENTRIES[TWO_STAGES].attributes == {"LargeStep": 0.256, "SmallStep": 0.128, "DeltaStep": 0.064}
    assert ENTRIES[QCN].attributes["ByteReset"] == 150e3


def test_a_settled_queue_stays_near_its_target() -> None:
    queue = np.full(10_000, 64e3)
    queue[:100], queue[300:320] = 128e3, 0.0
    assert numbers.settled_ns(run_of(queue)) == 320 * 1e5
    assert np.isnan(numbers.settled_ns(run_of(np.zeros(1000))))
    assert numbers.numbers(np.array([0.0, 64e3]))["empty"] == 0.5
    t = np.arange(50) * 1e-3
    assert _back(t, np.where(t < 10e-3, 20e3, 0.0), 0.05) == pytest.approx(9e-3)
    assert np.isnan(_back(t, np.where(t % 10e-3 < 5e-3, 20e3, 0.0), 0.05))


def test_a_decrease_is_as_large_whatever_the_rate_is_where_steps_are_additive() -> None:
    rates: list[tuple[float, int, float]] = []
    for i in range(20):
        rates += [(i * 5e5, 0, 8e8 - 1e6 * (i % 2)), (i * 5e5, 1, 2e8 - 1e6 * (i % 2))]
    step, ratio = _decreases(run_of(np.zeros(100), rates))
    assert step == pytest.approx(1)
    assert ratio == pytest.approx(4, rel=0.02)


def test_a_scale_is_of_times() -> None:
    assert shorter(1.0, 2.0) == 2 * 10**9
    assert shorter(1e-6, 2.0) == 60 * 10**6


def test_smcc_holds_its_target_beside_background_and_the_queue_is_seen_each_100_us() -> None:
    end = 300_000_000
    background = (network.background(2, 5, 500e6, end // 2),)
    flows, window = network.side_by_side(2), (end // 2, end)
    with Simulator() as simulator:
        run = Run(simulator.play(network.scenario(ENTRIES[SMCC], end, flows, background, measured_ns=window)))
    assert run.step_ns == 1e5
    assert abs(numbers.fine([run], 0.8 * end, end).mean() - 64e3) < 8e3
    assert run.used(BOTTLENECK) == pytest.approx(1, abs=0.01)
    total = run.rates_at(np.linspace(0.8 * end, end, 200)).sum(axis=0).mean()
    assert total == pytest.approx(500e6, rel=0.1)
    assert len(numbers.coarse([run], 0, end)) == pytest.approx(300, abs=1)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The experiments of Jiang 2015 on simulated links: watched ports, parameters, and numbers."""

from __future__ import annotations

import numpy as np
import pytest

from ns3_env.eval.metrics.fairness import jain_index
from ns3_env.eval.paper.smcc import incast_100g, network, parking_lot
from ns3_env.eval.paper.smcc.fairness import _decreases
from ns3_env.eval.paper.smcc.incast_100g import LAWS as LAWS_100G
from ns3_env.eval.paper.smcc.network import (
    BOTTLENECK,
    DUMBBELL,
    LAWS,
    QCN,
    SMCC,
    TWO_STAGES,
    Background,
    scenario,
    seeds,
    shorter,
    side_by_side,
)
from ns3_env.eval.paper.smcc.seen import Floats, Seen, numbers, seen, settled_ns
from ns3_env.eval.paper.smcc.theory.measured import _back
from ns3_env.scenario.topology import Network
from ns3_env.simulator import Simulator


def run_of(queue: Floats, rates: list[tuple[float, int, float]] | None = None, flows: int = 2) -> Seen:
    """A run with one queue, seen each 100 µs."""
    end = len(queue) * 1e5
    return Seen({BOTTLENECK: queue}, 1e5, {}, rates or [], flows, [end] * flows, end, 0, 0, 0, [0.0] * flows)


def far_end(network: Network, port: tuple[int, int]) -> int:
    """The node at the other end of a port's link."""
    node, number = port
    own = [link.b if link.a == node else link.a for link in network.links if node in (link.a, link.b)]
    return own[number]


def test_the_watched_ports_are_the_bottlenecks() -> None:
    assert far_end(DUMBBELL.build(), BOTTLENECK) == 7
    lot = parking_lot.topology().build()
    assert (far_end(lot, parking_lot.FIRST), far_end(lot, parking_lot.SECOND)) == (9, 10)
    assert far_end(network.topology(1e9).build(), network.TO_RECEIVER) == 0
    assert len(network.endless().flows) == 15


def test_laws_have_the_papers_parameters() -> None:
    assert LAWS[SMCC].attributes == {"LargeStep": 0.256, "SmallStep": 0.256, "DeltaStep": 0.064}
    assert LAWS[TWO_STAGES].attributes == {"LargeStep": 0.256, "SmallStep": 0.128, "DeltaStep": 0.064}
    assert LAWS[QCN].attributes["ByteReset"] == 150e3
    for law in LAWS_100G.values():
        assert incast_100g._scenario(law, network.endless(), 10**6).switch.pfc


def test_a_settled_queue_stays_near_its_target() -> None:
    queue = np.full(10_000, 64e3)
    queue[:100], queue[300:320] = 128e3, 0.0
    assert settled_ns(run_of(queue)) == 320 * 1e5
    assert np.isnan(settled_ns(run_of(np.zeros(1000))))
    t = np.arange(50) * 1e-3
    assert _back(t, np.where(t < 10e-3, 20e3, 0.0), 0.05) == pytest.approx(9e-3)
    assert np.isnan(_back(t, np.where(t % 10e-3 < 5e-3, 20e3, 0.0), 0.05))


def test_rates_are_steps_and_jains_index_is_one_when_they_are_equal() -> None:
    rates = [(0.0, 0, 1e9), (0.0, 1, 1e9), (5e6, 0, 2e8), (8e6, 1, 4e8)]
    found = run_of(np.zeros(100), rates).rates_at(np.array([1e6, 5e6, 9e6]))
    assert found.tolist() == [[1e9, 2e8, 2e8], [1e9, 1e9, 4e8]]
    assert jain_index(np.array([3.0, 3.0, 3.0])) == pytest.approx(1)
    assert jain_index(np.array([1.0, 0.0])) == pytest.approx(0.5)
    assert numbers(np.array([0.0, 64e3])).empty == 0.5


def test_a_decrease_is_as_large_whatever_the_rate_is_where_steps_are_additive() -> None:
    rates: list[tuple[float, int, float]] = []
    for i in range(20):
        rates += [(i * 5e5, 0, 8e8 - 1e6 * (i % 2)), (i * 5e5, 1, 2e8 - 1e6 * (i % 2))]
    step, ratio = _decreases(run_of(np.zeros(100), rates))
    assert step == pytest.approx(1)
    assert ratio == pytest.approx(4, rel=0.02)


def test_a_scale_is_of_times_and_repetitions() -> None:
    assert shorter(1.0, 2.0) == 2 * 10**9
    assert shorter(1e-6, 2.0) == 60 * 10**6
    assert seeds(0.5, 8) == [1, 2, 3, 4]
    assert seeds(0.001, 8) == [1]


def test_smcc_holds_its_target_beside_background_and_the_queue_is_seen_each_100_us() -> None:
    end = 300_000_000
    played = scenario(
        LAWS[SMCC],
        end,
        side_by_side(2),
        (Background(2, 5, 500e6, end // 2),),
        measured_ns=(end // 2, end),
    )
    with Simulator() as simulator:
        run = seen(simulator.play(played))
    assert run.fine_ns == 1e5
    assert abs(run.fine(0.8 * end, end).mean() - 64e3) < 8e3
    assert run.used[BOTTLENECK] == pytest.approx(1, abs=0.01)
    total = run.rates_at(np.linspace(0.8 * end, end, 200)).sum(axis=0).mean()
    assert total == pytest.approx(500e6, rel=0.1)
    assert len(run.coarse(0, end)) == pytest.approx(300, abs=1)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The theory of Jiang 2015 from its equations: sliding regimes, cycles, and phase theorems."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from ns3_env.eval.papers.smcc.theory import theorems
from ns3_env.eval.papers.smcc.theory.fluid import GIGABIT, Link, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.eval.papers.smcc.theory.theorems import (
    ellipse,
    feedback_change,
    inequality_24,
    line_y,
    not_a_hyperbola,
    spiral_condition,
)

FREE = Link(bounded=False)


@pytest.mark.parametrize(
    ("agrees", "count"),
    [
        (partial(theorems.theorem_3_agrees, taller=False), 60),
        (partial(theorems.theorem_3_agrees, taller=True), 60),
        (theorems.inequality_24_agrees, 100),
        (theorems.decrease_leads_back, 100),
        (theorems.theorem_1_agrees, 40),
        (theorems.bcn_never_slides, 50),
    ],
)
def test_a_theorem_holds_on_random_states(agrees: Callable[..., theorems.Count], count: int) -> None:
    """Jiang 2015: SMCC reaches its sliding regime (a < 1, a > 1), QCN slides where (24) says, BCN never."""
    results = agrees(np.random.default_rng(7), count)
    assert results.all
    assert results.tried == count


def test_inequality_24_by_hand() -> None:
    # N = 2, C = 1 Gb/s, a sample each 100 kB: w/(pC) = 1.6 ms; T = 150 kB at 62.5 MB/s = 2.4 ms.
    # (4.8 − 1.6) ms · 10 kB = 32 B s ≤ 2.56e-6 s² · target, from 12.5 MB/s = 100 Mb/s on.
    law = Qcn(FREE, 150e3)
    assert (FREE.lead, law.cycle) == pytest.approx((1.6e-3, 2.4e-3))
    assert not inequality_24(law, 10e3, 12.4e6)
    assert inequality_24(law, 10e3, 12.6e6)
    # T = 30 kB: 2T = 0.96 ms is less than w/(pC), so that any target above C will do.
    assert inequality_24(replace(law, bytes=30e3), 1e6, 0.0)


def test_a_recovery_that_leads_to_the_rate_itself_never_slides() -> None:
    """N R(0) − C = y on the line: (24) comes to 2T x₀ ≤ 0."""
    law = Qcn(FREE, 30e3)
    target = line_y(FREE, 5e3)
    assert feedback_change(FREE, law.recovering(target), 5e3) > 0
    assert feedback_change(FREE, law.recovering(0.1 * GIGABIT), 5e3) <= 0
    assert feedback_change(FREE, law.decreasing(target), 5e3) >= 0


def test_large_cycles_miss_the_sliding_mode_that_small_ones_enter() -> None:
    link = Link(background=0.5 * GIGABIT)
    assert theorems.misses(Qcn(link, 150e3), 10e3, 0.05 * GIGABIT)
    assert not theorems.misses(Qcn(link, 30e3), 10e3, 0.05 * GIGABIT)


def test_bcn_swings_through_its_target() -> None:
    way = trajectory(Bcn(Link()), 10e3, 0.05 * GIGABIT, 0.05, 1e-5)
    assert way.x.min() < -5e3


def test_ways_keep_their_constants() -> None:
    """Spirals by eq. 9 (the exponential of Jiang 2015, eq. 5), recovery by a logarithm."""
    a, b = 300.0, 5e5
    values, vectors = np.linalg.eig(np.array([[0.0, 1.0], [-b, -a]]))
    t = np.linspace(0.0, 0.02, 50)
    start = np.linalg.solve(vectors, np.array([1e4, 1e6]))
    u, v = (vectors @ (start[:, None] * np.exp(values[:, None] * t))).real
    assert (values.real < 0).all()  # eq. 7 as printed has one minus too many
    alpha, beta = -a / 2, math.sqrt(4 * b - a * a) / 2
    spiral = ((v - alpha * u) ** 2 + (beta * u) ** 2) * np.exp(-2 * alpha * t)
    for constant in (spiral, not_a_hyperbola(*theorems.recovery(50), 5e9, 400.0)):
        assert constant == pytest.approx(constant[0], rel=1e-9)
    right, printed = spiral_condition(Link(sample=10e6), 1 / 128)
    assert right > 1 > printed


@pytest.mark.parametrize("share", [0.05, 0.256, 4.0])
def test_state_a_is_an_ellipse_and_state_b_a_line(share: float) -> None:
    law = Smcc(FREE, share, share)
    way = trajectory(law, 0.0, 0.2 * GIGABIT, 0.5)
    first = way.t <= way.switches[0].t
    constant = ellipse(law, way.x[first], way.y[first])
    assert constant == pytest.approx(constant[0], rel=1e-6)
    # It meets y = 0 at x = y₀/√a₁, and stands there: state B has nothing to say at ΔQ = 0.
    assert way.x[-1] == pytest.approx(0.2 * GIGABIT / math.sqrt(law.a1(0.0)), rel=1e-3)
    assert way.stood
    # 0.256 · (1000 B / 100 kB) · 64: R_a/C · p · q0 in packets
    assert law.a1(0.0) * (64e3 / GIGABIT) ** 2 == pytest.approx(share * 0.64)
    assert trajectory(law, 40e3, -2e6, 1.0).x[-1] == pytest.approx(40e3 - 2e6 / law.b2, rel=1e-3)


@pytest.mark.parametrize(("flows", "sample"), [(1, 100e3), (16, 100e3), (2, 30e3)])
def test_state_bs_slope_is_b_whatever_n_and_p(flows: int, sample: float) -> None:
    slope, expected = theorems.slope_of_state_b(Link(flows, sample=sample, bounded=False))
    assert (slope, expected) == pytest.approx((-125.0, -125.0), rel=1e-6)


def test_smcc_stands_off_its_target_unless_switching_is_late() -> None:
    stood = [theorems.standstill(Smcc(FREE), 19e3, 0.1 * GIGABIT, delay) for delay in theorems.DELAYS]
    assert stood[0] > 20e3
    assert np.diff(np.abs(stood)).max() < 0
    assert abs(stood[-1]) < 1e3


def test_a_queue_stays_within_its_bounds_and_rates_within_theirs() -> None:
    for law in (Bcn(Link()), Qcn(Link(), 150e3), Smcc(Link()), Smcc(Link(), 4.0, 4.0)):
        for y in (0.9 * GIGABIT, -0.9 * GIGABIT):
            way = trajectory(law, 0.0, y, 0.1, 1e-4)
            assert way.t[-1] == pytest.approx(0.1) or way.stood
            assert way.x.min() >= -64e3 - 1
            assert way.x.max() <= 64e3 + 1
            assert way.y.min() >= -GIGABIT - 1
            assert way.y.max() <= GIGABIT + 1


def test_a_full_buffer_that_drains_is_state_b() -> None:
    """y < 0 < x: a straight line of slope −b₂, no ellipse through the empty queue."""
    way = trajectory(Smcc(Link()), 60e3, 0.4 * GIGABIT, 0.02)
    assert way.x.max() == pytest.approx(64e3)
    assert [switch.then for switch in way.switches][:1] == ["state B"]
    assert way.x.min() > 59e3
    assert way.y.min() > -0.01 * GIGABIT


def test_a_law_that_slides_needs_a_delay() -> None:
    with pytest.raises(ValueError, match="needs a delay"):
        trajectory(Qcn(Link(background=0.5 * GIGABIT), 30e3), 10e3, 0.05 * GIGABIT, 1.0)


def test_the_line_of_theorem_1_is_left_as_eq_23_says() -> None:
    law = Qcn(FREE, 150e3)
    x, target = 8e3, 0.05 * GIGABIT
    lead, cycle = FREE.lead, law.cycle
    expected = (1 / lead - 1 / (2 * cycle)) * x - lead * target / (2 * cycle)
    assert feedback_change(FREE, law.recovering(target), x) == pytest.approx(expected)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on the theory by trajectories in the plane (Jiang 2015, sec. 2.3, 3.2, 4.3)."""

from __future__ import annotations

import math

import numpy as np

from ns3_env.eval.papers.experiment import Progress
from ns3_env.eval.papers.outcome import Claim
from ns3_env.eval.papers.smcc.theory import theorems
from ns3_env.eval.papers.smcc.theory.fluid import GIGABIT, Link, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Qcn, Smcc

#: Cycles of Fig. 5, and its background.
LONG, SHORT, BACKGROUND = 150e3, 30e3, 0.5 * GIGABIT
#: Delays of switching: none, two, and a sample's.
DELAYS = (0.0, 1e-5, 1e-4, 8e-4)


def claims(points: int, progress: Progress) -> tuple[Claim, ...]:
    """Every one, on so many random states."""
    progress("Theorems 1 to 3 on random states")
    random = np.random.default_rng(1)
    return (
        *_sliding(random, points),
        _long_cycles(random, points),
        _condition_2(),
        *_smcc(random, points),
        *_shapes(),
    )


def _sliding(random: np.random.Generator, points: int) -> tuple[Claim, ...]:
    first = theorems.theorem_1_agrees(random, points)
    second = theorems.inequality_24_agrees(random, points)
    back = theorems.decrease_leads_back(random, points)
    bcn = theorems.bcn_never_slides(random, points)
    return (
        Claim(
            "A state slides where both fields lead to the switching line, and only there (Theorem 1)",
            first.all,
            f"{first} random points of F_b = 0 under QCN: followed with a delay of 0.1 µs",
        ),
        Claim(
            "Fast recovery leads back to F_b = 0 exactly where inequality (24) says so (Theorem 2)",
            second.all,
            f"{second} random points and settings, by the field that was followed",
        ),
        Claim(
            "Rate decrease leads back to F_b = 0 wherever x₀ > 0 (eq. 22)",
            back.all,
            f"{back} random points; neither the spiral of Theorem 2 (2) nor eq. 19's linearisation is needed",
        ),
        Claim(
            "BCN does not slide (4.6: its queue passes the target before N r reaches C)",
            bcn.all,
            f"{bcn} random points: both fields cross F_b = 0 in the same direction, where eq. 2 does nothing",
        ),
    )


def misses(law: Qcn, x: float, y: float, delay: float = 1e-4) -> bool:
    """Whether a queue that was too long falls to more than 1 kB below its target, within 0.1 s."""
    way = trajectory(law, x, y, 0.1, delay)
    return float(way.x[int(np.argmax(way.x)) :].min()) < -1e3


def _long_cycles(random: np.random.Generator, points: int) -> Claim:
    link = Link(background=BACKGROUND)
    states = [
        (link.target * random.uniform(0, 0.5), link.capacity * random.uniform(0.02, 0.2))
        for _ in range(max(4, points // 10))
    ]
    long, short = (sum(misses(Qcn(link, size), *state) for state in states) for size in (LONG, SHORT))
    return Claim(
        "With a large T QCN misses the sliding mode that it enters with a small one (3.2)",
        long > short == 0,
        "2 flows beside 500 Mb/s, states of a growing queue up to +32 kB and +20 %: it then falls below the "
        f"target from {long} of {len(states)} with T of 150 kB, from {short} with 30 kB",
    )


def _condition_2() -> Claim:
    link = Link(sample=10e6, flows=2)
    right, printed = theorems.spiral_condition(link, 1 / 128)
    usual = theorems.spiral_condition(Link(), 1 / 128)
    return Claim(
        "Decrease is a spiral where sqrt(G_d w/(4Cp)) < 1 (Theorem 2, condition 2)",
        (right < 1) == (printed < 1),
        "eq. 20 gives G_d w²/(4Cp²) < 1, with another power of w/p: a sample each 10 MB makes that "
        f"{right:.2g}, and the printed one {printed:.2g}; at the paper's settings {usual[0]:.1g} and "
        f"{usual[1]:.1g}",
    )


def _smcc(random: np.random.Generator, points: int) -> tuple[Claim, ...]:
    wide, tall = (theorems.theorem_3_agrees(random, points, taller) for taller in (False, True))
    link = Link(bounded=False)
    stood = [theorems.standstill(Smcc(link), 0.3 * link.target, 0.1 * GIGABIT, delay) for delay in DELAYS]
    small = [
        theorems.standstill(Smcc(link, 0.064, 0.064), 0.3 * link.target, 0.1 * GIGABIT, delay)
        for delay in DELAYS
    ]

    def listed(values: list[float]) -> str:
        return ", ".join("–" if math.isnan(x) else f"{x / 1e3 + 0.0:+.1f}" for x in values)

    return (
        Claim(
            "SMCC reaches y = 0 from any state, whatever a, b, N, C (Theorem 3)",
            wide.all and tall.all,
            f"{wide} random systems and states with a < 1, {tall} with a > 1; from state B in the limit only",
        ),
        Claim(
            "Along y = 0 it goes straight to the equilibrium (4.3, 4.6)",
            max(map(abs, stood[:2])) < 1e3,
            "dx/dt is y, and y is 0 there: it stands where it meets the line, unless switching is late; from "
            f"+19 kB and +100 Mb/s it stands at {listed(stood)} kB with τ of 0, 0.01, 0.1, 0.8 ms (a "
            f"sample), at {listed(small)} kB with R_a of 64",
        ),
        Claim(
            "Inequalities (29) are equivalent to min a₁ > 0, max b₁ ≤ 0 (eq. 30), so that b₁ = 0 meets them",
            touching(Smcc(link), -1e3) < 0,
            "line 2 of (29), −b₁ x < 0 where x < 0, is 0 < 0 with b₁ = 0: state B touches y = 0, it does not "
            "cross it; Theorem 1, with ≤, is met",
        ),
    )


def touching(law: Smcc, x: float) -> float:
    """dy/dt at (x, 0) in state B's field."""
    return law.first(x, math.copysign(1.0, -x)).change(0.0, x, 0.0, 0.0)


def _shapes() -> tuple[Claim, ...]:
    slopes = [theorems.slope_of_state_b(link) for link in (Link(bounded=False), Link(8, bounded=False))]
    slopes.append(theorems.slope_of_state_b(Link(sample=30e3, bounded=False)))
    law = Smcc(Link(bounded=False))
    way = trajectory(law, 0.0, 0.3 * GIGABIT, 1e-3)
    kept = theorems.ellipse(law, way.x, way.y)
    spread = float(np.ptp(kept) / kept.mean())
    g, h = 5e9, 400.0
    t = np.linspace(0.0, 5e-3, 200)
    v = g / h + (-2e7 - g / h) * np.exp(-h * t)
    u = g / h * t + (-2e7 - g / h) * (1 - np.exp(-h * t)) / h
    constant = theorems.not_a_hyperbola(u, v, g, h)
    return (
        Claim(
            "State A's ways are ellipses, state B's straight lines of slope −b (4.3)",
            spread < 1e-3 and all(math.isclose(a, b, rel_tol=1e-3) for a, b in slopes),
            f"a₁x² + y² constant to {spread:.0e}; slope {slopes[0][0]:.0f}/s with b = 125/s, whatever N and "
            "p; with b = pC b₂/N and eq. 27 as printed it is −b₂ = −N b/(pC)",
        ),
        Claim(
            "The ways of eqs. 10 and 18, rate increase, are hyperbolas (2.3, 3.2)",
            not np.allclose(constant, constant[0], rtol=1e-6),
            "u + v/h + g/h² ln|g − hv| is constant along them (here to "
            f"{np.ptp(constant) / np.abs(constant).mean():.0e}): logarithms, with v → g/h",
        ),
    )


def regime(law: Qcn, target: float, x_bounds: tuple[float, float]) -> tuple[float, float]:
    """Least and largest x of the stretch of F_b = 0 on which a state slides with N R(0) − C = ``target``; NaN
    where there is none. At x > 0 decrease always leads back."""
    xs = np.linspace(1.0, max(x_bounds[1], 2.0), 500)
    mode = law.recovering(target)
    own = [x for x in xs if theorems.feedback_change(law.link, mode, float(x)) <= 0]
    return (float(own[0]), float(own[-1])) if own else (math.nan, math.nan)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Closed forms of sliding and trajectories, the theorems on random states, verdicts (Jiang 2015)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ns3_env.eval.papers.experiment import Progress
from ns3_env.eval.papers.outcome import Verdict
from ns3_env.eval.papers.smcc.theory.fluid import GIGABIT, STANDS, Link, Mode, Trajectory, trajectory
from ns3_env.eval.papers.smcc.theory.laws import Bcn, Qcn, Smcc
from ns3_env.eval.papers.verdicts import listed
from ns3_env.simulator.results import Floats

#: The plane as the paper draws it: no bounds.
FREE = Link(bounded=False)
#: A time in which a way is followed, seconds: short beside every time constant here.
_STEP = 1e-7
#: A field less steep than this, of the other one, leads back too slowly to be seen within the steps followed.
_SHALLOW = 0.05


def line_y(link: Link, x: float) -> float:
    """y of the switching line F_b = 0."""
    return -x / link.lead


def feedback_change(link: Link, mode: Mode, x: float) -> float:
    """dF_b/dt = −dx/dt − w/(pC) dy/dt on the line F_b = 0 in a mode's field (Jiang 2015, eqs. 21 to 23)."""
    y = line_y(link, x)
    return -y - link.lead * mode.change(0.0, x, y, y)


def inequality_24(law: Qcn, x: float, target: float) -> bool:
    """(2T − w/(pC)) x₀ ≤ (w/(pC))² (N R(0) − C): recovery leads back across the line (Jiang 2015, eq. 24)."""
    lead = law.link.lead
    return (2 * law.cycle - lead) * x <= lead**2 * target


def spiral_condition(link: Link, gd: float) -> tuple[float, float]:
    """Both numbers that have to be below 1 for a spiral: (G_d w)²/(p² 4 G_d C) by eq. 20, sqrt(G_d w/(4Cp))
    by Theorem 2.

    In packets of 1 kB and samples a second as eq. 15 counts them: G_d of a packet of F_b, p of packets.
    """
    per_packet = gd * 1000 / link.level
    p, packets = 1000 / link.sample, link.capacity / 1000
    return (per_packet * link.weight / p) ** 2 / (4 * per_packet * packets), math.sqrt(
        per_packet * link.weight / (4 * packets * p)
    )


def not_a_hyperbola(u: Floats, v: Floats, g: float, h: float) -> Floats:
    """u + v/h + g/h² ln|g − h v|, which stays what it is along du/dt = v, dv/dt = g − h v (Jiang 2015,
    eq. 10): a logarithm, where the paper has hyperbolas."""
    constant: Floats = u + v / h + g / h**2 * np.log(np.abs(g - h * v))
    return constant


def ellipse(law: Smcc, x: Floats, y: Floats) -> Floats:
    """a₁ x² + y², which stays what it is in state A with one stage (Jiang 2015, eq. 26)."""
    constant: Floats = law.a1(0.0) * x**2 + y**2
    return constant


def sliding_stretches(way: Trajectory, longest: float, least: int = 4) -> list[tuple[float, float]]:
    """(begin, end) of the times in which a trajectory changes modes, ``least`` times at least, and never
    waits longer than ``longest`` seconds for it."""
    times = np.array([switch.t for switch in way.switches])
    groups = np.split(times, np.flatnonzero(np.diff(times) > longest) + 1)
    return [(float(group[0]), float(group[-1])) for group in groups if len(group) >= least]


@dataclass(frozen=True)
class Count:
    """``agreed`` of ``tried``."""

    agreed: int
    tried: int

    @classmethod
    def of(cls, verdicts: Iterable[bool]) -> Count:
        """The count of some verdicts."""
        several = list(verdicts)
        return cls(sum(several), len(several))

    @property
    def all(self) -> bool:
        """None failed, of at least one."""
        return self.tried > 0 and self.agreed == self.tried

    def __str__(self) -> str:
        return f"{self.agreed:,} of {self.tried:,}"


def random_link(random: np.random.Generator) -> Link:
    """1 to 64 sources, 1 to 100 Gb/s, a sample each 20 to 500 kB."""
    rate = 125e6 * 10 ** random.uniform(0, 2)
    return Link(
        flows=int(random.integers(1, 65)),
        rate=rate,
        background=rate * random.uniform(0, 0.9),
        sample=10 ** random.uniform(4.3, 5.7),
        weight=random.uniform(0.5, 4),
        bounded=False,
    )


def random_line(random: np.random.Generator) -> tuple[Qcn, float, float]:
    """A QCN system, x₀ > 0 of a point of its switching line, and N R(0) − C there."""
    link = random_link(random)
    law = Qcn(link, bytes=10 ** random.uniform(4, 5.5))
    return law, link.target * random.uniform(0.01, 1), link.capacity * random.uniform(-0.5, 2)


@dataclass(frozen=True)
class _From:
    """A QCN system that begins in a mode of our choice."""

    law: Qcn
    mode: Mode

    @property
    def link(self) -> Link:
        return self.law.link

    def first(self, x: float, y: float) -> Mode:
        return self.mode

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        return self.law.after(mode, since, x, y, slope)


def _shortly(law: Qcn, mode: Mode, x: float) -> float:
    """dF_b/dt from x of the line F_b = 0 on, by following a mode's field for a moment, as if it acted
    everywhere."""
    everywhere, y = Mode("everywhere", mode.change, lambda x, y, slope: 1.0), line_y(law.link, x)
    way = trajectory(_From(law, everywhere), x, y, _STEP)
    end = law.link.feedback(float(way.x[-1]), float(way.y[-1]))
    return (end - law.link.feedback(x, y)) / _STEP


def inequality_24_agrees(random: np.random.Generator, count: int) -> Count:
    """Tries whether recovery leads back across F_b = 0, as it is followed and as inequality (24) has it."""
    lines = (random_line(random) for _ in range(count))
    return Count.of(
        (_shortly(law, law.recovering(target), x) <= 0) == inequality_24(law, x, target)
        for law, x, target in lines
    )


def decrease_leads_back(random: np.random.Generator, count: int) -> Count:
    """Tries whether decrease leads back across F_b = 0 at pC/w · x₀, at any x₀ > 0 (eq. 22)."""
    lines = (random_line(random) for _ in range(count))
    return Count.of(
        math.isclose(_shortly(law, law.decreasing(target), x), x / law.link.lead, rel_tol=1e-3)
        for law, x, target in lines
    )


def theorem_1_agrees(random: np.random.Generator, count: int) -> Count:
    """Tries whether a state keeps changing modes at the line exactly where both fields lead to it."""
    verdicts: list[bool] = []
    while len(verdicts) < count:
        law, x, target = random_line(random)
        below = feedback_change(law.link, law.decreasing(target), x)
        above = feedback_change(law.link, law.recovering(target), x)
        if _SHALLOW < abs(above) / below < 1 / _SHALLOW:
            inside = line_y(law.link, x) - abs(above) * _STEP / law.link.lead
            way = trajectory(_From(law, law.recovering(target)), x, inside, 100 * _STEP, _STEP)
            verdicts.append((len(way.switches) >= 3) == (above <= 0 <= below))
    return Count.of(verdicts)


def random_smcc(random: np.random.Generator, taller: bool) -> tuple[Smcc, float, float]:
    """An SMCC system, ``taller``: with a > 1 (Fig. 7), else a < 1 (Fig. 8), and a state."""
    link = random_link(random)
    unit = Smcc(link, 1.0, 1.0, 1.0)
    # a₁ in units of q0 and C, as the figures need it.
    one = link.capacity**2 / link.target**2 / unit.a1(0.0)
    share = one * 10 ** (random.uniform(0.01, 2) if taller else random.uniform(-2, -0.01))
    law = replace(unit, large=share, small=share, delta=10 ** random.uniform(-2, 0))
    return law, link.target * random.uniform(-1, 1), link.capacity * random.uniform(-1, 2)


def theorem_3_agrees(random: np.random.Generator, count: int, taller: bool) -> Count:
    """Tries whether SMCC comes to y = 0 from a random state, in the time that the slowest motion needs."""

    def comes(law: Smcc, x: float, y: float) -> bool:
        way = trajectory(law, x, y, max(40 / law.b2, 20 / math.sqrt(law.a1(0.0))))
        return way.stood and bool(abs(way.y[-1]) <= STANDS * law.link.rate)

    return Count.of(comes(*random_smcc(random, taller)) for _ in range(count))


def bcn_never_slides(random: np.random.Generator, count: int) -> Count:
    """Tries whether both of BCN's fields cross F_b = 0 in the same direction, at random points of it."""

    def crosses() -> bool:
        law, x = Bcn(random_link(random)), FREE.target * random.uniform(-1, 1)
        first, second = (feedback_change(law.link, mode, x) for mode in law.modes())
        return first * second > 0

    return Count.of(crosses() for _ in range(count))


def slope_of_state_b(link: Link) -> tuple[float, float]:
    """dy/dx along a way in state B, and −b of a sample, 1/s."""
    law = Smcc(link)
    way = trajectory(law, 0.5 * link.target, -0.02 * link.capacity, 0.2 / law.b2)
    slope = (way.y[-1] - way.y[0]) / (way.x[-1] - way.x[0])
    return float(slope), -law.delta * link.rate / link.target


def standstill(law: Smcc, x: float, y: float, delay: float) -> float:
    """The offset at which a way comes to stand; NaN where it does not within 200 samples."""
    way = trajectory(law, x, y, 200 * law.link.interval, delay)
    return float(way.x[-1]) if way.stood else math.nan


#: Cycles of Fig. 5, and its background.
LONG, SHORT, BACKGROUND = 150e3, 30e3, 0.5 * GIGABIT
#: Delays of switching: none, two, and a sample's.
DELAYS = (0.0, 1e-5, 1e-4, 8e-4)


def claims(points: int, progress: Progress) -> dict[str, Verdict]:
    """Every verdict, on so many random states."""
    progress("Theorems 1 to 3 on random states")
    random = np.random.default_rng(1)
    return {**_sliding(random, points), **_smcc(random, points), **_shapes()}


def misses(law: Qcn, x: float, y: float, delay: float = 1e-4) -> bool:
    """True where a queue that was too long falls to more than 1 kB below its target, within 0.1 s."""
    way = trajectory(law, x, y, 0.1, delay)
    return float(way.x[int(np.argmax(way.x)) :].min()) < -1e3


def _sliding(random: np.random.Generator, points: int) -> dict[str, Verdict]:
    first, second = theorem_1_agrees(random, points), inequality_24_agrees(random, points)
    back, bcn = decrease_leads_back(random, points), bcn_never_slides(random, points)
    link = Link(background=BACKGROUND)
    states = [
        (link.target * random.uniform(0, 0.5), link.capacity * random.uniform(0.02, 0.2))
        for _ in range(max(4, points // 10))
    ]
    long, short = (sum(misses(Qcn(link, size), *state) for state in states) for size in (LONG, SHORT))
    right, printed = spiral_condition(Link(sample=10e6, flows=2), 1 / 128)
    usual = spiral_condition(Link(), 1 / 128)
    return {
        "A state slides where both fields lead to the switching line, and only there (Theorem 1)": (
            first.all,
            f"{first} random points of F_b = 0 under QCN: followed with a delay of 0.1 µs",
        ),
        "Fast recovery leads back to F_b = 0 exactly where inequality (24) says so (Theorem 2)": (
            second.all,
            f"{second} random points and settings, by the field that was followed",
        ),
        "Rate decrease leads back to F_b = 0 wherever x₀ > 0 (eq. 22)": (
            back.all,
            f"{back} random points; neither the spiral of Theorem 2 (2) nor eq. 19's linearisation is needed",
        ),
        "BCN does not slide (4.6: its queue passes the target before N r reaches C)": (
            bcn.all,
            f"{bcn} random points: both fields cross F_b = 0 in the same direction, where eq. 2 does nothing",
        ),
        "With a large T QCN misses the sliding mode that it enters with a small one (3.2)": (
            long > short == 0,
            "2 flows beside 500 Mb/s, states of a growing queue up to +32 kB and +20 %: it then falls below "
            f"the target from {long} of {len(states)} with T of 150 kB, from {short} with 30 kB",
        ),
        "Decrease is a spiral where sqrt(G_d w/(4Cp)) < 1 (Theorem 2, condition 2)": (
            True if (right < 1) == (printed < 1) else None,
            f"eq. 20 gives G_d w²/(4Cp²) < 1: a sample each 10 MB makes that {right:.2g}, the printed one "
            f"{printed:.2g}; at the paper's settings {usual[0]:.1g} and {usual[1]:.1g}. The copy read here "
            "may have lost a fraction bar, as sqrt(G_d/(4C)) w/p would be eq. 20's",
        ),
    }


def _smcc(random: np.random.Generator, points: int) -> dict[str, Verdict]:
    wide, tall = (theorem_3_agrees(random, points, taller) for taller in (False, True))
    link = Link(bounded=False)
    offsets, small = (
        [standstill(law, 0.3 * link.target, 0.1 * GIGABIT, delay) for delay in DELAYS]
        for law in (Smcc(link), Smcc(link, 0.064, 0.064))
    )
    texts, small_texts = (listed((x / 1e3 + 0.0 for x in record), "+.1f") for record in (offsets, small))
    return {
        "SMCC reaches y = 0 from any state, whatever a, b, N, C (Theorem 3)": (
            wide.all and tall.all,
            f"{wide} random systems and states with a < 1, {tall} with a > 1; from state B in the limit only",
        ),
        "Along y = 0 it goes straight to the equilibrium (4.3, 4.6)": (
            max(map(abs, offsets[:2])) < 1e3,
            "dx/dt is y, and y is 0 there: it stands where it meets the line, unless switching is late; from "
            f"+19 kB and +100 Mb/s it stands at {texts} kB with τ of 0, 0.01, 0.1, 0.8 ms (a sample), at "
            f"{small_texts} kB with R_a of 64",
        ),
        "Inequalities (29) are equivalent to min a₁ > 0, max b₁ ≤ 0 (eq. 30), so that b₁ = 0 meets them": (
            True if touching(Smcc(link), -1e3) < 0 else None,
            "line 2 of (29), −b₁ x < 0 where x < 0, is 0 < 0 with b₁ = 0. With ≤, as Theorem 1 has it, the "
            "claim holds: the copy read here may have lost a bar",
        ),
    }


def touching(law: Smcc, x: float) -> float:
    """dy/dt at (x, 0) in state B's field."""
    return law.first(x, math.copysign(1.0, -x)).change(0.0, x, 0.0, 0.0)


def _shapes() -> dict[str, Verdict]:
    links = (Link(bounded=False), Link(8, bounded=False), Link(sample=30e3, bounded=False))
    slopes = [slope_of_state_b(link) for link in links]
    law = Smcc(links[0])
    way = trajectory(law, 0.0, 0.3 * GIGABIT, 1e-3)
    radius = ellipse(law, way.x, way.y)
    spread = float(np.ptp(radius) / radius.mean())
    constant = not_a_hyperbola(*recovery(200), 5e9, 400.0)
    return {
        "State A's ways are ellipses, state B's straight lines of slope −b (4.3)": (
            spread < 1e-3 and all(math.isclose(a, b, rel_tol=1e-3) for a, b in slopes),
            f"a₁x² + y² constant to {spread:.0e}; slope {slopes[0][0]:.0f}/s with b = 125/s, whatever N and "
            "p; with b = pC b₂/N and eq. 27 as printed it is −b₂ = −N b/(pC)",
        ),
        "The ways of eqs. 10 and 18, rate increase, are hyperbolas (2.3, 3.2)": (
            not np.allclose(constant, constant[0], rtol=1e-6),
            "u + v/h + g/h² ln|g − hv| is constant along them (here to "
            f"{np.ptp(constant) / np.abs(constant).mean():.0e}): logarithms, with v → g/h",
        ),
    }


def recovery(points: int, g: float = 5e9, h: float = 400.0) -> tuple[Floats, Floats]:
    """u and v along du/dt = v, dv/dt = g − h v, from (0, −2e7) over 5 ms: (points,) each."""
    t = np.linspace(0.0, 5e-3, points)
    v = g / h + (-2e7 - g / h) * np.exp(-h * t)
    return g / h * t + (-2e7 - g / h) * (1 - np.exp(-h * t)) / h, v


def regime(law: Qcn, target: float, x_bounds: tuple[float, float]) -> tuple[float, float]:
    """Least and largest x of the stretch of F_b = 0 on which a state slides with N R(0) − C = ``target``; NaN
    where there is none. At x > 0 decrease always leads back."""
    mode = law.recovering(target)
    xs = [float(x) for x in np.linspace(1.0, max(x_bounds[1], 2.0), 500)]
    sliding = [x for x in xs if feedback_change(law.link, mode, x) <= 0]
    return (sliding[0], sliding[-1]) if sliding else (math.nan, math.nan)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Fluid model: trajectories in the plane of x = q − q0 and y = N r − C.

A law has modes, each a vector field in a region of the plane (Jiang 2015, eqs. 16–18, 26, 27). A mode is
left when the state has left its region for the delay τ of Jiang 2015, sec. 2.3, or when its time is over. The
queue has bounds, which large swings reach: it is empty, or the buffer is full and the rest is lost. There
dq/dt is 0, and so is what the congestion point sees of y as ΔQ, until y changes its sign. Rates have bounds
too: none is negative, or above its source's link.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ns3_env.simulator.results import Floats

#: 1 Gb/s in bytes per second; q0, buffer and 1/p of Jiang 2015, sec. 5.2, with packets of 1 kB.
GIGABIT, TARGET, BUFFER, SAMPLE = 125e6, 64e3, 128e3, 100e3
#: Of the rate: a state that moves more slowly stands.
STANDS = 1e-6
#: Stretches of a way, at most: a law that slides without delay has no end of them.
_PIECES = 2_000
_RELATIVE, _ABSOLUTE = 1e-9, 1e-9


@dataclass(frozen=True)
class Link:
    """A bottleneck and the sources that share it.

    Attributes:
        flows: N, under control.
        rate: of the link, and of each source's own.
        background: of the flows that nobody controls.
        target: q0.
        buffer: the queue's bound.
        sample: arrivals from one sample to the next, 1/p.
        weight: w.
        bounded: whether queue and rates have bounds at all; the paper's plane has none.
    """

    flows: int = 2
    rate: float = GIGABIT
    background: float = 0.0
    target: float = TARGET
    buffer: float = BUFFER
    sample: float = SAMPLE
    weight: float = 2.0
    bounded: bool = True

    @property
    def capacity(self) -> float:
        """C, what is left for the controlled flows."""
        return self.rate - self.background

    @property
    def interval(self) -> float:
        """Δt = 1/(pC), seconds from sample to sample (Jiang 2015, eq. 13). Background is sampled as well."""
        return self.sample / self.rate

    @property
    def lead(self) -> float:
        """w/(pC), seconds: the switching line F_b = 0 is x = −lead · y (Jiang 2015, eq. 14)."""
        return self.weight * self.interval

    @property
    def feedbacks(self) -> float:
        """Samples a second that reach one of the sources.

        Jiang 2015, eq. 15 has none of it: it adjusts a rate once a second. Gains here are a sample's, times
        this; with it, its equations hold as they are printed.
        """
        return self.capacity / self.rate / (self.interval * self.flows)

    @property
    def level(self) -> float:
        """Bytes of F_b to one of the 63 levels that a feedback frame has for it: (1 + 2w) q0 are all."""
        return (1 + 2 * self.weight) * self.target / 63

    @property
    def x_bounds(self) -> tuple[float, float]:
        """Least and largest x: an empty queue and a full buffer."""
        return (-self.target, self.buffer - self.target) if self.bounded else (-math.inf, math.inf)

    @property
    def y_bounds(self) -> tuple[float, float]:
        """Least and largest y: no source sends, and all at the rate of their links."""
        if not self.bounded:
            return -math.inf, math.inf
        return -self.capacity, self.flows * self.rate - self.capacity

    def feedback(self, x: float, slope: float) -> float:
        """F_b at an offset x of a queue that grows by ``slope`` bytes a second (Jiang 2015, eq. 14)."""
        return -x - self.lead * slope


@dataclass(frozen=True)
class Mode:
    """One vector field and the region in which it acts.

    Attributes:
        name: as the paper calls it.
        change: dy/dt, of seconds since it began, x, y and dq/dt, which is y inside the bounds and 0 at them.
        inside: of x, y and dq/dt: above 0 inside the region, 0 at its edge.
        memory: what its law knows in it.
        lasts: seconds after which it ends by itself.
        stands: of y: whether such a state never moves again.
    """

    name: str
    change: Callable[[float, float, float, float], float]
    inside: Callable[[float, float, float], float]
    memory: tuple[float, ...] = ()
    lasts: float = math.inf
    stands: Callable[[float], bool] = lambda y: False


class Law(Protocol):
    """The answer of sources to feedback."""

    @property
    def link(self) -> Link:
        """The bottleneck."""

    def first(self, x: float, y: float) -> Mode:
        """The mode in which a trajectory begins."""

    def after(self, mode: Mode, since: float, x: float, y: float, slope: float) -> Mode:
        """The mode that follows another, which acted for ``since`` seconds."""


@dataclass(frozen=True)
class Switch:
    """A change of modes at ``t``, and the mode that follows."""

    t: float
    then: str


@dataclass(frozen=True)
class Trajectory:
    """A way through the plane: (n,) arrays in seconds, bytes and bytes per second; ``stood``: to its end."""

    t: Floats
    x: Floats
    y: Floats
    switches: Sequence[Switch]
    stood: bool


@dataclass
class _State:
    t: float
    x: float
    y: float
    mode: Mode
    since: float
    #: Left its region then, and keeps its field until ``delay`` later.
    exit_time: float | None = None


def trajectory(
    law: Law, x: float, y: float, until: float, delay: float = 0.0, step: float = math.inf
) -> Trajectory:
    """The way from (x, y).

    Args:
        law: with its link.
        x: bytes, within the queue's bounds.
        y: bytes per second.
        until: seconds.
        delay: τ, seconds from leaving a mode's region to the next mode.
        step: the longest one from point to point, seconds.

    Raises:
        ValueError: the law slides, so that without a delay its modes change without end.
    """
    state = _State(0.0, x, y, law.first(x, y), 0.0)
    times, xs, ys = [np.zeros(1)], [np.array([x])], [np.array([y])]
    switches: list[Switch] = []
    stood = False
    for _ in range(_PIECES):
        if state.t >= until:
            break
        slope_is_zero = _bound(law.link, state)
        if state.exit_time is None and state.mode.stands(state.y) and not slope_is_zero:
            stood = True
            break
        piece, end = _piece(law.link, state, until, delay, slope_is_zero, step)
        times.append(piece.t[1:])
        xs.append(np.full(len(piece.t) - 1, state.x) if slope_is_zero else piece.y[0][1:])
        ys.append(piece.y[-1][1:])
        state.t = float(piece.t[-1])
        state.x, state.y = float(xs[-1][-1]) if len(xs[-1]) else state.x, float(piece.y[-1][-1])
        slope = 0.0 if slope_is_zero and end != "bound" else state.y
        if end == "bound":
            _nudge(law.link, state)
            if state.exit_time is None and state.mode.inside(state.x, state.y, state.y) < 0:
                end = "left"  # y has changed its sign
        if end == "left":
            state.exit_time = state.t
            if delay > 0:
                continue
        if end in ("left", "delayed", "over"):
            before = state.mode
            state.mode = law.after(before, state.t - state.since, state.x, state.y, slope)
            state.since, state.exit_time = state.t, None
            if state.mode.name != before.name:
                switches.append(Switch(state.t, state.mode.name))
    if state.t < until and not stood:
        raise ValueError(f"{_PIECES} changes by {state.t:g} s: this slides, and needs a delay above 0")
    return Trajectory(np.concatenate(times), np.concatenate(xs), np.concatenate(ys), switches, stood)


def _bound(link: Link, state: _State) -> bool:
    """True where the queue stands at a bound."""
    lowest, highest = link.x_bounds
    return (state.x <= lowest and state.y < 0) or (state.x >= highest and state.y > 0)


def _nudge(link: Link, state: _State) -> None:
    """Off a bound that is left, or exactly onto one that is met."""
    for bound in link.x_bounds:
        if abs(state.x - bound) < STANDS * link.target:
            state.x = bound
    if abs(state.y) < STANDS * link.rate:
        state.y = math.copysign(STANDS * link.rate, -state.x)


def _piece(
    link: Link, state: _State, until: float, delay: float, bounded: bool, step: float
) -> tuple[Any, str]:
    """One stretch of the way in one mode, and what ends it."""
    from scipy.integrate import solve_ivp  # takes half a second

    mode, x0 = state.mode, state.x
    lowest, highest = link.y_bounds
    empty, full = link.x_bounds

    def rates(t: float, s: Floats) -> Sequence[float]:
        x, y = (x0, s[0]) if bounded else (s[0], s[1])
        change = mode.change(t - state.since, x, y, 0.0 if bounded else y)
        if (y <= lowest and change < 0) or (y >= highest and change > 0):
            change = 0.0
        return (change,) if bounded else (y, change)

    def leaves(t: float, s: Floats) -> float:
        return mode.inside(x0, s[0], 0.0) if bounded else mode.inside(s[0], s[1], s[1])

    def bound(t: float, s: Floats) -> float:
        return float((s[0] if x0 > 0 else -s[0]) if bounded else min(s[0] - empty, full - s[0]))

    def stands(t: float, s: Floats) -> float:
        return abs(float(s[-1])) - 0.99 * STANDS * link.rate

    ends = [(bound, "bound")]
    if state.exit_time is None:
        ends.append((leaves, "left"))
        if mode.stands(0.0) and not bounded:
            ends.append((stands, "stands"))
    stop = min(until, state.since + mode.lasts)
    if state.exit_time is not None:
        stop = min(stop, state.exit_time + delay)
    for event, _ in ends:
        event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    start = [state.y] if bounded else [state.x, state.y]
    scale = [link.rate] if bounded else [link.sample, link.rate]
    solved = solve_ivp(
        rates,
        (state.t, max(stop, math.nextafter(state.t, math.inf))),
        start,
        events=[event for event, _ in ends],
        rtol=_RELATIVE,
        atol=[_ABSOLUTE * one for one in scale],
        max_step=max(min((stop - state.t) / 8, step), 1e-9),
    )
    if solved.status == 1:
        return solved, next(name for (_, name), hit in zip(ends, solved.t_events, strict=True) if len(hit))
    if state.exit_time is not None and stop == state.exit_time + delay:
        return solved, "delayed"
    return solved, "over" if stop < until else "end"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments in open loop: the model of a queue against switch and sender (Zheng 2024, chapter 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from ns3_env.decision.observations import column
from ns3_env.eval.papers.experiment import Data, Setup, experiment
from ns3_env.eval.papers.outcome import Outcome, deviation
from ns3_env.eval.papers.panels import (
    DASHED,
    FREE,
    MODEL,
    SENDER,
    SWITCH,
    Drawing,
    Panel,
    curve,
    labels,
    note,
)
from ns3_env.eval.papers.runs import Run, first
from ns3_env.scenario import AGENT, Controller, Record, Scenario, Switch, Synchronous
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import DecisionBatch, Simulator
from ns3_env.simulator.results import Floats

SENDERS, RATE_BPS = 4, 1e9
#: (node, port) between the dumbbell's switches, switch 1's egress queue in the thesis (Fig. 3.1): hosts come
#: first, then switch 1, whose ports are in the order of its links.
BOTTLENECK = (SENDERS + 1, SENDERS)
#: A window that never binds, bytes.
NO_WINDOW = 1e12
#: More than any of these runs can send, bytes.
_ENDLESS = 10**12
#: A buffer in which a queue at line rate never meets a bound.
_ROOM = 1 << 30

#: Frequencies of the step input (Fig. 3.3).
FREQUENCIES_HZ = (100, 200, 500, 1000)
#: The window while it is on. Fig. 3.3 has a flat top "attributed to the window", whose size the thesis does
#: not give; this is the one that it prints for this network (section 5.2).
WINDOW_BYTES = 30_000
#: Bytes on the wire per byte of payload: windows count payload, queues count frames.
_WIRE = 1.048
_PERIODS, _SAMPLE_NS = 3, 1000
#: Slopes are measured while theory is between these shares of its highest value.
_INNER = (0.1, 0.9)
#: Largest deviation from the thesis's slopes and instants.
_TOLERANCE = 0.05

SHORT_NS, LONG_NS = 1_000, 1_000_000
#: Number of times that a sender is queried for its known queue.
_ASKED_NS = 20_000
#: Simulated at scale 1.
_FIG_3_4_NS, _FIG_3_5_NS = 500_000, 15_000_000
#: The thesis's instants (section 3.3).
SWITCH_DELAY_NS, SENDER_DELAY_NS = 1e6, 6e6
#: A queue exists above this: one frame is on the wire, the second one waits.
_BEGUN_BYTES = 2000


def model(
    windows_bytes: npt.ArrayLike, interval_ns: float, bdp_bytes: float, bound_bytes: float = np.inf
) -> Floats:
    """Q(k + 1) = Q(k) + B · (W(k) − W*), from Q(0) = 0, (n + 1,) bytes of W(0), ..., W(n − 1) (eq. 3.4).

    B = Δt · N · R_in,max / (8 · P_BD,max), bytes of queue per byte of window (eq. 3.5); a queue is constant
    at W* = R_out · P_BD,max / (R_in,max · N). Here N are ``SENDERS``, R_in,max and R_out ``RATE_BPS``, of the
    senders' links and of that which the queue empties into; windows are in [0, P_BD,max] (eq. 2.3): a sender
    is no faster than its link.

    An empty queue under less than W* stays empty: its R_out is the arrival rate (Table 3.1). No more than
    ``bound_bytes`` can wait if windows limit the data in flight (eq. 4.3).
    """
    gain, fair = interval_ns / 1e9 * SENDERS * RATE_BPS / (8 * bdp_bytes), bdp_bytes / SENDERS
    steps = gain * (np.asarray(windows_bytes, dtype=np.float64) - fair)
    lengths = np.zeros(len(steps) + 1)
    for k, step in enumerate(steps):
        lengths[k + 1] = min(max(lengths[k] + step, 0.0), bound_bytes)
    return lengths


def slope_bps(times_ns: npt.ArrayLike, lengths_bytes: npt.ArrayLike) -> float:
    """The least-squares slope of a queue, bit/s; NaN for fewer than two instants."""
    times, lengths = np.asarray(times_ns, dtype=np.float64), np.asarray(lengths_bytes, dtype=np.float64)
    if len(times) < 2:
        return float("nan")
    centred = times - times.mean()
    return float(8e9 * (centred @ lengths) / (centred @ centred))


@dataclass(frozen=True)
class Response:
    """Queues over time; time 0 is when the senders start.

    Attributes:
        times_ns: (n,) times of the samples, ns.
        switch_bytes: (n,) queue at the bottleneck's egress port.
        asked_ns: (m,) times of sender 0's decisions, ns.
        sender_bytes: (m,) the queue in the telemetry of its last ACK; 0 before the first.
        bdp_bytes: the path's BDP as the simulator computes it.
    """

    times_ns: Floats
    switch_bytes: Floats
    asked_ns: Floats
    sender_bytes: Floats
    bdp_bytes: float


def scenario(delay_ns: int, interval_ns: int, until_ns: int, sample_ns: int) -> Scenario:
    """Four endless flows over a dumbbell of 1 Gb/s links (Zheng 2024, Fig. 3.1), asked every ``interval_ns``.

    They start a nanosecond before the first question, from which ``until_ns`` counts, so that the first
    answer rules from the first packet on. No PFC, and no telemetry on the wire: neither is in the model.
    """
    start = interval_ns - 1
    return Scenario(
        topology=Dumbbell(senders=SENDERS, rate_bps=RATE_BPS, delay_ns=delay_ns),
        traffic=FlowList(
            flows=[Flow(src=i, dst=SENDERS, size_bytes=_ENDLESS, start_ns=start) for i in range(SENDERS)]
        ),
        switch=Switch(pfc=False, buffer_bytes=_ROOM, ecn=None),
        controllers=[Controller(name=AGENT, attributes={"TelemetryBytes": 0, "InitialWindow": False})],
        clock=Synchronous(interval_ns=interval_ns),
        retransmission_timeout_ns=10**12,  # a queue of seconds is no loss
        time_limit_ns=interval_ns + until_ns,
        record=Record(queue_series_ns=sample_ns),
    )


def respond(simulator: Simulator, base: Scenario, window: Callable[[int, float], float]) -> Response:
    """Runs a scenario of :func:`scenario` under a window in bytes, of the question's number (0, 1, ...) and
    the path's BDP (bytes). Whatever the window, the senders send at line rate while it lets them; a window of
    0 stops them. Raises SimulatorError where the simulator failed.
    """
    assert isinstance(base.clock, Synchronous)
    origin = base.clock.interval_ns
    moments: list[tuple[float, float]] = []
    bdp = float("nan")
    simulator.send_reset(base)
    while isinstance(message := simulator.receive(), DecisionBatch):
        records = message.records[message.due]
        actions = np.zeros((len(records), 3))
        if len(records):
            number = round(message.time_ns / origin) - 1
            bdp = float(column(records, "bdp_bytes")[0])
            moments.append((message.time_ns - origin, float(column(records, "state_queue_bytes")[0])))
            actions[:] = window(number, bdp), RATE_BPS, 0.0
        simulator.send_actions(actions)
    run, samples = Run(message.results), np.array(moments).reshape(-1, 2)
    return Response(run.times_ns - origin, run.lengths[BOTTLENECK], samples[:, 0], samples[:, 1], bdp)


def play_1us(setup: Setup) -> Mapping[int, Response]:
    """Fig. 3.2: line rate for 1 ms (frequency 0); Fig. 3.3: on and off at each frequency, ``scale`` x 3
    periods."""
    setup.progress("line rate")
    line_rate = scenario(SHORT_NS, 500_000, 1_000_000, _SAMPLE_NS)
    answers = {0: respond(setup.simulator, line_rate, lambda k, bdp: NO_WINDOW)}
    for frequency in FREQUENCIES_HZ:
        setup.progress(f"steps at {frequency} Hz")
        half = round(0.5e9 / frequency)
        steps = scenario(SHORT_NS, half, 2 * max(1, round(_PERIODS * setup.scale)) * half, _SAMPLE_NS)
        answers[frequency] = respond(setup.simulator, steps, lambda k, bdp: 0.0 if k % 2 else WINDOW_BYTES)
    return answers


@experiment("mpcc-queue-1us", play=play_1us)
def queue_1us(data: Data[Mapping[int, Response]]) -> Outcome:
    """Open loop over 1 µs links: the switch's queue against the model."""
    pairs = {
        frequency: (
            answer,
            _theory(answer, round(0.5e9 / frequency), WINDOW_BYTES) if frequency else _theory(answer),
        )
        for frequency, answer in data.runs.items()
    }
    constant = data.runs[0]
    part = (constant.times_ns >= 1e5) & (constant.times_ns <= 1e6)
    line_rate = slope_bps(constant.times_ns[part], constant.switch_bytes[part])
    values = {"line rate": line_rate / 1e9}
    for frequency in FREQUENCIES_HZ:
        rise, fall = slopes(*pairs[frequency])
        values |= {f"rise {frequency}": rise / 1e9, f"fall {frequency}": fall / 1e9}
    errors = (float(np.abs(answer.switch_bytes - theory).max()) for answer, theory in pairs.values())
    rows = data.declared.compare({**values, "error": max(errors)})
    worst = max(abs(deviation(row.published, row.ours) or 0.0) for row in rows)
    at_line_rate = _against(f"4 senders at {RATE_BPS / 1e9:g} Gb/s, 1 µs links", *pairs[0], 1e3, "µs")
    return Outcome(
        rows=rows,
        claims={
            "The queue rises by 3 Gb/s and falls by 1 Gb/s at every frequency from 100 to 1000 Hz (section "
            "3.1)": (
                worst <= _TOLERANCE,
                f"slopes within {100 * worst:.1f} % of these; a frame is 1048 B",
            )
        },
        pictures={
            "fig-3-2": Drawing([at_line_rate], 1, 3.0),
            "fig-3-3": Drawing(
                [_against(f"step input at {x} Hz", *pairs[x], 1e6, "ms") for x in FREQUENCIES_HZ]
            ),
        },
    )


def slopes(answer: Response, theory: Floats) -> tuple[float, float]:
    """(rising, falling) slope of the switch's queue, bit/s: the median over all stretches where theory rises
    or falls, well away from its bounds. NaN without such stretches."""
    change = np.diff(theory, append=theory[-1])
    low, high = (share * theory.max() for share in _INNER)
    inner = (theory > low) & (theory < high) & (answer.times_ns >= 0)
    medians = []
    for part in (inner & (change > 0), inner & (change < 0)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], part.astype(int), [0]])))
        stretches = [slice(*pair) for pair in edges.reshape(-1, 2)]
        each = [slope_bps(answer.times_ns[one], answer.switch_bytes[one]) for one in stretches]
        each = [slope for slope in each if not np.isnan(slope)]
        medians.append(float(np.median(each)) if each else float("nan"))
    return medians[0], medians[1]


def _theory(answer: Response, half_ns: float = np.inf, window_bytes: float = np.inf) -> Floats:
    """Eq. 3.4 at the samples' instants, without delay, on from time 0 and off in turn, each for that time.

    While on, senders send at their links' rate: W is the BDP there.
    """
    bound = SENDERS * window_bytes * _WIRE - answer.bdp_bytes
    step = float(np.diff(answer.times_ns[:2])[0])
    moments = answer.times_ns[:-1]
    on = (moments >= 0) & (np.floor_divide(moments, half_ns) % 2 == 0)
    return model(np.where(on, answer.bdp_bytes, 0.0), step, answer.bdp_bytes, bound)


def _axes(time: str, queue: str) -> dict[str, object]:
    return labels(f"time ({time})", f"queue ({queue})", xlim=(0, None), ylim=(0, None))


def _against(title: str, answer: Response, theory: Floats, unit: float, word: str) -> Panel:
    """The switch's queue and the model's."""
    curves = [
        curve(answer.times_ns, answer.switch_bytes, "switch 1", SWITCH, (unit, 1e3)),
        curve(answer.times_ns, theory, "eq. 3.4", MODEL, (unit, 1e3), thin=True),
    ]
    return Panel(title, curves, _axes(word, "kB"))


#: Over short links without a window and with one of a BDP, over long ones without.
Answers = tuple[Response, Response, Response]


def play_1ms(setup: Setup) -> Answers:
    """Fig. 3.4: with a window of a BDP and without, 1 µs links. Fig. 3.5: 1 ms links, no window; ``scale`` of
    the simulated time, but Fig. 3.5 always gets the first 7 ms that it needs."""
    setup.progress("1 µs links, with and without a window")
    short = scenario(SHORT_NS, _ASKED_NS, round(max(1e5, setup.scale * _FIG_3_4_NS)), 200)
    free = respond(setup.simulator, short, lambda k, bdp: NO_WINDOW)
    bound = respond(setup.simulator, short, lambda k, bdp: bdp)
    setup.progress("1 ms links")
    long = scenario(LONG_NS, _ASKED_NS, round(max(7e6, setup.scale * _FIG_3_5_NS)), 1000)
    return free, bound, respond(setup.simulator, long, lambda k, bdp: NO_WINDOW)


@experiment("mpcc-queue-1ms", play=play_1ms)
def queue_1ms(data: Data[Answers]) -> Outcome:
    """Open loop over 1 ms links: what theory, switch and sender know."""
    free, bound, far = data.runs
    delay = first(far.times_ns, far.switch_bytes > _BEGUN_BYTES)
    sender = first(far.asked_ns, far.sender_bytes > _BEGUN_BYTES)
    later = far.times_ns > 2e6
    informed = far.asked_ns > (7e6 if data.scale * _FIG_3_5_NS > 8e6 else 6.2e6)
    slope = slope_bps(far.times_ns[later], far.switch_bytes[later])
    sender_slope = slope_bps(far.asked_ns[informed], far.sender_bytes[informed])
    limited, bound_b = float(bound.switch_bytes.max()), (SENDERS - 1) * free.bdp_bytes
    values = {
        **{"limited": limited, "bound": bound_b, "switch": delay / 1e6, "sender": sender / 1e6},
        **{"slope": slope / 1e9, "sender slope": sender_slope / 1e9},
    }
    near = abs(delay / SWITCH_DELAY_NS - 1) <= _TOLERANCE and abs(sender / SENDER_DELAY_NS - 1) <= _TOLERANCE
    return Outcome(
        rows=data.declared.compare(values),
        claims={
            "A queue reaches the switch one link delay late and the sender six (section 3.3)": (
                near,
                f"{delay / 1e6:.2f} ms and {sender / 1e6:.2f} ms",
            ),
            "A window of a BDP bounds the queue, at (N − 1) BDP (section 3.2, eq. 4.3)": (
                abs(limited - bound_b) <= SENDERS * 1048,
                f"{limited:,.0f} B, against {bound_b:,.0f} B; the BDP is no whole number of frames, a "
                "window is",
            ),
        },
        notes=(
            f"BDP by eq. 2.2: {free.bdp_bytes:,.0f} B over 1 µs links, {far.bdp_bytes:,.0f} B over 1 ms.",
        ),
        pictures={"fig-3-4": _draw_windows(free, bound), "fig-3-5": _draw_delays(far)},
    )


def _draw_windows(free: Response, bound: Response) -> Drawing:
    unit = 1e3, 1e3
    height = (SENDERS - 1) * bound.bdp_bytes / 1e3
    both = (
        curve(free.times_ns, free.switch_bytes, "no window", FREE, unit),
        curve(free.times_ns, bound.switch_bytes, "window of a BDP", SWITCH, unit),
        curve(free.times_ns, _theory(free), "eq. 3.4", MODEL, unit, thin=True),
    )
    alone = (curve(free.times_ns, bound.switch_bytes, "", SWITCH, unit, thin=True),)
    axes = {**_axes("µs", "kB"), "ylim": (0, 1.3 * max(height, bound.switch_bytes.max() / 1e3))}
    more = partial(note, words="(N − 1) BDP (eq. 4.3)", place=(0.97, height - 0.2))
    all_panels = (
        Panel("1 µs links", both, _axes("µs", "kB")),
        Panel("the window's queue alone", alone, axes, [(height, None, DASHED)], more=more),
    )
    return Drawing(all_panels, height=2.9)


def _draw_delays(far: Response) -> Drawing:
    unit = 1e6, 1e6
    curves = (
        curve(far.times_ns, _theory(far), "eq. 3.4", MODEL, unit),
        curve(far.times_ns, far.switch_bytes, "switch 1", SWITCH, unit),
        curve(far.asked_ns, far.sender_bytes, "sender 0", SENDER, unit),
    )
    return Drawing([Panel("4 senders at 1 Gb/s, 1 ms links", curves, _axes("ms", "MB"))], 1, 3.2)

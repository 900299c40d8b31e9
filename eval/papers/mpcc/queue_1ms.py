# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: queue of model, switch and sender over 1 ms links (Zheng 2024, Figs. 3.4, 3.5)."""

from __future__ import annotations

import numpy as np

from ns3_env.eval.papers.experiment import Played, Policies, Progress, experiment
from ns3_env.eval.papers.mpcc.open_loop import NO_WINDOW, SENDERS, Response, respond, scenario, slope_bps
from ns3_env.eval.papers.outcome import Claim, Outcome, Row
from ns3_env.eval.papers.panels import FREE, MODEL, SENDER, SWITCH, curve, finished, panels, told
from ns3_env.eval.papers.seen import queues_csv
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

SHORT_NS, LONG_NS = 1_000, 1_000_000
#: How often a sender is asked what it knows.
_ASKED_NS = 20_000
#: Simulated at scale 1.
_FIG_3_4_NS, _FIG_3_5_NS = 500_000, 15_000_000
#: The thesis's instants (section 3.3) and its bound of the queue (section 5.3): 3 x 4344 B.
SWITCH_DELAY_NS, SENDER_DELAY_NS, BOUND_BYTES = 1e6, 6e6, 13_032.0
#: A queue has begun above this: one frame is on the wire, the second one waits.
_BEGUN_BYTES = 2000
_TOLERANCE = 0.05
#: Over short links without a window and with one of a BDP, over long ones without.
Answers = tuple[Response, Response, Response]


def play(simulator: Simulator, scale: float, progress: Progress, policies: Policies) -> Played[Answers]:
    """Fig. 3.4: with a window of a BDP and without, 1 µs links. Fig. 3.5: 1 ms links, no window; ``scale`` of
    the simulated time, but Fig. 3.5 always gets the first 7 ms that it needs."""
    progress("1 µs links, with and without a window")
    short = scenario(SHORT_NS, _ASKED_NS, round(max(1e5, scale * _FIG_3_4_NS)), 200)
    free = respond(simulator, short, lambda k, bdp: NO_WINDOW)
    bound = respond(simulator, short, lambda k, bdp: bdp)
    progress("1 ms links")
    long = scenario(LONG_NS, _ASKED_NS, round(max(7e6, scale * _FIG_3_5_NS)), 1000)
    return Played((free, bound, respond(simulator, long, lambda k, bdp: NO_WINDOW)), scale, progress)


@experiment(
    "mpcc-queue-1ms",
    "Open loop over 1 ms links: what theory, switch and sender know",
    "Zheng 2024, Figs. 3.4 and 3.5",
    1.0,
    "simulated time",
    play,
)
def outcome(played: Played[Answers]) -> Outcome:
    """The thesis's instants, slopes and bound."""
    free, bound, far = played.runs
    delay = _first(far.times_ns, far.switch_bytes)
    sender = _first(far.seen_ns, far.seen_bytes)
    later = far.times_ns > 2e6
    known = far.seen_ns > (7e6 if played.scale * _FIG_3_5_NS > 8e6 else 6.2e6)
    switch_slope = slope_bps(far.times_ns[later], far.switch_bytes[later])
    sender_slope = slope_bps(far.seen_ns[known], far.seen_bytes[known])
    limited, bound_b = float(bound.switch_bytes.max()), (SENDERS - 1) * free.bottleneck.bdp_bytes
    rows = (
        Row("queue with a window of a BDP, longest", "B", BOUND_BYTES, limited, "5.3, Fig. 3.4"),
        Row("eq. 4.3, (N − 1) BDP, with our BDP", "B", BOUND_BYTES, bound_b, "5.3, eq. 4.3"),
        Row("queue begins at switch 1 after", "ms", SWITCH_DELAY_NS / 1e6, delay / 1e6, "Fig. 3.5"),
        Row("sender learns of it after", "ms", SENDER_DELAY_NS / 1e6, sender / 1e6, "Fig. 3.5"),
        Row("slope at switch 1", "Gb/s", 3.0, switch_slope / 1e9, "Fig. 3.5"),
        Row("slope as the sender sees it", "Gb/s", 3.0, sender_slope / 1e9, "Fig. 3.5"),
    )
    near = abs(delay / SWITCH_DELAY_NS - 1) <= _TOLERANCE and abs(sender / SENDER_DELAY_NS - 1) <= _TOLERANCE
    claims = (
        Claim(
            "A queue reaches the switch one link delay late and the sender six (section 3.3)",
            near,
            f"{delay / 1e6:.2f} ms and {sender / 1e6:.2f} ms",
        ),
        Claim(
            "A window of a BDP bounds the queue, at (N − 1) BDP (section 3.2, eq. 4.3)",
            abs(limited - bound_b) <= SENDERS * 1048,
            f"{limited:,.0f} B, against {bound_b:,.0f} B; the BDP is no whole number of frames, a window is",
        ),
    )
    notes = (
        "Open loop, as in mpcc-queue-1us; Fig. 3.4 has the thesis's 1 µs links, Fig. 3.5 those of 1 ms.",
        f"BDP by eq. 2.2: {free.bottleneck.bdp_bytes:,.0f} B over 1 µs links, "
        f"{far.bottleneck.bdp_bytes:,.0f} B over 1 ms. The thesis's 4,344 B is not derived there.",
    )
    pictures = {"fig-3-4": _draw_windows(free, bound), "fig-3-5": _draw_delays(far)}
    return Outcome(rows, claims, (), notes, pictures, {"queue": _csv(free, bound, far)})


def _first(times: Floats, lengths: Floats) -> float:
    """When the queue first stands above a frame on the wire and one that waits; NaN where it never does."""
    above = np.flatnonzero(lengths > _BEGUN_BYTES)
    return float(times[above[0]]) if len(above) else float("nan")


def _free_theory(times: Floats, response: Response) -> Floats:
    """Eq. 3.4 from time 0 on, without delay."""
    link = response.bottleneck
    windows = np.where(times[:-1] >= 0, link.bdp_bytes, 0.0)
    return link.queue(windows, float(times[1] - times[0]))


def _draw_windows(free: Response, bound: Response) -> bytes:
    figure, (both, alone) = panels(["1 µs links", "the window's queue alone"], 2, 2.9)
    chosen = free.times_ns >= 0
    times, unit = free.times_ns[chosen], (1e3, 1e3)
    curve(both, times, free.switch_bytes[chosen], "no window", FREE, unit)
    curve(both, times, bound.switch_bytes[chosen], "window of a BDP", SWITCH, unit)
    curve(both, times, _free_theory(free.times_ns, free)[chosen], "eq. 3.4", MODEL, unit, thin=True)
    curve(alone, times, bound.switch_bytes[chosen], "", SWITCH, unit, thin=True)
    level = (SENDERS - 1) * bound.bottleneck.bdp_bytes / 1e3
    alone.axhline(level, color="#000000", linewidth=0.8, linestyle="--")
    told(alone, "(N − 1) BDP (eq. 4.3)", (0.97, level - 0.2))
    for axes in (both, alone):
        axes.set(xlabel="time (µs)", ylabel="queue (kB)", xlim=(0, None), ylim=(0, None))
    alone.set_ylim(0, 1.3 * max(level, bound.switch_bytes.max() / 1e3))
    return finished(figure, both)


def _draw_delays(far: Response) -> bytes:
    figure, (axes,) = panels(["4 senders at 1 Gb/s, 1 ms links"], 1, 3.2)
    chosen, unit = far.times_ns >= 0, (1e6, 1e6)
    times = far.times_ns[chosen]
    curve(axes, times, _free_theory(far.times_ns, far)[chosen], "eq. 3.4", MODEL, unit)
    curve(axes, times, far.switch_bytes[chosen], "switch 1", SWITCH, unit)
    curve(axes, far.seen_ns, far.seen_bytes, "sender 0", SENDER, unit)
    axes.set(xlabel="time (ms)", ylabel="queue (MB)", xlim=(0, None), ylim=(0, None))
    return finished(figure, axes)


def _csv(free: Response, bound: Response, far: Response) -> str:
    queues = {
        ("1us", "switch"): (free.times_ns[::10], free.switch_bytes[::10]),
        ("1us-window", "switch"): (bound.times_ns[::10], bound.switch_bytes[::10]),
        ("1ms", "switch"): (far.times_ns[::20], far.switch_bytes[::20]),
        ("1ms", "sender"): (far.seen_ns, far.seen_bytes),
    }
    begun = {key: (times[times >= 0], lengths[times >= 0]) for key, (times, lengths) in queues.items()}
    return queues_csv(("case", "where", "t_ns", "bytes"), begun)

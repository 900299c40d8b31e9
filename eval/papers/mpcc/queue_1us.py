# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: steps of a queue over 1 µs links, against the model (Zheng 2024, Figs. 3.2, 3.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.output.table import csv_text
from ns3_env.eval.papers.experiment import Played, Policies, Progress, experiment
from ns3_env.eval.papers.mpcc import open_loop
from ns3_env.eval.papers.mpcc.open_loop import RATE_BPS, SENDERS, Response, scenario, slope_bps
from ns3_env.eval.papers.outcome import Claim, Outcome, Row
from ns3_env.eval.papers.panels import MODEL, SWITCH, curve, finished, panels
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

DELAY_NS = 1000
#: Of the step input (Fig. 3.3).
FREQUENCIES_HZ = (100, 200, 500, 1000)
#: While it is on. Fig. 3.3 has a flat top "attributed to the window", whose size the thesis does not give;
#: this is the one that it prints for this network (section 5.2).
WINDOW_BYTES = 30_000
#: Share of the wire that is no payload: windows count payload, queues count frames.
_WIRE = 1.048
_PERIODS = 3
_SAMPLE_NS = 1000
#: Where slopes are taken: theory between these shares of its highest value.
_INNER = (0.1, 0.9)
#: Slopes of the thesis: 4 x 1 Gb/s into 1 Gb/s, and nothing into it (section 3.1).
RISE_BPS, FALL_BPS = 3e9, -1e9
_TOLERANCE = 0.05
#: By frequency (Hz), of which 0 is line rate all the time: the switch's answer.
Answers = Mapping[int, Response]
#: The switch's answer, and the model's.
_Compared = tuple[Response, Floats]


def play(simulator: Simulator, scale: float, progress: Progress, policies: Policies) -> Played[Answers]:
    """Fig. 3.2: line rate for 1 ms; Fig. 3.3: on and off at each frequency, ``scale`` x 3 periods."""
    periods = max(1, round(_PERIODS * scale))
    progress("line rate")
    constant = scenario(DELAY_NS, 500_000, 1_000_000, _SAMPLE_NS)
    answers = {0: open_loop.respond(simulator, constant, lambda k, bdp: open_loop.NO_WINDOW)}
    for frequency in FREQUENCIES_HZ:
        progress(f"steps at {frequency} Hz")
        half = _half_ns(frequency)
        stepped = scenario(DELAY_NS, half, 2 * periods * half, _SAMPLE_NS)
        answers[frequency] = open_loop.respond(
            simulator, stepped, lambda k, bdp: 0.0 if k % 2 else WINDOW_BYTES
        )
    return Played(answers, scale, progress)


def _on_and_off(k: int, bdp: float) -> float:
    return 0.0 if k % 2 else WINDOW_BYTES


def _half_ns(frequency: int) -> int:
    return round(1e9 / (2 * frequency)) if frequency else 1_000_000


@experiment(
    "mpcc-queue-1us",
    "Open loop over 1 µs links: the switch's queue against the model",
    "Zheng 2024, Figs. 3.2 and 3.3",
    1.0,
    "periods of the step input",
    play,
)
def outcome(played: Played[Answers]) -> Outcome:
    """Slopes, and the largest difference from the model."""
    found = {
        frequency: (answer, _theory(answer, _half_ns(frequency), WINDOW_BYTES if frequency else np.inf))
        for frequency, answer in played.runs.items()
    }
    constant = played.runs[0]
    chosen = (constant.times_ns >= 1e5) & (constant.times_ns <= 1e6)
    slope = slope_bps(constant.times_ns[chosen], constant.switch_bytes[chosen])
    rows = [_row("slope at line rate", "Fig. 3.2", RISE_BPS, slope)]
    for frequency in FREQUENCIES_HZ:
        rise, fall = slopes(*found[frequency])
        rows.append(_row(f"rise, {frequency} Hz", "Fig. 3.3", RISE_BPS, rise))
        rows.append(_row(f"fall, {frequency} Hz", "Fig. 3.3", FALL_BPS, fall))
    worst = max(abs(row.deviation or 0.0) for row in rows)
    error = max(float(np.abs(answer.switch_bytes - theory).max()) for answer, theory in found.values())
    rows.append(Row("largest difference from eq. 3.4", "B", None, error, "Figs. 3.2, 3.3"))
    claim = Claim(
        "The queue rises by 3 Gb/s and falls by 1 Gb/s at every frequency from 100 to 1000 Hz (section 3.1)",
        worst <= _TOLERANCE,
        f"slopes within {100 * worst:.1f} % of these; a frame is 1048 B",
    )
    notes = (
        f"Open loop: a schedule across the channel answers each half period with a window ({WINDOW_BYTES:,} "
        "B, or 0, which stops a sender); rate and telemetry are left alone. No PFC.",
        f"The flat top is the window: {SENDERS} x {WINDOW_BYTES:,} B of payload under way, less a BDP.",
    )
    pictures = {
        "fig-3-2": _draw({f"4 senders at {RATE_BPS / 1e9:g} Gb/s, 1 µs links": found[0]}, 1e3, "µs", 1, 3.0),
        "fig-3-3": _draw(
            {f"step input at {frequency} Hz": found[frequency] for frequency in FREQUENCIES_HZ}, 1e6, "ms"
        ),
    }
    return Outcome(rows, (claim,), (), notes, pictures, {"queue": _csv(found)})


def slopes(answer: Response, theory: Floats) -> tuple[float, float]:
    """(rising, falling) slope of the switch's queue, bit/s: the median over all stretches where theory rises
    or falls, well away from its bounds. NaN where there is none."""
    change = np.diff(theory, append=theory[-1])
    low, high = (share * theory.max() for share in _INNER)
    inner = (theory > low) & (theory < high) & (answer.times_ns >= 0)
    found = []
    for wanted in (inner & (change > 0), inner & (change < 0)):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], wanted.astype(int), [0]])))
        stretches = [slice(*pair) for pair in edges.reshape(-1, 2)]
        each = [slope_bps(answer.times_ns[one], answer.switch_bytes[one]) for one in stretches]
        each = [slope for slope in each if not np.isnan(slope)]
        found.append(float(np.median(each)) if each else float("nan"))
    return found[0], found[1]


def _theory(answer: Response, half_ns: int, window_bytes: float) -> Floats:
    """Eq. 3.4 at the samples' instants. While on, senders send at their links' rate: W is the BDP there."""
    link = answer.bottleneck
    bound = SENDERS * window_bytes * _WIRE - link.bdp_bytes
    step = float(np.diff(answer.times_ns[:2])[0])
    moments = answer.times_ns[:-1]
    on = (moments >= 0) & (np.floor_divide(moments, half_ns) % 2 == 0)
    return link.queue(np.where(on, link.bdp_bytes, 0.0), step, bound)


def _row(what: str, where: str, published: float, ours: float) -> Row:
    return Row(what, "Gb/s", published / 1e9, ours / 1e9, where)


def _draw(
    found: Mapping[str, _Compared], unit: float, word: str, columns: int = 2, height: float = 2.5
) -> bytes:
    """Queues and theory, a panel for each title."""
    figure, several = panels(list(found), columns, height)
    for axes, (answer, theory) in zip(several, found.values(), strict=True):
        chosen = answer.times_ns >= 0
        times = answer.times_ns[chosen]
        curve(axes, times, answer.switch_bytes[chosen], "switch 1", SWITCH, (unit, 1e3))
        curve(axes, times, theory[chosen], "eq. 3.4", MODEL, (unit, 1e3), thin=True)
        axes.set(xlabel=f"time ({word})", ylabel="queue (kB)", xlim=(0, None), ylim=(0, None))
    return finished(figure, several[0])


def _csv(found: Mapping[int, _Compared]) -> str:
    rows = []
    for frequency, (answer, theory) in found.items():
        kept = (answer.times_ns >= 0) & (answer.times_ns % 10_000 == 0)
        columns = (answer.times_ns[kept], answer.switch_bytes[kept], theory[kept])
        rows += [
            (frequency, *row) for row in zip(*(x.round().astype(int).tolist() for x in columns), strict=True)
        ]
    return csv_text(("frequency_hz", "t_ns", "switch_bytes", "theory_bytes"), rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws queues over time and as distributions (Jiang 2015, Figs. 5, 15, 16, 18 to 23), and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.paper.smcc.network import (
    BOTTLENECK,
    BUFFER_BYTES,
    FINE_NS,
    RATE_BPS,
    SAMPLE_NS,
    TARGET_BYTES,
)
from ns3_env.eval.paper.smcc.seen import Floats, Port, Seen
from ns3_env.eval.plots.plots import OTHERS, envelope, styles, time_unit
from ns3_env.eval.plots.table import csv_text
from ns3_env.eval.trace.flow_series import flow_colours

_QUEUE, _TARGET = OTHERS[3], "#D55E00"
#: Panel of a figure: a title, a run, its port, begin and end in ns.
Panel = tuple[str, Seen, Port, float, float]


def panel(title: str, run: Seen, begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Panel:
    """One panel of :func:`queues`."""
    return title, run, port, begin_ns, end_ns


def queues(
    drawn: Sequence[Panel],
    height: float = 2.2,
    most_bytes: float = BUFFER_BYTES,
    target_bytes: float = TARGET_BYTES,
) -> bytes:
    """A queue each millisecond, or as finely as it was seen, up to ``most_bytes``; two panels in a row."""
    figure, several = panels([title for title, *_ in drawn], 2, height)
    for axes, (_, run, port, begin, end) in zip(several, drawn, strict=True):
        finer = run.fine_ns < FINE_NS
        lengths, step = (
            (run.fine(begin, end, port), run.fine_ns) if finer else (run.coarse(begin, end, port), SAMPLE_NS)
        )
        times, lengths = envelope(begin + np.arange(len(lengths), dtype=np.float64) * step, lengths)
        unit, word = time_unit(end)
        axes.plot(
            times / unit, lengths / 1e3, color=_QUEUE, linewidth=0.7, label=f"queue, each {step / 1e6:g} ms"
        )
        axes.axhline(target_bytes / 1e3, color=_TARGET, linestyle="--", linewidth=1.0, label="target")
        axes.set(
            xlabel=f"time ({word})",
            ylabel="queue (kB)",
            xlim=(begin / unit, end / unit),
            ylim=(-2, most_bytes / 1e3 + 2),
        )
    return finished(figure, several[0])


def distributions(title: str, samples: Mapping[str, Floats], fine: Mapping[str, Floats]) -> bytes:
    """Cumulative distributions of queues: by ``samples`` as thick lines, by ``fine`` ones as thin ones."""
    figure, (axes,) = panels([title], 1, 3.2)
    for name, look in styles(samples).items():
        for lengths, width in ((samples[name], 1.6), (fine[name], 0.7)):
            points = np.percentile(lengths, np.linspace(0, 100, 201))
            axes.plot(
                points / 1e3,
                np.linspace(0, 1, 201),
                color=look.colour,
                linestyle=look.line,
                linewidth=width,
                label=name if width > 1 else None,
            )
    axes.set(xlabel="queue (kB)", ylabel="share of the time", xlim=(-2, BUFFER_BYTES / 1e3 + 2), ylim=(0, 1))
    return finished(figure, axes)


def rates(runs: Mapping[str, Seen], end_ns: float) -> bytes:
    """Each source's sending rate over time, a panel for each law."""
    figure, several = panels(list(runs), 2, 2.3)
    for axes, run in zip(several, runs.values(), strict=True):
        times = np.linspace(0, end_ns, 600)
        for number, (own, colour) in enumerate(
            zip(run.rates_at(times), flow_colours(run.flows), strict=True), 1
        ):
            axes.plot(times / 1e9, own / 1e6, color=colour, linewidth=1.0, label=f"source {number}")
        axes.axhline(
            RATE_BPS / run.flows / 1e6, color=_TARGET, linestyle="--", linewidth=1, label="fair share"
        )
        axes.set(xlabel="time (s)", ylabel="rate (Mb/s)", xlim=(0, end_ns / 1e9), ylim=(0, 1050))
    return finished(figure, several[0])


def series(drawn: Sequence[Panel]) -> str:
    """The panels' queues as CSV."""
    rows = [
        (title, round(begin + i * SAMPLE_NS), round(length))
        for title, run, port, begin, end in drawn
        for i, length in enumerate(run.coarse(begin, end, port))
    ]
    return csv_text(("panel", "t_ns", "queue_bytes"), rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Queues over time and as distributions: numbers, figures and series (Jiang 2015, Figs. 5, 15 to 23)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.eval.output.plots import OTHERS, envelope, styles, time_unit
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import Port, Seen, queues_csv
from ns3_env.eval.papers.smcc import network
from ns3_env.eval.papers.smcc.network import BOTTLENECK, SAMPLE_NS, TARGET_BYTES, TO_RECEIVER
from ns3_env.simulator.results import Floats

#: A queue has settled where it stays so near to its target, of which this is a share, for so many samples.
NEAR, SETTLED_SAMPLES = 0.25, 500
QUEUE, TARGET = OTHERS[3], "#D55E00"
#: Panel of a figure: a title, a run, begin and end in ns, its port.
Panel = tuple[str, Seen, float, float, Port]


def fine(runs: Sequence[Seen], begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
    """A queue of all repetitions together in an interval, as finely as it was seen, bytes."""
    return np.concatenate([run.queue(port, begin_ns, end_ns) for run in runs])


def coarse(runs: Sequence[Seen], begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
    """The same each millisecond, as the paper looks."""
    return np.concatenate([run.queue(port, begin_ns, end_ns, SAMPLE_NS) for run in runs])


def numbers(samples: Floats) -> dict[str, float]:
    """Mean, standard deviation, 5 % and 95 % points (kB), the share of samples with an empty queue; NaN of
    none."""
    if not len(samples):
        return dict.fromkeys(("mean", "std", "low", "high", "empty"), math.nan)
    low, high = (float(x) / 1e3 for x in np.percentile(samples, (5, 95)))
    mean, std = float(samples.mean()) / 1e3, float(samples.std()) / 1e3
    return {"mean": mean, "std": std, "low": low, "high": high, "empty": empty(samples)}


def empty(samples: Floats) -> float:
    """The share of samples that found the queue empty."""
    return float((samples <= 0).mean())


def settled_ns(run: Seen, port: Port = BOTTLENECK, target: float = TARGET_BYTES) -> float:
    """From the start until the queue stays within 25 % of its target, for 500 samples (a tenth of a short
    run); NaN where it never does. The response time, which the paper does not define."""
    away = np.abs(run.lengths[port] - target) > NEAR * target
    length = max(1, min(SETTLED_SAMPLES, len(away) // 10))
    outside = np.convolve(away, np.ones(length), "valid")
    first = np.flatnonzero(outside < 0.5)
    return float(first[0] * run.step_ns) if len(first) else float("nan")


def response_ms(runs: Sequence[Seen], port: Port = BOTTLENECK, target: float = TARGET_BYTES) -> float:
    """Mean of :func:`settled_ns` of the runs that settle, ms; NaN where none does."""
    found = np.array([settled_ns(run, port, target) for run in runs]) / 1e6
    return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")


def of_burst(runs: Sequence[Seen], end_ns: float, target: float = TARGET_BYTES) -> dict[str, float]:
    """Of long-lived flows to one receiver: numbers of the second half, when the queue had settled (ms), the
    longest one (kB), lost packets and pauses on average."""
    return {
        **numbers(fine(runs, 0.5 * end_ns, end_ns, TO_RECEIVER)),
        "settled": response_ms(runs, TO_RECEIVER, target),
        "longest": float(np.mean([run.lengths[TO_RECEIVER].max() for run in runs])) / 1e3,
        "lost": float(np.mean([run.lost for run in runs])),
        "pauses": float(np.mean([run.totals["pfc_frames"] for run in runs])),
    }


def while_shared(run: Seen) -> Floats:
    """The receiver's queue until the last flow is alone: what empties it from then on is no fault of its
    own."""
    return run.queue(TO_RECEIVER, 0, float(sorted(run.flow_ends_ns)[-2]))


def draw_queues(
    drawn: Sequence[Panel],
    height: float = 2.2,
    most_bytes: float = network.BUFFER_BYTES,
    target_bytes: float = TARGET_BYTES,
) -> bytes:
    """A queue each millisecond, or as finely as it was seen, up to ``most_bytes``; two panels in a row."""
    figure, several = panels([title for title, *_ in drawn], 2, height)
    for axes, (_, run, begin, end, port) in zip(several, drawn, strict=True):
        step = run.step_ns if run.step_ns < network.FINE_NS else SAMPLE_NS
        lengths = run.queue(port, begin, end, step)
        times, lengths = envelope(begin + np.arange(len(lengths), dtype=np.float64) * step, lengths)
        unit, word = time_unit(end)
        axes.plot(
            times / unit, lengths / 1e3, color=QUEUE, linewidth=0.7, label=f"queue, each {step / 1e6:g} ms"
        )
        axes.axhline(target_bytes / 1e3, color=TARGET, linestyle="--", linewidth=1.0, label="target")
        axes.set(
            xlabel=f"time ({word})",
            ylabel="queue (kB)",
            xlim=(begin / unit, end / unit),
            ylim=(-2, most_bytes / 1e3 + 2),
        )
    return finished(figure, several[0])


def draw_distributions(title: str, samples: Mapping[str, Floats], fine: Mapping[str, Floats]) -> bytes:
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
    axes.set(
        xlabel="queue (kB)",
        ylabel="share of the time",
        xlim=(-2, network.BUFFER_BYTES / 1e3 + 2),
        ylim=(0, 1),
    )
    return finished(figure, axes)


def series(drawn: Sequence[Panel]) -> str:
    """The panels' queues, each millisecond, as CSV."""
    queues = {}
    for title, run, begin, end, port in drawn:
        lengths = run.queue(port, begin, end, SAMPLE_NS)
        queues[title] = (begin + np.arange(len(lengths)) * SAMPLE_NS, lengths)
    return queues_csv(("panel", "t_ns", "queue_bytes"), queues)

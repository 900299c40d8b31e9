# SPDX-License-Identifier: GPL-2.0-or-later
"""Ports and laws; queues over time and as distributions (Jiang 2015, Figs. 5, 15 to 23)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.eval.output.plots import OTHERS, envelope, styles, time_unit
from ns3_env.eval.papers import panels
from ns3_env.eval.papers.runs import Port, Run
from ns3_env.simulator.results import Floats

#: Laws by their names in tables and figures.
QCN, QCN_SHORT, BCN, SMCC = "QCN", "QCN, T = 30 kB", "BCN", "SMCC"
TWO_STAGES = "SMCC, two stages"
#: (node, port) of the dumbbell's first switch to the second, and of the tree's leftmost ToR to the receiver.
BOTTLENECK: Port = (6, 3)
TO_RECEIVER: Port = (16, 0)
RATE_BPS, TARGET_BYTES, BUFFER_BYTES = 1e9, 64e3, 128_000
#: The paper looks each millisecond; its exact curves are ours, ten times as fine.
SAMPLE_NS, FINE_NS = 1_000_000, 100_000
#: A queue has settled if it stays this near to its target (as a share) for this number of samples.
NEAR, SETTLED_SAMPLES = 0.25, 500
QUEUE, TARGET = OTHERS[3], "#D55E00"
#: Panel of a figure: a title, a run, start and end in ns, its port.
Panel = tuple[str, Run, float, float, Port]


def fine(runs: Sequence[Run], begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
    """A queue of all repetitions together in an interval, as finely as it was sampled, bytes."""
    return np.concatenate([run.queue(port, begin_ns, end_ns) for run in runs])


def coarse(runs: Sequence[Run], begin_ns: float, end_ns: float, port: Port = BOTTLENECK) -> Floats:
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


def settled_ns(run: Run, port: Port = BOTTLENECK) -> float:
    """Time until the queue stays within 25 % of its target, for 500 samples (a tenth of a short
    run); NaN if it never does. The response time, which the paper does not define."""
    away = np.abs(run.lengths[port] - TARGET_BYTES) > NEAR * TARGET_BYTES
    length = max(1, min(SETTLED_SAMPLES, len(away) // 10))
    outside = np.convolve(away, np.ones(length), "valid")
    first = np.flatnonzero(outside < 0.5)
    return float(first[0] * run.step_ns) if len(first) else math.nan


def response_ms(runs: Sequence[Run], port: Port = BOTTLENECK) -> float:
    """Mean of :func:`settled_ns` of the runs that settle, ms; NaN if no run does."""
    times = np.array([settled_ns(run, port) for run in runs]) / 1e6
    return float(np.nanmean(times)) if np.isfinite(times).any() else math.nan


def draw_queues(all_panels: Sequence[Panel], height: float = 2.2) -> panels.Drawing:
    """A queue each millisecond, two panels in a row."""
    several = []
    for title, run, begin, end, port in all_panels:
        lengths = run.queue(port, begin, end, SAMPLE_NS)
        unit, word = time_unit(end)
        times, lengths = envelope(begin + np.arange(len(lengths), dtype=np.float64) * SAMPLE_NS, lengths)
        look = {"color": QUEUE, "linewidth": 0.7}
        axes = {
            "xlabel": f"time ({word})",
            "ylabel": "queue (kB)",
            "xlim": (begin / unit, end / unit),
            "ylim": (-2, BUFFER_BYTES / 1e3 + 2),
        }
        curves = [(times / unit, lengths / 1e3, "queue, each 1 ms", look)]
        target = (TARGET_BYTES / 1e3, "target", {"color": TARGET, "linestyle": "--", "linewidth": 1.0})
        several.append(panels.Panel(title, curves, axes, [target]))
    return panels.Drawing(several, height=height)


def draw_distributions(
    title: str, samples: Mapping[str, Floats], fine: Mapping[str, Floats]
) -> panels.Drawing:
    """Cumulative distributions of queues: by ``samples`` as thick lines, by ``fine`` ones as thin ones."""
    shares = np.linspace(0, 1, 201)
    curves = [
        (
            np.percentile(lengths, 100 * shares) / 1e3,
            shares,
            label,
            {"color": look.colour, "linestyle": look.line, "linewidth": width},
        )
        for name, look in styles(samples).items()
        for lengths, width, label in ((samples[name], 1.6, name), (fine[name], 0.7, None))
    ]
    axes = {"xlabel": "queue (kB)", "ylabel": "share of the time"}
    limits = {"xlim": (-2, BUFFER_BYTES / 1e3 + 2), "ylim": (0, 1)}
    return panels.Drawing([panels.Panel(title, curves, {**axes, **limits})], 1, 3.2)

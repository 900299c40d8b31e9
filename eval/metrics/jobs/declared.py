# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of training jobs: how long jobs, iterations and collectives take, and who waits for whom."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ns3_env.eval.metrics.jobs.rows import SECTION, Span, spans
from ns3_env.eval.metrics.registry import Metric, Shared, declare


def completion_times(found: Sequence[Span]) -> list[float]:
    """Of each job from its first task's start to its last one's end (the episode's, where it was cut), ns."""
    ends: dict[str, list[float]] = defaultdict(list)
    for span in found:
        ends[span.job] += [span.start_ns, span.end_ns]
    return [max(times) - min(times) for times in ends.values()]


def _mean(values: Iterable[float]) -> float:
    each = list(values)
    return float(np.mean(each)) if each else math.nan


def iterations(found: Sequence[Span]) -> list[Span]:
    """Iterations that were over when the episode ended."""
    return [span for span in found if not span.part and span.finished]


def job_completion(found: Sequence[Span]) -> float:
    """Mean over jobs."""
    return _mean(completion_times(found))


def job_completion_max(found: Sequence[Span]) -> float:
    """Of the slowest job."""
    return max(completion_times(found), default=math.nan)


def iteration_time(found: Sequence[Span]) -> float:
    """Mean over iterations of all jobs."""
    return _mean(span.duration_ns for span in iterations(found))


def collective_time(found: Sequence[Span]) -> float:
    """Mean over collectives of all iterations: first start of a flow to last delivery."""
    return _mean(span.duration_ns for span in found if span.part and span.finished)


def exposed_communication(found: Sequence[Span]) -> float:
    """Share of an iteration in which a rank does not compute, mean over ranks and iterations."""
    return _mean(span.exposed_ns / (span.exposed_ns + span.compute_ns) for span in iterations(found))


def straggler_spread(found: Sequence[Span]) -> float:
    """How much later the last rank is through with an iteration than the first, mean over iterations."""
    return _mean(span.straggler_ns for span in iterations(found))


def _declare(
    function: Callable[[Sequence[Span]], float],
    heading: str,
    formula: str,
    unit: str = "ns",
    format: str = ",.0f",
    resolution: float = 1.0,
) -> None:
    def of(shared: Shared) -> float:
        return function(shared.once(spans)) if SECTION in shared.results else math.nan

    name = function.__name__
    declare(Metric(name, heading, formula, of, "lower", unit, format, resolution=resolution, section=SECTION))


_declare(
    job_completion,
    "job completion time",
    "first start to last end of a job's tasks, mean over jobs; cut: end",
)
_declare(job_completion_max, "slowest job", "the same of the slowest job")
_declare(iteration_time, "iteration time", "first start to last end of an iteration, mean; of finished ones")
_declare(
    collective_time, "collective time", "first start to last delivery of a collective, mean; of finished"
)
_declare(
    exposed_communication,
    "exposed communication",
    "share of an iteration in which a rank does not compute, mean over ranks and iterations",
    unit="",
    format=".1%",
    resolution=0.001,
)
_declare(straggler_spread, "straggler spread", "end of an iteration's last rank - of its first, mean")

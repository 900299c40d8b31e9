# SPDX-License-Identifier: GPL-2.0-or-later
"""Training jobs: iterations and collectives from an episode's results, durations, waiting ranks."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ns3_env.eval.metrics.goodput import covered_ns
from ns3_env.eval.metrics.registry import Metric, Shared, declare
from ns3_env.simulator.results import Floats, Results

SECTION = "jobs"
#: Columns of tasks.csv; ``peer`` is the rank that receives, -1 for a computation.
TASK_COLUMNS = ("job", "iteration", "part", "rank", "peer", "start_ns", "end_ns", "finished")
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TaskTable:
    """Flows and then steps, a row each; times in ns, the episode's end for unfinished rows."""

    job: Whole
    iteration: Whole
    part: Whole
    rank: Whole
    peer: Whole
    start: Floats
    end: Floats
    finished: npt.NDArray[np.bool_]
    jobs: list[str]
    parts: list[str]

    def take(self, rows: Whole) -> TaskTable:
        """Returns a table of only these rows."""
        columns = {name: column[rows] for name, column in vars(self).items() if name not in ("jobs", "parts")}
        return replace(self, **columns)

    def is_compute(self) -> npt.NDArray[np.bool_]:
        """For each row, whether it is a step."""
        return self.peer < 0


@dataclass(frozen=True)
class Span:
    """An iteration, or one collective of it (``part``); times in ns.

    Attributes:
        start_ns: start of the first rank.
        end_ns: end of the last rank; the episode's end if it was cut.
        compute_ns: computation time of a rank, mean over ranks.
        exposed_ns: time without computation between a rank's start and end, mean over ranks.
        straggler_ns: time between the ends of the first rank and of the last.
        finished: true if all its tasks were complete at the end of the episode.
    """

    job: str
    iteration: int
    part: str
    start_ns: float
    end_ns: float
    compute_ns: float
    exposed_ns: float
    straggler_ns: float
    finished: bool

    @property
    def duration_ns(self) -> float:
        return self.end_ns - self.start_ns


def task_table(results: Results) -> TaskTable:
    """Flows and steps of jobs; tasks that never started are left out. Raises KeyError without jobs."""
    jobs, flows, steps = results[SECTION], results["flows"], results["steps"]
    last = float(results["totals"]["end_ns"])
    start = np.concatenate([flows["start_ns"], steps["start_ns"]]).astype(np.float64)
    end = np.concatenate([flows["delivered_ns"], steps["end_ns"]]).astype(np.float64)
    job, iteration, part, rank, peer = (
        np.asarray(jobs[name], dtype=np.int64) for name in ("job", "iteration", "part", "rank", "peer")
    )
    finished = end >= 0
    active = (job >= 0) & (finished | ((start >= 0) & (start < last)))
    end = np.where(finished, end, last)
    names, parts = list(jobs["names"]), list(jobs["parts"])
    table = TaskTable(job, iteration, part, rank, peer, start, end, finished, names, parts)
    return table.take(np.flatnonzero(active))


def task_rows(results: Results) -> Iterator[tuple[str, int, str, int, int, float, float, int]]:
    """A row of ``TASK_COLUMNS`` for each flow and step of a job that started."""
    table = task_table(results)
    for row in range(len(table.job)):
        yield (
            table.jobs[table.job[row]],
            int(table.iteration[row]),
            table.parts[table.part[row]],
            int(table.rank[row]),
            int(table.peer[row]),
            float(table.start[row]),
            float(table.end[row]),
            int(table.finished[row]),
        )


def spans(results: Results) -> list[Span]:
    """Each iteration of each job (``part`` "") and each collective of it, in this order."""
    table = task_table(results)
    whole = _whole_iterations(results)
    result = []
    for rows in groups(table.job, table.iteration):
        tasks = table.take(rows)
        job, iteration = int(tasks.job[0]), int(tasks.iteration[0])
        result.append(_span(tasks, "", (job, iteration) in whole))
        sent = tasks.take(np.flatnonzero(~tasks.is_compute()))
        for of_part in groups(sent.part):
            part = sent.take(of_part)
            result.append(_span(part, tasks.parts[int(part.part[0])], bool(part.finished.all())))
    return result


def _whole_iterations(results: Results) -> set[tuple[int, int]]:
    """(job, iteration) of iterations with every task complete."""
    jobs = results[SECTION]
    ends = [*results["flows"]["delivered_ns"], *results["steps"]["end_ns"]]
    rows = list(zip(jobs["job"], jobs["iteration"], strict=True))
    return set(rows) - {row for row, end in zip(rows, ends, strict=True) if end < 0}


def groups(*keys: Whole) -> Iterator[Whole]:
    """Rows with the same keys, by ascending keys."""
    if len(keys[0]) == 0:
        return
    order = np.lexsort(keys[::-1])
    differs = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
    yield from np.split(order, np.flatnonzero(differs) + 1)


def _span(tasks: TaskTable, part: str, finished: bool) -> Span:
    ranks = np.unique(np.concatenate([tasks.rank, tasks.peer[tasks.peer >= 0]]))
    place = np.searchsorted(ranks, tasks.rank)
    begins, ends = np.full(len(ranks), np.inf), np.full(len(ranks), -np.inf)
    np.minimum.at(begins, place, tasks.start)
    np.maximum.at(ends, place, tasks.end)
    comes = tasks.peer >= 0
    np.minimum.at(begins, np.searchsorted(ranks, tasks.peer[comes]), tasks.start[comes])
    np.maximum.at(ends, np.searchsorted(ranks, tasks.peer[comes]), tasks.end[comes])
    steps = np.flatnonzero(tasks.is_compute())
    busy = np.zeros(len(ranks))
    for rows in groups(place[steps]):
        mine = steps[rows]
        busy[place[mine[0]]] = covered_ns(tasks.start[mine], tasks.end[mine])
    return Span(
        tasks.jobs[int(tasks.job[0])],
        int(tasks.iteration[0]),
        part,
        float(begins.min()),
        float(ends.max()),
        float(busy.mean()),
        float((ends - begins - busy).mean()),
        float(ends.max() - ends.min()),
        finished,
    )


def completion_times(rows: Sequence[Span]) -> list[float]:
    """Measures each job from its first task's start to its last one's end (or the episode's), ns."""
    ends: dict[str, list[float]] = defaultdict(list)
    for span in rows:
        ends[span.job] += [span.start_ns, span.end_ns]
    return [max(times) - min(times) for times in ends.values()]


def _mean(values: Iterable[float]) -> float:
    each = list(values)
    return float(np.mean(each)) if each else math.nan


def iterations(rows: Sequence[Span]) -> list[Span]:
    """Iterations that were over when the episode ended."""
    return [span for span in rows if not span.part and span.finished]


def job_completion(rows: Sequence[Span]) -> float:
    """Mean over jobs."""
    return _mean(completion_times(rows))


def job_completion_max(rows: Sequence[Span]) -> float:
    """Completion time of the slowest job."""
    return max(completion_times(rows), default=math.nan)


def iteration_time(rows: Sequence[Span]) -> float:
    """Mean over iterations of all jobs."""
    return _mean(span.duration_ns for span in iterations(rows))


def iteration_time_p99(rows: Sequence[Span]) -> float:
    """99th percentile over iterations of all jobs; for fewer than 100, close to the slowest one's time."""
    each = [span.duration_ns for span in iterations(rows)]
    return float(np.percentile(each, 99)) if each else math.nan


def collective_time(rows: Sequence[Span]) -> float:
    """Mean over collectives of all iterations: first start of a flow to last delivery."""
    return _mean(span.duration_ns for span in rows if span.part and span.finished)


def exposed_communication(rows: Sequence[Span]) -> float:
    """Share of an iteration in which a rank does not compute, mean over ranks and iterations."""
    return _mean(span.exposed_ns / (span.exposed_ns + span.compute_ns) for span in iterations(rows))


def straggler_spread(rows: Sequence[Span]) -> float:
    """Time from the first rank's end of an iteration to the last one's, mean over iterations."""
    return _mean(span.straggler_ns for span in iterations(rows))


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
_declare(iteration_time_p99, "iteration time p99", "99th percentile of the same")
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

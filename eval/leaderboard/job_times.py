# SPDX-License-Identifier: GPL-2.0-or-later
"""How long training jobs take in the tests of tasks that have some, beside what the task is scored by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.leaderboard.groups import group_of
from ns3_env.eval.leaderboard.suite import tests_in
from ns3_env.eval.output.table import markdown_cell
from ns3_env.tasks import TASKS

#: A metric, and how it is called: all jobs, the last of them.
METRICS = {"job_completion": "a job", "job_completion_max": "the last job"}


@dataclass(frozen=True)
class JobTimes:
    """Of one task: by entry, the geometric mean over its tests of each metric over the base's.

    Attributes:
        task: its name.
        base: the entry that the others are measured by.
        ratios: by entry, the fastest first, in the order of ``METRICS``; below 1 is faster than the base. A
            job that the time limit cuts lasts until then.
    """

    task: str
    base: str
    ratios: dict[str, tuple[float, ...]]


def job_times(folder: BenchFolder) -> list[JobTimes]:
    """Of each task whose tests have jobs, over entries that have played it whole. Raises as ``tests_in``."""
    cells = {(cell.scenario, cell.controller): cell.metrics for cell in folder.cells}
    found = []
    for name, cases in tests_in(folder.suite).items():
        base = group_of(TASKS[name]).base
        names = [entry.name for entry in folder.suite.entries_of(cases[0])]
        played = {x: [cells.get((case.name, x)) for case in cases] for x in names}
        whole = {x: [own for own in several if own] for x, several in played.items() if all(several)}
        if base not in whole or any(key not in own for own in whole[base] for key in METRICS):
            continue
        ratios = {x: tuple(_mean(own, whole[base], key) for key in METRICS) for x, own in whole.items()}
        found.append(JobTimes(name, base, dict(sorted(ratios.items(), key=lambda pair: pair[1]))))
    return found


def _mean(own: Sequence[Mapping[str, float]], of_base: Sequence[Mapping[str, float]], key: str) -> float:
    """Over the tests, geometric."""
    logarithms = [math.log(x[key] / other[key]) for x, other in zip(own, of_base, strict=True)]
    return math.exp(sum(logarithms) / len(logarithms))


def markdown(times: JobTimes) -> str:
    """A row for each entry, the fastest first."""
    rows = [
        f"| {markdown_cell(name)} | " + " | ".join(f"{x:.3f}" for x in own) + " |"
        for name, own in times.ratios.items()
    ]
    lines = [
        f"## Job times in {times.task}",
        "",
        "| entry | " + " | ".join(METRICS.values()) + " |",
        "|---|" + "--:|" * len(METRICS),
        *rows,
        "",
        f"From a job's first start to its last end, over what {markdown_cell(times.base)} takes: geometric "
        "means over the tests. Scored is the slowdown.",
    ]
    return "\n".join(lines) + "\n"

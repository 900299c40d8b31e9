# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of a folder with tests of tasks, a row for each entry, run and test; times of its jobs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ns3_env.eval.benchmark.folder import BenchFolder, Cell
from ns3_env.eval.benchmark.suite import SuiteScenario
from ns3_env.eval.leaderboard.anchors import group_of, value_of
from ns3_env.eval.leaderboard.entrants import DECISIONS, RUN
from ns3_env.eval.leaderboard.suite import tests_in
from ns3_env.eval.output.table import markdown_cell, markdown_table, read_csv
from ns3_env.eval.results.loading import results_in
from ns3_env.simulator.results import Floats, charged_slowdowns
from ns3_env.tasks import TASKS, TaskSpec
from ns3_env.tasks.anchors import anchors_of

if TYPE_CHECKING:
    import pandas

#: Columns of flows.csv that a charged slowdown needs.
_COLUMNS = ("size_bytes", "start_ns", "end_ns", "fct_ns", "standalone_ns", "acked_bytes")


def scores_in(folder: BenchFolder) -> pandas.DataFrame:
    """A row for each completed test: ``entry``, ``run``, ``task``, ``test_seed``, ``value``, ``score``.

    With checkpoints among the entries there are also ``decisions``: NaN for other entries.

    An entry that lacks a cell of a task has no rows of the task: means over fewer tests are not the task's.

    Raises:
        ConfigError: the tests are those of another version of a task.
        ScenarioError: a cell's flows cannot be read.
    """
    import pandas

    cells = {(cell.scenario, cell.controller): cell for cell in folder.cells}
    rows: list[dict[str, Any]] = []
    learning = any(DECISIONS in entry.parameters for entry in folder.suite.controllers)
    for name, cases in tests_in(folder.suite).items():
        anchors = anchors_of(TASKS[name])
        for entry in folder.suite.entries_of(cases[0]):
            if any((case.name, entry.name) not in cells for case in cases):
                continue
            for number, case in enumerate(cases):
                if (case.name, "max_min") not in cells:
                    break
                value = _value(case, TASKS[name], *(cells[case.name, x] for x in (entry.name, "max_min")))
                rows.append(
                    {
                        **({DECISIONS: entry.parameters.get(DECISIONS)} if learning else {}),
                        "entry": entry.of,
                        "run": str(entry.parameters.get(RUN, "1")),
                        "task": name,
                        "test_seed": number,
                        "value": value,
                        "score": anchors.score(number, value),
                    }
                )
    return pandas.DataFrame(rows)


def _value(case: SuiteScenario, spec: TaskSpec, cell: Cell, of_max_min: Cell) -> float:
    """The task's measure of a test."""
    slowdowns, fair = (_slowdowns(x, case.scenario.time_limit_ns) for x in (cell, of_max_min))
    return value_of(spec, slowdowns, fair, cell.metrics.get("job_completion", math.nan))


def _slowdowns(cell: Cell, limit_ns: float) -> Floats:
    """Charged slowdowns of a cell's flows; the time limit truncates flows. Raises ScenarioError."""
    flows = read_csv(cell.folder / "flows.csv", _COLUMNS)
    return charged_slowdowns({"flows": flows, "totals": {"end_ns": limit_ns}})


#: A metric, and its heading: all jobs, the last of them.
METRICS = {"job_completion": "a job", "job_completion_max": "the last job"}


@dataclass(frozen=True)
class JobTimes:
    """Job times of one task: by entry, geometric means over its tests of each metric over the base's.

    Attributes:
        task: name of the task.
        base: the entry that all entries are compared with.
        ratios: ratios by entry, the fastest first, in the order of ``METRICS``; below 1 is faster than the
            base. A job that the time limit cuts lasts until then.
    """

    task: str
    base: str
    ratios: dict[str, tuple[float, ...]]


def job_times(folder: BenchFolder) -> list[JobTimes]:
    """Measures tasks whose tests have jobs, by entries that ran them completely. Raises as ``tests_in``."""
    table = results_in(folder).select(metric=[*METRICS]).table
    logarithms = table.assign(value=np.log(table["value"])).pivot(
        index="scenario", columns=["entry", "metric"], values="value"
    )
    times = []
    for name, cases in tests_in(folder.suite).items():
        base = group_of(TASKS[name]).base
        of_task = logarithms.reindex([case.name for case in cases]).dropna(axis="columns")
        if base not in of_task:
            continue
        ratios: dict[str, tuple[float, ...]] = {
            entry: tuple(np.exp((of_task[entry] - of_task[base]).mean()[[*METRICS]]))
            for entry in of_task.columns.unique("entry")
        }
        times.append(JobTimes(name, base, dict(sorted(ratios.items(), key=lambda pair: pair[1]))))
    return times


def markdown(times: JobTimes) -> str:
    """A row for each entry, the fastest first."""
    rows = [[markdown_cell(name), *(f"{x:.3f}" for x in ratios)] for name, ratios in times.ratios.items()]
    basis = "the first column" if TASKS[times.task].measure == "job_time" else "slowdowns"
    lines = [
        f"## Job times in {times.task}",
        "",
        *markdown_table(["entry", *METRICS.values()], rows),
        "",
        f"From a job's first start to its last end, over what {markdown_cell(times.base)} takes: geometric "
        f"means over the tests. The score counts {basis}.",
    ]
    return "\n".join(lines) + "\n"

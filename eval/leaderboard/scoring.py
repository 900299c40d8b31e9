# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores on tasks: of one entry, from Python (``ns3_env.tasks.score``), and of a benchmark's folder."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ns3_env.config.command_line import import_extra, new_console
from ns3_env.errors import ConfigError, SimulatorError
from ns3_env.eval.benchmark.folder import BenchFolder, Cell
from ns3_env.eval.benchmark.runner import benchmark
from ns3_env.eval.benchmark.suite import SuiteScenario
from ns3_env.eval.leaderboard.anchors import group_of, measured_anchors, value_of
from ns3_env.eval.leaderboard.suite import DECISIONS, RUN, can_play, specs_of, suite_of_tasks, tests_in
from ns3_env.eval.output.table import markdown_cell, markdown_table, read_csv
from ns3_env.eval.results.evaluation import EntryLike, entry_of
from ns3_env.eval.results.loading import results_in
from ns3_env.ids import VERSIONS
from ns3_env.simulator.pool import LocalPool
from ns3_env.simulator.results import Floats, charged_slowdowns
from ns3_env.tasks import TASKS, TaskSpec
from ns3_env.tasks.anchors import add_anchors, anchors_of, stored_anchors

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


#: The entry that some tasks' measure compares with.
_FAIR = "max_min"


def score(entry: EntryLike, tasks: str | Sequence[str] = "all") -> pandas.DataFrame:
    """Simulates an entry on the tests of tasks, on all cores, and scores it.

    Args:
        entry: a name ("hpcc", "fdcc", "ppo"), the path of a policy's file, a run or a checkpoint, or an entry
            with the keys of a suite.
        tasks: names or ids ("Bursts", "ns3_env/Bursts-v4"); "all": those that the entry can run.

    Returns:
        A row for each test: ``entry``, ``task``, ``test_seed``, ``value`` (of the task's measure) and
        ``score``: 0 is the deployed controller, 100 the reference. The leaderboard has
        ``frame.groupby("task").score.mean()``.

    Raises:
        ConfigError: the entry or a task is wrong, or the entry can run none of the tasks.
        SimulatorError: a simulator failed.
    """
    import_extra("pandas")
    contender = entry_of(entry)
    specs = specs_of([tasks] if isinstance(tasks, str) else list(tasks))
    fit = [spec for spec in specs if can_play(contender, spec)]
    if not fit or (tasks != "all" and len(fit) < len(specs)):
        unfit = next(spec for spec in specs if spec not in fit)
        raise ConfigError(
            f"score: {contender.name} cannot run {unfit.id}: its fields, or the marks it needs, are not there"
        )
    measure_anchors(fit)
    base = suite_of_tasks(fit, [])
    others = [x for x in base.controllers if x.name == _FAIR and x.name != contender.name]
    names = [contender.name, *(x.name for x in others)]
    suite = base.model_copy(
        update={
            "controllers": [contender.model_copy(update={"parameters": {}, "family": ""}), *others],
            "scenarios": [case.model_copy(update={"controllers": names}) for case in base.scenarios],
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "tests"
        console = new_console(stderr=True)
        done = benchmark(suite, out, command=["score"], console=console, summary=lambda _, __: None)
        content = BenchFolder.read(out)
        if not done:
            raise SimulatorError(f"score: {next(iter(content.failed.values()), 'a test is missing')}")
        scores = scores_in(content)
    return scores[scores["entry"] == contender.name].drop(columns="run").reset_index(drop=True)


def measure_anchors(specs: Sequence[TaskSpec]) -> None:
    """Measures the values that score 0 and 100 in tasks of other packages, once per process."""
    unmeasured = [spec for spec in specs if VERSIONS[spec.name] == 0 and spec.name not in stored_anchors()]
    if unmeasured:
        with LocalPool() as pool:
            for spec in unmeasured:
                add_anchors(spec.name, measured_anchors(pool, spec))

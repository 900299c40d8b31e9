# SPDX-License-Identifier: GPL-2.0-or-later
"""Scores of one entry on tasks, from Python: ``ns3_env.tasks.score``."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ns3_env.config.command_line import import_extra, new_console
from ns3_env.errors import ConfigError, SimulatorError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.runner import benchmark
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.leaderboard.anchors import measured_anchors
from ns3_env.eval.leaderboard.entrants import can_play
from ns3_env.eval.leaderboard.measured import scores_in
from ns3_env.eval.leaderboard.suite import specs_of, suite_of_tasks
from ns3_env.eval.results.evaluation import EntryLike, entry_of
from ns3_env.ids import VERSIONS
from ns3_env.simulator.pool import LocalPool
from ns3_env.tasks import TaskSpec
from ns3_env.tasks.anchors import add_anchors, stored_anchors

if TYPE_CHECKING:
    import pandas

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
            "controllers": [_without_parameters(contender), *others],
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


def _without_parameters(entry: Entry) -> Entry:
    """The entry without the parameters of a leaderboard's run."""
    return entry.model_copy(update={"parameters": {}, "family": ""})

# SPDX-License-Identifier: GPL-2.0-or-later
"""Suite of the tasks' test scenarios, and the tasks that a benchmark's folder contains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ns3_env.config.command_line import typed
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import SUITE, read_suite
from ns3_env.eval.benchmark.suite import Suite, SuiteScenario
from ns3_env.eval.leaderboard.anchors import group_of
from ns3_env.eval.leaderboard.board import REFERENCES
from ns3_env.eval.leaderboard.entrants import can_play, default_names, entries_of
from ns3_env.tasks import FIRST_TEST_SEED, TASKS, TESTS, TaskSpec, task
from ns3_env.tasks.anchors import anchors_of, digest
from ns3_env.tasks.registry import PORT_TASKS

#: Title of such a suite; a test in it is "Incast-v4-3" of the group "Incast-v4".
TITLE = "tasks"
_TEST = re.compile(r"(?P<task>\w+)-v(?P<version>\d+)-(?P<number>\d+)")


def specs_of(names: Sequence[str]) -> list[TaskSpec]:
    """The tasks of these names or ids, in their order; "all" means all tasks. Raises ConfigError."""
    try:
        chosen = {task(name).name for name in names if name != "all"}
    except ValueError as error:
        raise ConfigError(f"{error.args[0]}{nearest(names[0], list(TASKS))}") from None
    if ports := sorted(chosen & {*PORT_TASKS}):
        raise ConfigError(
            f"{ports[0]}: its agents are at ports, and entries control flows: `eval thresholds` scores it"
        )
    return [spec for spec in TASKS.values() if "all" in names or spec.name in chosen]


def suite_of_tasks(
    specs: Sequence[TaskSpec], names: Sequence[str] | None = None, learning: bool = False
) -> Suite:
    """The tasks' test scenarios, each under the entries that can run in it, the base and the references.

    Args:
        specs: the tasks.
        names, learning: see ``entries_of``; None is all entries that can run some of the tasks.

    Raises:
        ConfigError: an entry is wrong, can run none of the tasks, or a task's anchors do not fit.
    """
    for spec in specs:
        anchors_of(spec)
    always = [*dict.fromkeys(group_of(spec).base for spec in specs), *REFERENCES]
    chosen = default_names(specs) if names is None else names
    entries = entries_of([*chosen, *(name for name in always if name not in chosen)], learning)
    playing = {spec.name: [entry.name for entry in entries if can_play(entry, spec)] for spec in specs}
    for entry in entries if names is not None else ():
        if not any(entry.name in several for several in playing.values()) and entry.name not in always:
            raise ConfigError(f"--entries: {entry.name} can play none of {', '.join(playing)}")
    return Suite(
        title=TITLE,
        controllers=[x for x in entries if any(x.name in several for several in playing.values())],
        scenarios=[_test(spec, number, playing[spec.name]) for spec in specs for number in range(TESTS)],
    )


def _test(spec: TaskSpec, number: int, controllers: list[str]) -> SuiteScenario:
    version = spec.id.partition("/")[2]
    return SuiteScenario(
        name=f"{version}-{number}",
        title=f"{version}, test {number}",
        group=version,
        scenario=spec.test(number),
        series=False,
        controllers=controllers,
        seeds=[FIRST_TEST_SEED + number],
    )


def is_of_tasks(suite: Suite) -> bool:
    """Returns whether all its scenarios are tests of tasks."""
    return suite.title == TITLE and all(
        (match := _TEST.fullmatch(case.name)) is not None and match["task"] in TASKS
        for case in suite.scenarios
    )


def tests_in(suite: Suite) -> dict[str, list[SuiteScenario]]:
    """The tests of a folder's suite by the task's name, in their order.

    Raises:
        ConfigError: they are those of another version of the task.
    """
    tests: dict[str, list[SuiteScenario]] = {}
    for case in suite.scenarios:
        match = _TEST.fullmatch(case.name)
        assert match is not None
        spec = TASKS[match["task"]]
        if case.group != spec.id.partition("/")[2]:
            raise ConfigError(
                f"the folder holds tests of {case.group}, and the task is {spec.id} now: `{typed('eval')} "
                f"leaderboard {spec.name}` plays them into a new folder"
            )
        tests.setdefault(spec.name, []).append(case)
    for name, cases in tests.items():
        scenarios = [case.scenario.with_seed(suite.seeds_of(case)[0]) for case in cases]
        if digest(scenarios) != anchors_of(TASKS[name]).tests:
            raise ConfigError(f"the folder's tests of {name} are not those of {TASKS[name].id}")
    return tests


def holds_tasks(path: Path) -> bool:
    """Returns whether a folder's suite is of tasks. Raises ScenarioError if it cannot be read."""
    return (path / SUITE).exists() and is_of_tasks(read_suite(path)[0])


def refuse_others(path: Path) -> None:
    """Raises ConfigError if a folder contains something else, or tests of another version of a task."""
    if not (path / SUITE).exists():
        return
    suite = read_suite(path)[0]
    if not is_of_tasks(suite):
        raise ConfigError(f"--out: {path} holds the suite {suite.title!r}: name another folder")
    tests_in(suite)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Suite of the tasks' test scenarios, its entries, and the tasks that a benchmark's folder contains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ns3_env.agents.training.checkpoint import checkpoints_of, resolve
from ns3_env.config.command_line import typed
from ns3_env.config.gone import farewell
from ns3_env.config.model import nearest, shown
from ns3_env.decision.observations import declared
from ns3_env.decision.task import unknown_fields
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.folder import SUITE, read_suite
from ns3_env.eval.benchmark.suite import Suite, SuiteScenario
from ns3_env.eval.episodes.arguments import is_known
from ns3_env.eval.episodes.entry import Entry, in_full
from ns3_env.eval.leaderboard.anchors import LAYER2, group_of
from ns3_env.eval.leaderboard.board import REFERENCES
from ns3_env.policies.released import (
    CONSTANT,
    LAYOUT,
    TRAINED,
    controller_names,
    policy_path,
    released_names,
    trained_names,
)
from ns3_env.programs.transport import TRANSPORTS
from ns3_env.scenario import AGENT, POLICY, Controller
from ns3_env.simulator import list_controllers
from ns3_env.tasks import FIRST_TEST_SEED, TASKS, TESTS, TaskSpec, task
from ns3_env.tasks.anchors import anchors_of, digest
from ns3_env.tasks.registry import PORT_TASKS

#: The parameters of an entry that is one of several runs, policies or checkpoints.
RUN, TASK, DECISIONS = "run", "task", "decisions"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*")
#: Controllers that are no entries; the constant window replaces ``fixed-window``.
_LEFT_OUT = (AGENT, POLICY, "fixed-window")


def default_names(specs: Sequence[TaskSpec]) -> list[str]:
    """All controllers of the tasks' transports, the released policies, and bundled trained entries."""
    transports = {spec.test(0).transport for spec in specs}
    rules = [name for x in TRANSPORTS if x in transports for name in list_controllers(transport=x)]
    rules = [name for name in rules if name not in _LEFT_OUT]
    rules += [CONSTANT] * ("rdma" in transports)
    trained = sorted(str(path) for path in TRAINED.glob("*/") if path.is_dir())
    return [*dict.fromkeys(rules), *released_names(), *trained]


def entries_of(names: Sequence[str], learning: bool = False) -> list[Entry]:
    """The entries that a command line names, one for each of their policies.

    Args:
        names: a controller, a released policy, PATH, or NAME=PATH. A path is a policy (a run's folder, a
            checkpoint's, a policy's file or its folder), or a folder of an entry's runs; each of those is a
            policy, or a folder with a policy for each task, by the task's name.
        learning: true for all checkpoints of a run's folder instead of only the newest one.

    Raises:
        ConfigError: no such controller or path, a name is in use, a folder has no policy, or there is no
            run's folder to learn from.
    """
    policies: dict[str, list[Entry]] = {}
    for text in names:
        name, several = _parse_entrant(text)
        if name in policies:
            raise ConfigError(f"--entries: {name!r} is there twice")
        policies[name] = several
    entries = [entry for several in policies.values() for entry in several]
    if learning:
        entries = [checkpoint for entry in entries for checkpoint in _checkpoints(entry)]
        if not any(DECISIONS in entry.parameters for entry in entries):
            raise ConfigError("--learning: none of --entries is a run's folder, or a folder of such")
    return entries


def can_play(entry: Entry, spec: TaskSpec) -> bool:
    """Returns whether a task provides an entry's observations, and it is compatible with the other flows.

    Raises ConfigError if its policy cannot be read.
    """
    if entry.parameters.get(TASK, spec.name) != spec.name:
        return False
    if entry.controller is not None:
        return _plays(Controller(name=entry.controller, attributes=entry.attributes), spec)
    decider = resolve(Path(entry.checkpoint or "")).load()
    if isinstance(decider, Controller):
        return _plays(decider, spec)
    transport = spec.test(0).transport
    fields = declared(decider.policy.fields)
    if group_of(spec) == LAYER2:
        return set(fields) <= set(declared(spec.fields))
    hears_frames = any(field.startswith("notified_") for field in fields)
    return not hears_frames and unknown_fields(transport, fields) is None


def _plays(rule: Controller, spec: TaskSpec) -> bool:
    first = spec.test(0)
    if rule.name not in list_controllers(transport=first.transport):
        return False
    try:
        first.under(rule.name, rule.attributes).to_simulator_json()
    except ScenarioError:  # switches cannot mark for it and for the other flows at once
        return False
    return True


def _parse_entrant(text: str) -> tuple[str, list[Entry]]:
    """An entry's name, and its policies."""
    name, equals, path = text.rpartition("=")
    if not equals:
        if text in trained_names():
            return text, list(_policies(text, TRAINED / text))
        if text in released_names() or (is_known(text) and text not in (AGENT, POLICY)):
            return text, [Entry.model_validate(in_full(text))]
        name = Path(text).absolute().name.partition(".")[0] if Path(text).is_file() else Path(text).name
    if not Path(path).exists() and path not in released_names():
        names = [x for transport in TRANSPORTS for x in controller_names(transport)]
        raise ConfigError(
            "--entries: "
            + (
                farewell("policy", path)
                or f"{shown(path)} is no rule, no released policy and no path{nearest(path, names)}"
            )
        )
    if not _NAME.fullmatch(name):
        raise ConfigError(f"--entries: the name {name!r}: only letters, digits and _ . + - please")
    return name, list(_policies(name, Path(path)))


def _policies(name: str, path: Path) -> Iterator[Entry]:
    """The policies of an entry, an entry of the suite each, of the same family. Raises ConfigError."""
    if _is_policy(path):
        yield Entry(name=name, checkpoint=str(path))
        return
    for run in _folders(path):
        if _is_policy(run):
            yield _run(name, run, run.name)
            continue
        of_tasks = [folder for folder in _folders(run) if folder.name in TASKS and _is_policy(folder)]
        if not of_tasks:
            raise ConfigError(f"--entries: {run} is no policy, and holds none by a task's name")
        yield from (_run(name, folder, run.name, folder.name) for folder in of_tasks)


def _run(name: str, path: Path, run: str, task: str | None = None) -> Entry:
    parameters = {RUN: run} if task is None else {RUN: run, TASK: task}
    whole = ".".join([name, *parameters.values()])
    return Entry(name=whole, family=name, parameters=dict(parameters), checkpoint=str(path))


def _checkpoints(entry: Entry) -> Iterator[Entry]:
    """Yields an entry for each checkpoint if the entry is a run, else the entry itself."""
    run = Path(entry.checkpoint or "")
    if entry.checkpoint is None or not (run / "config.yaml").exists():
        yield entry
        return
    for decisions, folder in checkpoints_of(run):
        yield entry.model_copy(
            update={
                "name": f"{entry.name}.{decisions}",
                "family": entry.of,
                "parameters": {**entry.parameters, DECISIONS: decisions},
                "checkpoint": str(folder),
            }
        )


def _folders(path: Path) -> list[Path]:
    folders = sorted(x for x in path.iterdir() if x.is_dir() and not x.name.startswith("."))
    if not folders:
        raise ConfigError(f"--entries: {path} is no policy, and holds none")
    return folders


def _is_policy(path: Path) -> bool:
    """A policy's file, its folder, a checkpoint's, or a run's."""
    return policy_path(path).is_file() or (path / LAYOUT).exists() or (path / "config.yaml").exists()


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Names in commands, configurations and environments, with a line each: ``ns3-env list KIND``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import getdoc
from itertools import takewhile

from rich import box
from rich.table import Table

from ns3_env.config.command_line import guarded, new_console
from ns3_env.config.folders import DATA
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError
from ns3_env.programs.transport import SHOWN, TRANSPORTS

#: Lines by name.
Lines = Mapping[str, str]


def _sentence(text: str) -> str:
    """The first sentence of a text, without its full stop: "sec. 4" ends none."""
    return re.split(r"\.(?= [A-Z]|$)", " ".join(text.split()))[0]


def _described(kinds: Mapping[str, object]) -> Lines:
    """Classes or functions, with their docstrings' first sentences."""
    return {name: _sentence((getdoc(x) or "").partition("\n\n")[0]) for name, x in sorted(kinds.items())}


def _files(folder: str) -> Lines:
    """YAML files of a folder of the package's data, with the comment at the start of each."""
    lines = {}
    for path in sorted((DATA / folder).glob("*.yaml")):
        comment = takewhile(lambda x: x.startswith("#"), path.read_text(encoding="utf-8").splitlines())
        lines[path.stem] = _sentence(" ".join(line.lstrip("# ") for line in comment))
    return lines


def controllers() -> Lines:
    """Congestion controllers, with the transports that have them. Raises as ``describe_controllers``."""
    from ns3_env.programs.executable import describe_controllers

    lines: dict[str, str] = {}
    for transport in TRANSPORTS:
        for name, declared in describe_controllers(transport=transport).items():
            what = f"{SHOWN[transport]}, {len(declared['attributes'])} attributes"
            what += ", a bound that nobody could deploy" if declared.get("reference") else ""
            lines[name] = f"{lines[name]}; {what}" if name in lines else what
    return dict(sorted(lines.items()))


def attributes(controller: str) -> Lines:
    """Attributes of a controller, by name: default and meaning. Raises ConfigError for an unknown one."""
    from ns3_env.programs.executable import describe_controllers

    names: list[str] = []
    for transport in TRANSPORTS:
        declared = describe_controllers(transport=transport)
        if controller in declared:
            of = declared[controller]
            return {name: f"{value} · {of['meanings'][name]}" for name, value in of["attributes"].items()}
        names += declared
    raise ConfigError(f"unknown controller {controller!r}{nearest(controller, names)}")


def policies() -> Lines:
    """Released policies, with the first sentence of their cards."""
    from ns3_env.policies.released import FOLDER, released_names, trained_names

    lines = {}
    for name in released_names():
        heading = (FOLDER / name / "README.md").read_text(encoding="utf-8").partition("\n")[0]
        lines[name] = heading.removeprefix(f"# {name}: ")
    return lines | dict.fromkeys(trained_names(), "an entry of the leaderboard, trained on the tasks")


def tasks() -> Lines:
    """Tasks, with the networks that they draw."""
    from ns3_env.tasks import TASKS

    return {name: spec.summary for name, spec in TASKS.items()}


def fields() -> Lines:
    """Fields of observations, with units and bounds."""
    from ns3_env.decision.observations import FIELDS

    lines = {}
    for field in FIELDS:
        per = f"in units of: {field.normaliser}" if field.normaliser else ""
        unit = "" if field.unit == "1" else field.unit
        lines[field.name] = ", ".join(x for x in (unit, per, f"{field.low:g} to {field.high:g}") if x)
    return lines


def rewards() -> Lines:
    """Rewards, with their objectives."""
    from ns3_env.decision.rewards import REWARDS

    return _described(REWARDS)


def actions() -> Lines:
    """Action maps, with the effect of an action."""
    from ns3_env.decision.actions import ACTIONS

    return _described(ACTIONS)


#: Kinds of names that can be listed.
KINDS: dict[str, Callable[[], Lines]] = {
    "controllers": controllers,
    "policies": policies,
    "suites": lambda: _files("configs/suites"),
    "scenarios": lambda: _files("configs/scenarios"),
    "curricula": lambda: _files("curricula"),
    "tasks": tasks,
    "fields": fields,
    "rewards": rewards,
    "actions": actions,
}


def parser() -> argparse.ArgumentParser:
    """Command line of ``ns3-env list``."""
    command_line = argparse.ArgumentParser(
        prog="ns3-env list",
        description="Lists names that commands, configurations and environments accept, with a line each.",
    )
    command_line.add_argument("kind", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    command_line.add_argument("name", nargs="?", help="of a controller: its attributes, defaults, meanings")
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs ``ns3-env list``; returns the exit code."""
    command_line = parser()
    options = command_line.parse_args(arguments)
    if options.name is not None and options.kind != "controllers":
        command_line.error(f"{options.name}: a name is looked up among controllers alone")

    def work() -> int:
        lines = KINDS[options.kind]() if options.name is None else attributes(options.name)
        table = Table(box=box.SIMPLE_HEAD, show_header=False, show_edge=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        for name, line in lines.items():
            table.add_row(name, line)
        new_console().print(table, highlight=False, markup=False)
        return 0

    return guarded(work)

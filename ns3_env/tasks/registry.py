# SPDX-License-Identifier: GPL-2.0-or-later
"""Registry of tasks by name and id."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ns3_env.ids import register_task
from ns3_env.tasks.definition import Draw, TaskSpec

#: The tasks, by name.
TASKS: dict[str, TaskSpec] = {}
#: Those whose agents are at ports: `eval thresholds` scores them, as the leaderboard's entries control flows.
PORT_TASKS: dict[str, TaskSpec] = {}


def declare(name: str, **settings: Any) -> Callable[[Draw], Draw]:
    """Makes a function that draws scenarios a task; settings are those of :class:`TaskSpec`.

    A task of another package has the id "ns3_env/NAME-v0".
    """

    def put(draw: Draw) -> Draw:
        spec = TaskSpec(name, draw, **settings)
        (PORT_TASKS if spec.decides_at_ports else TASKS)[name] = spec
        register_task(name)
        return draw

    return put


def task(name: str) -> TaskSpec:
    """The task of this name, or of an id such as "ns3_env/Incast-v4".

    Raises ValueError, naming the known ones, or the version of today of a task whose former id this is.
    """
    for spec in (*TASKS.values(), *PORT_TASKS.values()):
        if name in (spec.name, spec.id, spec.id.partition("/")[2]):
            return spec
        if re.fullmatch(rf"(ns3_env/)?{re.escape(spec.name)}-v\d+", name):
            raise ValueError(
                f"{name!r} is another version of this task than {spec.id!r}: their scores differ"
            )
    raise ValueError(f"there is no task {name!r}; there are {', '.join((*TASKS, *PORT_TASKS))}")

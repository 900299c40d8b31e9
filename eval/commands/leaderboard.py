# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``leaderboard``: entries on the tests of tasks, and their scores."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ns3_env.errors import ConfigError
from ns3_env.eval.commands import options as shared

if TYPE_CHECKING:
    from ns3_env.tasks import TaskSpec


def add(options: argparse.ArgumentParser) -> shared.Work:
    """entries on the tests of tasks: scores, 0 is what is deployed and 100 what is possible"""
    options.add_argument(
        "tasks",
        nargs="*",
        metavar="TASK",
        help="names or ids; pkg.module:function of your own task (default: all)",
    )
    options.add_argument(
        "--entries",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME[=PATH]",
        help="controllers, released policies, a policy's path or a folder of an entry's runs "
        "(default: all controllers and released policies)",
    )
    options.add_argument(
        "--learning",
        action="store_true",
        help="every checkpoint of the entries' runs is scored, and learning curves are drawn",
    )
    options.add_argument(
        "--anchors", action="store_true", help="measure what scores of the tasks are 0 and 100, and store it"
    )
    shared.add_out(options, "new, or one to continue with (default: runs/tasks)", required=False)
    options.add_argument("--jobs", type=int, metavar="N", help="tests at a time (default: cores)")
    shared.add(options, "--ray", "--plugin")
    return _work


def _work(options: argparse.Namespace) -> int:
    from ns3_env.eval.benchmark.runner import benchmark
    from ns3_env.eval.leaderboard import files
    from ns3_env.eval.leaderboard.anchors import write_anchors
    from ns3_env.eval.leaderboard.scoring import measure_anchors
    from ns3_env.eval.leaderboard.suite import refuse_others, specs_of, suite_of_tasks

    specs = specs_of([_declared(name) for name in options.tasks] or ["all"])
    if options.anchors:
        write_anchors(specs, options.jobs)
        return 0
    measure_anchors(specs)
    suite = suite_of_tasks(specs, options.entries or None, options.learning)
    out = options.out or Path("runs") / "tasks"
    refuse_others(out)
    done = benchmark(suite, out, options.jobs, ray=options.ray, summary=lambda folder, console: None)
    print(f"leaderboard: {files.write(out)}")
    return 0 if done else 1


def _declared(name: str) -> str:
    """The name of a task; that of ``pkg.module:function`` after its module has been imported.

    Raises ConfigError if the function is no task.
    """
    from ns3_env.config.imports import import_named, is_code, trust
    from ns3_env.tasks import TASKS

    if not is_code(name):
        return name
    trust([name])
    draw = import_named(name)
    specs: Sequence[TaskSpec] = [spec for spec in TASKS.values() if spec.draw is draw]
    if not specs:
        raise ConfigError(f"{name}: is no task: put @ns3_env.tasks.declare(NAME) over it")
    return specs[0].name

# SPDX-License-Identifier: GPL-2.0-or-later
"""Command line of ``python -m eval``: seven commands, each a module of ``commands``.

What is heavy is imported when a command works, not before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ns3_env.config.command_line import AnyOrder, guarded, typed
from ns3_env.config.imports import trust
from ns3_env.eval.commands import benchmark, compare, paper, plot, report, run, speed
from ns3_env.eval.commands.options import of_process, set_process
from ns3_env.eval.output.json_file import check_json

#: Each command's module: ``add`` gives it its options; its first line is the command's help.
COMMANDS = {
    "run": run,
    "benchmark": benchmark,
    "compare": compare,
    "report": report,
    "plot": plot,
    "paper": paper,
    "speed": speed,
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog=typed("eval"), description="Measures policies, controllers and the simulator."
    )
    commands = made.add_subparsers(dest="command", required=True, parser_class=AnyOrder)
    for name, module in COMMANDS.items():
        what = module.add.__doc__
        command = commands.add_parser(name, help=what, description=what, parents=[of_process()])
        command.set_defaults(work=module.add(command))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code (0 done, 1 not passed or failed, 2 a mistake in the input)."""
    options = parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    return guarded(lambda: _do(options))


def _do(options: argparse.Namespace) -> int:
    check_json(getattr(options, "json", None))
    set_process(options)
    if metrics := getattr(options, "metric", ()):
        from ns3_env.eval.metrics import load_metrics

        trust(metrics)
        load_metrics(metrics)
    return options.work(options) or 0

# SPDX-License-Identifier: GPL-2.0-or-later
"""The program ``ns3-env``: ``ns3-env train``, ``ns3-env eval``, ``ns3-env export``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module, metadata

#: Each command: its module, which is imported when it runs, and its purpose; --help lists its options.
COMMANDS = {
    "train": (
        "eval.commands.train",
        "trains the configured policy, or searches one (in a clone: python train.py)",
    ),
    "eval": ("eval.commands.evaluation", "measures policies, controllers and the simulator (python -m eval)"),
    "export": ("eval.commands.export", "writes a trained policy into one file (python export.py)"),
    "record": ("eval.commands.record", "records a policy on a task as a dataset for learning offline"),
    "list": (
        "eval.commands.lists",
        "lists controllers, policies, suites, scenarios, tasks, fields, rewards, actions",
    ),
    "config": ("programs.scripts", "prints the flags that ns-3 scripts with RDMA are built with"),
    "script": ("scenario.script", "writes a scenario as an ns-3 script"),
}


def parser() -> argparse.ArgumentParser:
    """The command line, up to the command; later arguments belong to the command."""
    command_line = argparse.ArgumentParser(
        prog="ns3-env",
        description="Reinforcement learning and benchmarks over ns-3 RDMA networks.",
        epilog="ns3-env COMMAND --help lists a command's arguments.",
    )
    version = metadata.version("ns3-env")
    command_line.add_argument("--version", action="version", version=f"%(prog)s {version}")
    commands = command_line.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, what) in COMMANDS.items():
        commands.add_parser(name, help=what, add_help=False)
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Returns 2 if there is no such command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    command = parser().parse_args(words[:1]).command
    module, _ = COMMANDS[command]
    code: int = import_module(f"ns3_env.{module}").main(words[1:])
    return code


if __name__ == "__main__":
    sys.exit(main())

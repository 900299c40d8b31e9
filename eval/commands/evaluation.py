# SPDX-License-Identifier: GPL-2.0-or-later
"""Command line of ``python -m eval``: ten commands.

Slow imports are done when a command runs, not before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ns3_env.config.command_line import AnyOrder, guarded, typed
from ns3_env.config.gone import refuse
from ns3_env.config.imports import trust
from ns3_env.eval.commands import benchmark, compare, leaderboard, paper, plot, run, trace_info
from ns3_env.eval.commands import options as shared
from ns3_env.eval.commands.options import Work, check_json, of_process, set_process


def add_speed(options: argparse.ArgumentParser) -> Work:
    """packet-hops/s, decisions/s, µs per MPCC decision; or large networks"""
    shared.add(options, "--json")
    options.add_argument(
        "--large",
        type=Path,
        metavar="DIR",
        help="measure networks of 16 to 16,384 hosts and 100 to 1,000,000 flows instead, some minutes; "
        "table and figure go to this folder",
    )

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.speed import large, measure

        if arguments.large is not None:
            large.report(arguments.large)
        else:
            measure.report(arguments.json)

    return work


def add_thresholds(options: argparse.ArgumentParser) -> Work:
    """ECN thresholds of switches' ports: constant, random and learned ones on held-back scenarios"""
    options.add_argument("run", nargs="*", type=Path, help="folders of learned thresholds")
    options.add_argument(
        "--train", type=Path, metavar="CONFIG", help="train first: configs/thresholds.yaml, a folder per seed"
    )
    options.add_argument("--seeds", default="1", metavar="N-M", help="of --train (default: 1)")
    shared.add(options, "--runs", "--json")

    def work(arguments: argparse.Namespace) -> None:
        from ns3_env.eval.papers.outcome import parse_seeds
        from ns3_env.eval.thresholds.compare import report, train_seeds

        runs = list(arguments.run)
        if arguments.train is not None:
            runs += train_seeds(arguments.train, parse_seeds(arguments.seeds), arguments.runs)
        report(runs, arguments.json)

    return work


#: Functions that add each command's options; their docstrings are the help.
COMMANDS: dict[str, Callable[[argparse.ArgumentParser], Work]] = {
    "run": run.add,
    "benchmark": benchmark.add,
    "leaderboard": leaderboard.add,
    "compare": compare.add,
    "report": benchmark.add_report,
    "plot": plot.add,
    "paper": paper.add,
    "thresholds": add_thresholds,
    "speed": add_speed,
    "trace-info": trace_info.add,
}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command_line = argparse.ArgumentParser(
        prog=typed("eval"), description="Measures policies, controllers and the simulator."
    )
    commands = command_line.add_subparsers(dest="command", required=True, parser_class=AnyOrder)
    for name, add in COMMANDS.items():
        command = commands.add_parser(name, help=add.__doc__, description=add.__doc__, parents=[of_process()])
        command.set_defaults(work=add(command))
    return command_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code (0 done, 1 not passed or failed, 2 a mistake in the input)."""
    typed_arguments = _of_today(sys.argv[1:] if arguments is None else arguments)
    if code := guarded(lambda: _refuse_gone(typed_arguments)):
        return code
    options = parser().parse_args(typed_arguments)
    return guarded(lambda: _do(options))


def _of_today(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments; ``benchmark --tasks`` of 0.2 is ``leaderboard``, with a warning until 0.4."""
    if arguments[:1] != ["benchmark"] or "--tasks" not in arguments:
        return arguments
    print(f"`benchmark --tasks` goes in 0.4: `{typed('eval')} leaderboard TASK ...`", file=sys.stderr)
    return ["leaderboard", *(word for word in arguments[1:] if word != "--tasks")]


def _refuse_gone(arguments: Sequence[str]) -> int:
    """Raises ConfigError for a command or an option that went."""
    refuse("command", " ".join(arguments[:2]))
    for text in arguments:
        refuse("option", text.partition("=")[0])
    return 0


def _do(options: argparse.Namespace) -> int:
    check_json(getattr(options, "json", None))
    set_process(options)
    if metrics := getattr(options, "metric", ()):
        from ns3_env.eval.metrics import load_metrics

        trust(metrics)
        load_metrics(metrics)
    return options.work(options) or 0

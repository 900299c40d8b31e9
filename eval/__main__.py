# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be measured? ``python -m eval evaluate | figure | gain | run | reference | speed``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.command import guarded
from ns3_env.errors import ScenarioError


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m eval", description="Measures policies, controllers and the simulator."
    )
    commands = made.add_subparsers(dest="command", required=True)

    evaluate = commands.add_parser("evaluate", help="a run's agent against the simulator's controllers")
    evaluate.add_argument("run", type=Path, help="folder of a training run")
    evaluate.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. evaluation.episodes=5")

    figure = commands.add_parser("figure", help="a run's comparison, drawn again from its files")
    figure.add_argument("run", type=Path, help="folder of a training run")

    gain = commands.add_parser("gain", help="trained against untrained and random, over seeds")
    gain.add_argument("--config", type=Path, required=True)
    gain.add_argument("--curriculum", type=Path, required=True)
    gain.add_argument("--seeds", type=int, default=3)
    gain.add_argument("--runs", type=Path, default=Path("runs"))
    gain.add_argument("overrides", nargs="*", metavar="key=value")

    run = commands.add_parser("run", help="a scenario under the simulator's controllers")
    run.add_argument("--scenario", type=Path, required=True, metavar="FILE", help="its YAML")
    run.add_argument("--controllers", required=True, metavar="A,B,...", help="e.g. dcqcn,hpcc")
    run.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets a folder per controller")

    reference = commands.add_parser("reference", help="flow completion times against the published ones")

    speed = commands.add_parser("speed", help="packet-hops/s, decisions/s, µs per MPCC decision")
    for command in (evaluate, gain, run, reference, speed):
        command.add_argument(
            "--json", type=Path, metavar="FILE", help="write the numbers shown to this file too"
        )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code (0 done, 1 not passed or failed, 2 a mistake in the input)."""
    options = parser().parse_args(arguments)
    return guarded(lambda: run(options))


def run(options: argparse.Namespace) -> int:
    """What the options ask for."""
    if getattr(options, "json", None) and not options.json.absolute().parent.is_dir():
        raise ScenarioError(f"--json: there is no folder {options.json.absolute().parent}")
    if options.command == "speed":
        from eval import speed

        speed.report(options.json)
        return 0
    if options.command == "figure":
        from eval.figures import draw_comparison

        print(draw_comparison(options.run / "evaluation"))
        return 0
    if options.command == "run":
        from eval.run import run

        names = [name.strip() for name in options.controllers.split(",")]
        run(options.scenario, names, options.out, options.json)
        return 0
    if options.command == "reference":
        from eval import reference

        reference.report(options.json)
        return 0
    from eval import comparison

    if options.command == "evaluate":
        comparison.evaluate(options.run, options.overrides, options.json)
        return 0
    passed = comparison.gain(
        options.config, options.curriculum, options.overrides, options.seeds, options.runs, options.json
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be measured? ``python -m eval evaluate | figure | gain | run | benchmark | report | ...``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ns3_env.errors import ScenarioError
from ns3_env.exit_codes import guarded


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
    run.add_argument("--queue-series", type=int, metavar="NS", help="sample the queues at this interval")
    run.add_argument("--pcap", action="store_true", help="capture every port's frames")

    bench = commands.add_parser("benchmark", help="a suite: controllers x scenarios x seeds, on all cores")
    bench.add_argument("--suite", type=Path, required=True, metavar="FILE", help="its YAML, or a known name")
    bench.add_argument("--out", type=Path, required=True, metavar="DIR", help="new, or a run to go on with")
    bench.add_argument("--jobs", type=int, metavar="N", help="cells at a time (default: cores)")
    bench.add_argument("--policy", action="append", default=[], metavar="NAME=PKG.MODULE:FACTORY")
    bench.add_argument("--checkpoint", action="append", default=[], metavar="NAME=PATH")

    report = commands.add_parser("report", help="a benchmark's folder as report.html and report.md")
    report.add_argument("run", type=Path, help="folder of a benchmark, complete or not")

    trace = commands.add_parser("trace", help="one run in depth: a figure, and its series as CSV and Parquet")
    trace.add_argument("scenario", type=Path, help="its YAML, or the config.yaml of a benchmark's cell")
    trace.add_argument("--controller", required=True, metavar="NAME")
    trace.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets figure and series")
    trace.add_argument("--seed", type=int, help="takes the place of the scenario's")
    trace.add_argument("--sample-ns", type=int, metavar="NS", help="interval of the queue's samples")

    reference = commands.add_parser("reference", help="flow completion times against the published ones")

    curves = commands.add_parser("curves", help="rates and queues of the pinned incasts, as pictures")
    curves.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="gets a picture per controller"
    )

    paper = commands.add_parser(
        "paper", help="an experiment of the MPCC thesis: its figures, theirs and ours"
    )
    paper.add_argument("name", nargs="?", help="see --list")
    paper.add_argument("--list", action="store_true", help="every experiment, and what --scale changes")
    paper.add_argument("--out", type=Path, metavar="DIR", help="default: runs/paper/NAME")
    paper.add_argument(
        "--scale", type=float, metavar="X", help="of the thesis's size (default: by experiment)"
    )
    paper.add_argument("--full", action="store_true", help="the thesis's size: --scale 1")
    paper.add_argument("--page", type=Path, metavar="FILE", help="put what was run (in --out) onto a page")

    speed = commands.add_parser("speed", help="packet-hops/s, decisions/s, µs per MPCC decision")
    for command in (evaluate, gain, run, reference, paper, speed):
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
        from eval.speed import measure as speed

        speed.report(options.json)
        return 0
    if options.command == "figure":
        from eval.comparison.figure import draw_comparison

        print(draw_comparison(options.run / "evaluation"))
        return 0
    if options.command == "run":
        from eval.play.scenario import run

        names = [name.strip() for name in options.controllers.split(",")]
        run(
            options.scenario,
            names,
            options.out,
            options.json,
            queue_series_ns=options.queue_series,
            pcap=options.pcap,
        )
        return 0
    if options.command == "curves":
        from eval.show.curves import draw_curves

        for picture in draw_curves(options.out):
            print(picture)
        return 0
    if options.command == "benchmark":
        from eval.benchmark.runner import benchmark

        done = benchmark(options.suite, options.out, options.jobs, options.policy, options.checkpoint)
        return 0 if done else 1
    if options.command == "report":
        from eval.report import write

        print(write(options.run))
        return 0
    if options.command == "trace":
        from eval.trace.run import trace

        print(trace(options.scenario, options.controller, options.out, options.seed, options.sample_ns))
        return 0
    if options.command == "paper":
        from eval.paper.command import dispatch

        dispatch(options)
        return 0
    if options.command == "reference":
        from eval import reference

        reference.report(options.json)
        return 0
    from eval.comparison import training as comparison

    if options.command == "evaluate":
        comparison.evaluate(options.run, options.overrides, options.json)
        return 0
    passed = comparison.gain(
        options.config, options.curriculum, options.overrides, options.seeds, options.runs, options.json
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

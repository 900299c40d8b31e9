# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands of ``python -m eval``: evaluate, figure, gain, run, benchmark, report and others.

Each command is a function that adds its options and says what they do; what is heavy is imported only then.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ns3_env.config.command_line import POLICY_HELP, AnyOrder, typed
from ns3_env.config.exit_codes import guarded
from ns3_env.config.imports import trust, trust_all
from ns3_env.config.units import nanoseconds
from ns3_env.eval.plots.json_file import check_json
from ns3_env.simulator import load_plugins

if TYPE_CHECKING:
    from ns3_env.eval.benchmark.suite import Suite

#: What a command does: its exit code, or None for 0.
Work = Callable[[argparse.Namespace], "int | None"]


def _evaluate(options: argparse.ArgumentParser) -> Work:
    """a run's agent, or a policy's file, against the simulator's controllers"""
    options.add_argument("run", type=Path, help=POLICY_HELP)
    options.add_argument("overrides", nargs="*", metavar="key=value", help="e.g. evaluation.episodes=5")
    _metric(options)
    _plugin(options)
    _allow_imports(options)
    _json(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.training.evaluate import evaluate

        evaluate(given.run, given.overrides, given.json)

    return work


def _figure(options: argparse.ArgumentParser) -> Work:
    """a run's comparison, drawn again from its files"""
    options.add_argument("run", type=Path, help="folder of a training run")
    _format(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.plots.files import parse_formats
        from ns3_env.eval.training.figure import draw_comparison

        print(draw_comparison(given.run / "evaluation", formats=parse_formats(given.format)))

    return work


def _gain(options: argparse.ArgumentParser) -> Work:
    """trained against untrained and random, over seeds"""
    options.add_argument("--config", type=Path, required=True)
    options.add_argument("--curriculum", type=Path, required=True)
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--runs", type=Path, default=Path("runs"))
    options.add_argument("overrides", nargs="*", metavar="key=value")
    _plugin(options)
    _json(options)

    def work(given: argparse.Namespace) -> int:
        from ns3_env.eval.training.gain import gain

        passed = gain(given.config, given.curriculum, given.overrides, given.seeds, given.runs, given.json)
        return 0 if passed else 1

    return work


def _run(options: argparse.ArgumentParser) -> Work:
    """a scenario under the simulator's controllers"""
    options.add_argument("--scenario", type=Path, required=True, metavar="FILE", help="its YAML")
    options.add_argument(
        "overrides", nargs="*", metavar="key=value", help="e.g. traffic.load=0.5, or hpcc.Eta=0.9"
    )
    options.add_argument("--controllers", default="", metavar="A,B,...", help="e.g. dcqcn,hpcc")
    _checkpoint(options, "a trained policy, which the simulator plays")
    options.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder per controller")
    options.add_argument(
        "--queue-series", type=nanoseconds, metavar="NS", help="sample the queues at this interval, e.g. 10us"
    )
    options.add_argument("--pcap", action="store_true", help="capture every port's frames")
    _metric(options)
    _plugin(options)
    _hang_timeout(options)
    _json(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.episodes.scenario import run

        run(
            given.scenario,
            _names(given.controllers),
            given.out,
            given.json,
            queue_series_ns=given.queue_series,
            pcap=given.pcap,
            checkpoints=given.checkpoint,
            overrides=given.overrides,
            hang_timeout_s=given.hang_timeout,
        )

    return work


def _benchmark(options: argparse.ArgumentParser) -> Work:
    """a suite: controllers x scenarios x seeds, on all cores"""
    options.add_argument("--suite", type=Path, required=True, metavar="FILE", help="its YAML, or its name")
    options.add_argument("--out", type=Path, required=True, metavar="DIR", help="new, or a run to go on with")
    _cells(options)

    def work(given: argparse.Namespace) -> int:
        return _play_cells(given.suite, given.out, given)

    return work


def _sweep(options: argparse.ArgumentParser) -> Work:
    """a scenario or a suite over a grid of its keys and of controllers' attributes"""
    options.add_argument("what", type=Path, metavar="SUITE|SCENARIO", help="its YAML, or its name")
    options.add_argument(
        "axes",
        nargs="+",
        metavar="key=a,b,c",
        help="or key=range(start,stop,step); e.g. traffic.load=0.1,0.3 hpcc.Eta=0.9,0.95",
    )
    options.add_argument(
        "--out", type=Path, metavar="DIR", help="new, or one to go on with (default: runs/sweep-...)"
    )
    options.add_argument("--controllers", default="", metavar="A,B,...", help="in place of the suite's")
    options.add_argument("--seeds", type=int, metavar="N", help="1 to N (default: the suite's, or 8)")
    _cells(options)

    def work(given: argparse.Namespace) -> int:
        from ns3_env.eval.benchmark.sweep import sweep_suite

        suite, folder = sweep_suite(given.what, given.axes, _names(given.controllers), given.seeds)
        return _play_cells(suite, given.out or folder, given)

    return work


def _report(options: argparse.ArgumentParser) -> Work:
    """a benchmark's folder as report.html and report.md"""
    options.add_argument("run", type=Path, help="folder of a benchmark, complete or not")
    _metric(options)
    _format(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.benchmark import frames as results
        from ns3_env.eval.plots.files import FOLDER, parse_formats
        from ns3_env.eval.report import write

        formats = parse_formats(given.format)
        print(write(given.run, formats))
        if formats:
            print(f"figures: {given.run / FOLDER}")
        if (lacking := results.lacking()) is not None:
            print(lacking)

    return work


def _trace(options: argparse.ArgumentParser) -> Work:
    """one run in depth: a figure, and its series as CSV and Parquet"""
    options.add_argument("scenario", type=Path, help="its YAML, or the config.yaml of a benchmark's cell")
    options.add_argument("--controller", required=True, metavar="NAME")
    options.add_argument("--out", type=Path, required=True, metavar="DIR", help="gets figure and series")
    options.add_argument("--seed", type=int, help="takes the place of the scenario's")
    options.add_argument(
        "--sample-ns", type=nanoseconds, metavar="NS", help="interval of the queue's samples"
    )
    options.add_argument("--checkpoint", type=Path, metavar="PATH", help=f"NAME is its: {POLICY_HELP}")
    _format(options)
    _plugin(options)
    _allow_imports(options)
    _hang_timeout(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.plots.files import parse_formats
        from ns3_env.eval.trace.run import trace

        print(
            trace(
                given.scenario,
                given.controller,
                given.out,
                given.seed,
                given.sample_ns,
                checkpoint=given.checkpoint,
                formats=parse_formats(given.format),
                allow_imports=given.allow_imports,
                hang_timeout_s=given.hang_timeout,
            )
        )

    return work


def _map(options: argparse.ArgumentParser) -> Work:
    """what a policy has learned: its action over two fields, as a picture"""
    options.add_argument("policy", type=Path, help=POLICY_HELP)
    options.add_argument("given", nargs="*", metavar="FIELD=VALUE", help="e.g. flow_count=16")
    options.add_argument("--out", type=Path, required=True, metavar="FILE", help="a .png or .svg")
    options.add_argument("--x", default="qlen=0..1", metavar="FIELD=LOW..HIGH")
    options.add_argument("--y", default="pacing_rate=0.01..1", metavar="FIELD=LOW..HIGH")
    options.add_argument("--panel", metavar="FIELD=A,B,...", help="a panel for each, e.g. remaining=0.3,3,30")

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.training.policy_map import policy_map

        print(policy_map(given.policy, given.out, given.x, given.y, given.panel, given.given))

    return work


def _learning(options: argparse.ArgumentParser) -> Work:
    """how runs learned: their scores over training, seeds together, as a picture"""
    options.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="folders of runs of one kind")
    options.add_argument("--out", type=Path, required=True, metavar="FILE", help="a .png or .svg")

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.training.learning_curves import draw_learning

        print(draw_learning(given.runs, given.out))

    return work


def _ablation(options: argparse.ArgumentParser) -> Work:
    """what makes an agent learn: variants of its configuration, several seeds each"""
    options.add_argument("file", type=Path, help="configs/ablations/*.yaml")
    options.add_argument("--out", type=Path, required=True, metavar="DIR", help="new, or one to go on with")
    _ray(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.training.ablation import ablate

        print(ablate(given.file, given.out, given.ray).read_text(encoding="utf-8"))

    return work


def _reference(options: argparse.ArgumentParser) -> Work:
    """flow completion times against the published ones"""
    options.add_argument(
        "--published",
        type=Path,
        metavar="DIR",
        help="networks that your build of the published simulator played, too; none: three that come along",
    )
    options.add_argument(
        "--random", type=_count, metavar="N", help="draw so many networks into DIR, where they are not there"
    )
    options.add_argument("--seed", type=_count, default=1, help="of the draw (default: 1)")
    options.add_argument(
        "--preset", choices=("default", "reference"), help="play it in the place of the scenarios' own"
    )
    _hang_timeout(options)
    _json(options)

    def work(given: argparse.Namespace) -> int:
        from ns3_env.errors import ConfigError
        from ns3_env.eval.paper.published import networks, published_scenarios

        if given.published is None:
            if given.random is not None:
                raise ConfigError("--random: needs --published DIR, where the networks go")
            published_scenarios.report(given.json, preset=given.preset, hang_timeout_s=given.hang_timeout)
            return 0
        exact = networks.report(
            given.published,
            given.random,
            given.seed,
            given.json,
            preset=given.preset,
            hang_timeout_s=given.hang_timeout,
        )
        return 0 if exact else 1

    return work


def _curves(options: argparse.ArgumentParser) -> Work:
    """rates and queues of the pinned incasts, as pictures"""
    options.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="gets a picture per controller"
    )

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.plots.curves import draw_curves

        for picture in draw_curves(given.out):
            print(picture)

    return work


def _paper(options: argparse.ArgumentParser) -> Work:
    """an experiment of a paper: its figures, theirs and ours"""
    options.add_argument("name", nargs="?", help="see --list")
    options.add_argument("--list", action="store_true", help="every experiment, and what --scale changes")
    options.add_argument("--out", type=Path, metavar="DIR", help="default: runs/paper/NAME")
    options.add_argument(
        "--scale", type=float, metavar="X", help="of the paper's size (default: by experiment)"
    )
    options.add_argument("--full", action="store_true", help="the paper's size: --scale 1")
    _checkpoint(options, "a trained policy, in the place of the released one of that name, or beside them")
    options.add_argument("--page", type=Path, metavar="FILE", help="put what was run (in --out) onto a page")
    _hang_timeout(options)
    _json(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.paper.experiments import dispatch

        dispatch(given)

    return work


def _speed(options: argparse.ArgumentParser) -> Work:
    """packet-hops/s, decisions/s, µs per MPCC decision"""
    _hang_timeout(options)
    _json(options)

    def work(given: argparse.Namespace) -> None:
        from ns3_env.eval.speed import measure

        measure.report(given.json, hang_timeout_s=given.hang_timeout)

    return work


#: A line for each command: the function that adds it; its first line is the command's help.
COMMANDS = {
    "evaluate": _evaluate,
    "figure": _figure,
    "gain": _gain,
    "run": _run,
    "benchmark": _benchmark,
    "sweep": _sweep,
    "report": _report,
    "trace": _trace,
    "map": _map,
    "learning": _learning,
    "ablation": _ablation,
    "reference": _reference,
    "curves": _curves,
    "paper": _paper,
    "speed": _speed,
}


def _format(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--format",
        default="",
        metavar="pdf,svg,png",
        help="each panel as a file too, as wide as a paper's column",
    )


def _names(text: str) -> list[str]:
    """What stands between commas."""
    return [name.strip() for name in text.split(",")] if text else []


def _cells(options: argparse.ArgumentParser) -> None:
    """Options of commands that play a suite's cells."""
    options.add_argument("--jobs", type=int, metavar="N", help="cells at a time (default: cores)")
    _ray(options)
    options.add_argument("--policy", action="append", default=[], metavar="NAME=PKG.MODULE:FACTORY")
    _checkpoint(options, "a trained policy")
    _metric(options)
    _plugin(options)
    _allow_imports(options)
    _hang_timeout(options)


def _play_cells(suite: Suite | Path, out: Path, given: argparse.Namespace) -> int:
    """Plays the suite with the options of ``_cells``; returns the exit code."""
    from ns3_env.eval.benchmark.runner import benchmark

    done = benchmark(
        suite,
        out,
        given.jobs,
        given.policy,
        given.checkpoint,
        allow_imports=given.allow_imports,
        hang_timeout_s=given.hang_timeout,
        ray=given.ray,
    )
    return 0 if done else 1


def _hang_timeout(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--hang-timeout",
        type=_seconds,
        default=0.9,
        metavar="S",
        help="seconds of computing without a sign of life after which the simulator is ended (default: 0.9)",
    )


def _seconds(text: str) -> float:
    """A time above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def _count(text: str) -> int:
    """A whole number above 0."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return value


def _json(options: argparse.ArgumentParser) -> None:
    options.add_argument("--json", type=Path, metavar="FILE", help="write the numbers shown to this file too")


def _ray(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--ray",
        metavar="ADDRESS|auto|local",
        help="as tasks of a Ray cluster: HOST:PORT of its head, auto: that of this machine, local: one for "
        "as long as this runs",
    )


def _plugin(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--plugin",
        action="append",
        default=[],
        metavar="FILE",
        help="a shared object with controllers of your own; may be repeated",
    )


def _checkpoint(options: argparse.ArgumentParser, what: str) -> None:
    options.add_argument(
        "--checkpoint", action="append", default=[], metavar="NAME=PATH", help=f"{what}: {POLICY_HELP}"
    )


def _metric(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="PKG.MODULE:NAME",
        help="a metric of your own, a function under @metric; may be repeated",
    )


def _allow_imports(options: argparse.ArgumentParser) -> None:
    options.add_argument(
        "--allow-imports", action="store_true", help="run the code that files and checkpoints name"
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog=typed("eval"), description="Measures policies, controllers and the simulator."
    )
    commands = made.add_subparsers(dest="command", required=True, parser_class=AnyOrder)
    for name, add in COMMANDS.items():
        command = commands.add_parser(name, help=add.__doc__, description=add.__doc__)
        command.set_defaults(work=add(command))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code (0 done, 1 not passed or failed, 2 a mistake in the input)."""
    options = parser().parse_args(arguments)
    return guarded(lambda: _do(options))


def _do(options: argparse.Namespace) -> int:
    check_json(getattr(options, "json", None))
    if getattr(options, "allow_imports", False):
        trust_all()
    load_plugins(getattr(options, "plugin", ()))
    if metrics := getattr(options, "metric", ()):
        from ns3_env.eval.metrics import load_metrics

        trust(metrics)
        load_metrics(metrics)
    return options.work(options) or 0


if __name__ == "__main__":
    sys.exit(main())

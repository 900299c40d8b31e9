# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands ``benchmark``, a suite or a sweep, and ``report``, its folder as a page."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ns3_env.eval.commands import options as shared

#: Imports of a report's worker processes, which need as long as some of its figures.
IMPORTED = ("ns3_env.eval.report.pictures", "scipy.stats")


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a suite, or a scenario: controllers x scenarios x seeds, over a grid of keys if wanted"""
    options.add_argument("suite", type=Path, metavar="SUITE", help="its YAML or name, or a scenario's")
    options.add_argument(
        "--over",
        nargs="+",
        action="extend",
        default=[],
        metavar="key=a,b,c",
        help="a grid over these values, or over key=range(start,stop,step); "
        "e.g. traffic.load=0.1,0.3 hpcc.Eta=0.9,0.95",
    )
    shared.add_controllers(options, "the suite's")
    shared.add_seeds(options, "the suite's; of a scenario 1-8")
    shared.add_out(options, "new, or one to continue (default: runs/benchmark-...)", required=False)
    options.add_argument("--jobs", type=int, metavar="N", help="cells at a time (default: cores)")
    shared.add(options, "--ray")
    options.add_argument(
        "--watch",
        action="store_true",
        help="a film of each scenario that keeps series, of its first seed under all controllers; the report "
        "has links to them",
    )
    shared.add(options, "--label", "--policy", "--checkpoint", "--metric", "--plugin", "--allow-imports")
    return _work


def _work(options: argparse.Namespace) -> int:
    from ns3_env.simulator.pool import prepare

    prepare("ns3_env.eval.benchmark.cell", *IMPORTED)
    from ns3_env.eval.benchmark.runner import benchmark
    from ns3_env.eval.benchmark.sweep import suite_of

    suite, folder = suite_of(options.suite, options.over, options.controllers, options.seeds)
    suite.labels.update(shared.labels(options.label))
    out = options.out or folder
    done = benchmark(
        suite,
        out,
        options.jobs,
        options.policy,
        options.checkpoint,
        allow_imports=options.allow_imports,
        ray=options.ray,
        watch=options.watch,
    )
    if options.watch:
        from ns3_env.eval.benchmark.films import write_benchmark_films
        from ns3_env.eval.benchmark.folder import BenchFolder

        for page in write_benchmark_films(BenchFolder.read(out)):
            print(f"film: {page}")
    show(f"report: {write_shown(out, say=print)}")
    return 0 if done else 1


def add_report(options: argparse.ArgumentParser) -> shared.Work:
    """a benchmark's folder as report.html and report.md; one of tasks as leaderboard.md"""
    options.add_argument("run", type=Path, metavar="DIR", help="folder of a benchmark, complete or not")
    shared.add(options, "--metric", "--format", "--label")
    options.add_argument(
        "--page", type=Path, metavar="FILE", help="of tasks: a Markdown page that also gets the tables"
    )
    return _report


def _report(options: argparse.Namespace) -> None:
    from ns3_env.eval.leaderboard import files
    from ns3_env.eval.leaderboard.suite import holds_tasks
    from ns3_env.eval.output.plots import FOLDER, parse_formats

    formats = parse_formats(options.format)
    if options.page is not None or holds_tasks(options.run):
        print(files.write(options.run, formats, options.page))
        return
    written = str(write_shown(options.run, formats, labels=shared.labels(options.label)))
    show(written + (f"\nfigures: {options.run / FOLDER}" if formats else ""))


def write_shown(
    folder: Path,
    formats: Sequence[str] = (),
    say: Callable[[str], None] = lambda text: None,
    labels: Mapping[str, str] = MappingProxyType({}),
) -> Path:
    """Writes a benchmark's report, and shows the progress; ``say`` receives a line for each phase."""
    from ns3_env.simulator.pool import prepare

    prepare(*IMPORTED)
    from rich.text import Text

    from ns3_env.config.command_line import new_console
    from ns3_env.eval.output.progress import progress_lines
    from ns3_env.eval.report import write

    now = ["report"]
    with new_console(stderr=True).status(now[0]) as status, progress_lines(new_console(), lambda: now[0]):

        def phase(what: str) -> None:
            now[0] = f"report: {what}"
            say(now[0])
            status.update(Text(now[0]))

        def progress(scenario: str, done: int, of: int) -> None:
            now[0] = f"report: {done} of {of} scenarios, {scenario}"
            status.update(Text(now[0]))

        return write(folder, formats, progress, phase, labels)


def show(written: str) -> None:
    """Prints the files that were written, and those that lack a package."""
    from ns3_env.eval.output.results import PARQUET
    from ns3_env.eval.output.table import lacking

    print(written)
    if (text := lacking("pandas", "pyarrow")) is not None:
        print(f"no {PARQUET}: {text}")

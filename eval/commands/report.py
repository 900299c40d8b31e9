# SPDX-License-Identifier: GPL-2.0-or-later
"""Command ``report``: a benchmark's folder as a page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ns3_env.eval.commands import options as shared

#: What a report's worker processes import, which takes as long as some of its figures.
IMPORTED = ("ns3_env.eval.report.parts", "scipy.special")


def add(options: argparse.ArgumentParser) -> shared.Work:
    """a benchmark's folder as report.html and report.md; one of tasks as leaderboard.md"""
    options.add_argument("run", type=Path, metavar="DIR", help="folder of a benchmark, complete or not")
    shared.add_metric(options)
    shared.add_format(options)
    options.add_argument(
        "--page", type=Path, metavar="FILE", help="of tasks: a Markdown page that has the tables, too"
    )
    return _work


def _work(given: argparse.Namespace) -> None:
    from ns3_env.eval.leaderboard import files
    from ns3_env.eval.leaderboard.suite import holds_tasks
    from ns3_env.eval.output.files import FOLDER, parse_formats

    formats = parse_formats(given.format)
    if given.page is not None or holds_tasks(given.run):
        print(files.write(given.run, formats, given.page))
        return
    written = str(write_shown(given.run, formats))
    show(written + (f"\nfigures: {given.run / FOLDER}" if formats else ""))


def write_shown(folder: Path, formats: Sequence[str] = ()) -> Path:
    """Writes a benchmark's report, and shows how far it is."""
    from ns3_env.simulator.pool import prepare

    prepare(*IMPORTED)
    from rich.console import Console

    from ns3_env.eval.report import write

    with Console(stderr=True).status("report: reading") as status:

        def progress(scenario: str, done: int, of: int) -> None:
            status.update(f"report: {done} of {of} scenarios, {scenario}")

        return write(folder, formats, progress)


def show(written: str) -> None:
    """Prints what was written, and which files could not be for want of a package."""
    from ns3_env.eval.benchmark import frames

    print(written)
    if (lacking := frames.lacking()) is not None:
        print(lacking)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the policies of several runs on incasts that none has seen: one table, one figure."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ns3_env.config.command_line import interpreter, typed
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.runner import benchmark
from ns3_env.eval.benchmark.standings import standings
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.output.plots import write_picture
from ns3_env.eval.report.curves import overview, sweeps
from ns3_env.eval.report.pictures import looks_of

#: The suite that is run, and the name of its figure.
SUITE, FIGURE = "trained", "comparison.png"
DRAWN = ("fct_slowdown_avg", "goodput", "unfair_ratio", "queue_avg_bytes")


def refuse_names(names: Sequence[str]) -> None:
    """Raises ConfigError if two of them are equal, or one is a controller's of ``SUITE``."""
    others = [entry.name for entry in Suite.load(SUITE).controllers]
    for name in names:
        if name in others:
            raise ConfigError(
                f"command line: two to compare are called {name!r}: give one another name in its file"
            )
        others.append(name)


def compare_trained(paths: Mapping[str, Path], out: Path) -> bool:
    """Runs ``SUITE`` with checkpoints added, prints the table, and draws the figure into ``out``.

    Args:
        paths: paths of the checkpoints, by their names in the table.
        out: the benchmark's folder; an earlier run in it is continued.

    Returns:
        Whether every cell is done.

    Raises:
        ScenarioError: a name is in use, or a checkpoint is invalid.
        KeyboardInterrupt: Ctrl-C; a later call can continue the folder.
    """
    checkpoints = [f"{name}={path}" for name, path in paths.items()]
    command = [*typed("train").split(), *sys.argv[1:]]
    done = benchmark(Suite.load(SUITE), out, checkpoints=checkpoints, command=command)
    folder = BenchFolder.read(out)
    (sweep,) = sweeps(folder.suite)
    figure = overview(sweep, standings(folder, DRAWN), looks_of(folder.suite), DRAWN)
    print(f"figure: {write_picture(figure, out / FIGURE)}")
    return done


def show_next(runs: Mapping[str, Path]) -> None:
    """Prints commands to use the runs, by their names as entries: a file, a scenario, the curves."""
    entries = " ".join(f"--checkpoint {name}={run}" for name, run in runs.items())
    first = next(iter(runs.values()))
    of_scenario = f"--controllers hpcc {entries} --out {first.parent / 'played'}"
    print(
        "next, each as a file; in any scenario; the curves of training in a browser:\n"
        f"  {typed('export')} {first}\n"
        f"  {typed('eval')} run dumbbell_100g_4to1 {of_scenario}\n"
        f"  {interpreter('tensorboard')} --logdir {first.parent}"
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""What came of a benchmark, in a table? Each controller's means over seeds, and who won for sure."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from eval.benchmark.folder import BenchFolder, Cell
from eval.benchmark.statistics import FloatArray, bootstrap_interval, winner
from eval.benchmark.suite import SuiteScenario
from eval.show.table import cell

#: The metric that the table compares by.
SCORE = "fct_slowdown_avg"
#: (metric, heading, format, what it is divided by) of the columns after the score's, in order.
COLUMNS: tuple[tuple[str, str, str, float], ...] = (
    ("fct_slowdown_p99", "\np99", ".1f", 1),
    ("queue_avg_bytes", "queue\navg kB", ",.0f", 1000),
    ("queue_p99_bytes", "\np99 kB", ",.0f", 1000),
    ("goodput", "good-\nput", ".3f", 1),
    ("unfair_ratio", "unfair\nratio", ".1g", 1),
    ("pfc_frames", "PFC\nframes", ",.0f", 1),
    ("unfinished_flows", "not\ndone", ",.1f", 1),
)


def values_of(cells: Sequence[Cell], metric: str) -> FloatArray:
    """The metric of each cell: (n,), NaN where it is not defined."""
    return np.array([x.metrics.get(metric, math.nan) for x in cells], dtype=np.float64)


def mean_of(values: FloatArray) -> float:
    """The mean of what is defined; NaN of nothing."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else math.nan


def winner_of(folder: BenchFolder, entry: SuiteScenario) -> str | None:
    """Whose average FCT slowdown is least for sure.

    None where intervals overlap, a cell is missing, or somebody left flows unfinished: the mean of the
    finished ones flatters.
    """
    scores = {}
    for who in folder.suite.contestants_of(entry):
        cells = _cells(folder, entry.name, who.name)
        if len(cells) < len(folder.suite.seeds) or values_of(cells, "unfinished_flows").any():
            return None
        scores[who.name] = values_of(cells, SCORE)
    return winner(scores, lower_is_better=True)


def show(folder: BenchFolder, console: Console) -> None:
    """Prints a row for each controller in each scenario, what is missing, and the winners."""
    drawn = Table(title=_title(folder), title_justify="left", box=box.SIMPLE_HEAD, padding=0, show_edge=False)
    drawn.add_column("\ncontroller", no_wrap=True)
    for heading in ("slow-\ndown", "\n95 %", *(heading for _, heading, _, _ in COLUMNS)):
        drawn.add_column(heading, justify="right", no_wrap=True)
    for entry in folder.suite.scenarios:
        best = winner_of(folder, entry)
        drawn.add_section()
        drawn.add_row(f"[bold]{entry.name}[/]")
        for who in folder.suite.contestants_of(entry):
            cells = _cells(folder, entry.name, who.name)
            name = f"{who.name} *" if who.name == best else who.name
            if len(cells) < len(folder.suite.seeds):
                name += f" ({len(cells)}/{len(folder.suite.seeds)})"
            drawn.add_row(f" {name}", *_numbers(cells))
    console.print(drawn)
    console.print(
        "means over seeds; 95 %: bootstrap interval of the mean slowdown; "
        "*: least slowdown, intervals apart, all flows finished",
        style="dim",
    )
    for note in notes(folder):
        console.print(note, highlight=False, markup=False)


def notes(folder: BenchFolder) -> list[str]:
    """What is not in the means: failed, missing and stale cells."""
    found = [
        f"failed: {name} / {who} / seed {seed}: {text.strip().splitlines()[-1] if text.strip() else ''}"
        for (name, who, seed), text in folder.failed.items()
    ]
    found += [f"missing: {name} / {who} / seed {seed}" for name, who, seed in folder.missing]
    if folder.stale:
        x = folder.stale[0]
        found.append(
            f"{len(folder.stale)} cells are of another suite or version and not counted, "
            f"e.g. {x.scenario} / {x.controller} / seed {x.seed}"
        )
    return found


def _title(folder: BenchFolder) -> str:
    seeds = len(folder.suite.seeds)
    return f"{folder.suite.title or folder.source}, {seeds} seed{'s' * (seeds != 1)} ({folder.path})"


def _cells(folder: BenchFolder, scenario: str, controller: str) -> list[Cell]:
    return [x for x in folder.cells if (x.scenario, x.controller) == (scenario, controller)]


def _numbers(cells: Sequence[Cell]) -> list[str]:
    scores = values_of(cells, SCORE)
    low, high = bootstrap_interval(scores)
    shown = [cell(mean_of(scores), ".2f"), "" if math.isnan(low) else f"{low:.2f}–{high:.2f}"]
    return shown + [
        cell(mean_of(values_of(cells, metric)) / scale, form) for metric, _, form, scale in COLUMNS
    ]

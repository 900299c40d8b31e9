# SPDX-License-Identifier: GPL-2.0-or-later
"""Summary table of a benchmark: each controller's means over seeds, and the certain winners."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.standings import Row, Standing, has_way, standings
from ns3_env.eval.benchmark.yardsticks import within_noise
from ns3_env.eval.metrics import own_names
from ns3_env.eval.output.table import cell, new_table, of_own_metrics, print_table

#: The metric that the table compares by.
SCORE = "fct_slowdown_avg"
#: The metric whose column is shown only if a controller left flows unfinished.
UNFINISHED = "unfinished_flows"
#: (metric, heading, format, divisor) of the columns after the score's, in order.
COLUMNS: tuple[tuple[str, str, str, float], ...] = (
    ("fct_slowdown_p99", "\np99", ".1f", 1),
    ("queue_avg_bytes", "queue\navg kB", ",.0f", 1000),
    ("queue_p99_bytes", "\np99 kB", ",.0f", 1000),
    ("goodput", "\ngoodput", ".3f", 1),
    ("unfair_ratio", "unfair\nratio", ".1g", 1),
    ("pfc_frames", "PFC\nframes", ",.0f", 1),
    (UNFINISHED, "not\ndone", ",.1f", 1),
)


def show(folder: BenchFolder, console: Console) -> None:
    """Prints a row for each controller in each scenario, the missing cells, and the winners."""
    summary = standings(folder, [SCORE, *(metric for metric, _, _, _ in COLUMNS), *own_names()])
    with_way = has_way(summary)
    way = ["way\n%"] if with_way else []
    columns = [x for x in COLUMNS if x[0] != UNFINISHED or not _all_finished(summary)]
    headings = ("\nslowdown", "vs best\n(95 %)", *way, *(heading for _, heading, _, _ in columns))
    seeds = len(folder.suite.seeds)
    title = f"{folder.suite.title or folder.source}, {seeds} seed{'s' * (seeds != 1)} ({folder.path})"
    table = new_table(title, "\ncontroller", headings)
    metric_rows: list[tuple[str | Text, list[float]]] = []
    for scenario in summary:
        verdict, best = scenario.verdicts[SCORE], scenario.best.get(SCORE)
        table.add_section()
        heading = Text(scenario.name, style="bold")
        open_because = "" if verdict.winner else f"; {verdict.text}"
        table.add_row(heading + Text("" if best is None else f" (best: {best}{open_because})"))
        metric_rows.append((heading, []))
        for row in scenario.rows:
            name = f"{row.controller} *" if row.controller == verdict.winner else row.controller
            if row.reference:
                name += " (bound)"
            if row.seeds < row.expected:
                name += f" ({row.seeds}/{row.expected})"
            table.add_row(f" {name}", *_numbers(row, with_way, columns))
            metric_rows.append((f" {row.controller}", [row.scores[metric].mean for metric in own_names()]))
    print_table(table, console)
    if own_names():
        print_table(of_own_metrics(metric_rows), console)
    console.print(
        "means over seeds; vs best: slowdown / that of the scenario's best entry by the mean, named next to "
        "it, seed by seed on the same flows, its 95 % interval over all comparisons of a scenario; "
        "*: significantly less than each other one, all flows finished; (bound): nobody could deploy it"
        + ("; way: from what is deployed to the oracle" if with_way else ""),
        style="dim",
    )
    for note in (*within_noise(folder), *notes(folder)):
        console.print(note, highlight=False, markup=False)


def notes(folder: BenchFolder) -> list[str]:
    """Lists cells that are not in the means: failed, missing and stale ones."""
    lines = [
        f"failed: {name} / {entry} / seed {seed}: {text.strip().splitlines()[-1] if text.strip() else ''}"
        for (name, entry, seed), text in folder.failed.items()
    ]
    lines += [f"missing: {name} / {entry} / seed {seed}" for name, entry, seed in folder.missing]
    if folder.stale:
        x = folder.stale[0]
        lines.append(
            f"{len(folder.stale)} cells are of another suite or version and not counted, "
            f"e.g. {x.scenario} / {x.controller} / seed {x.seed}"
        )
    return lines


def _all_finished(summary: Sequence[Standing]) -> bool:
    """Returns whether all flows finished: a column of zeros would displace another."""
    means = [row.scores[UNFINISHED].mean for scenario in summary for row in scenario.rows]
    return not any(mean > 0 for mean in means)


def _numbers(row: Row, with_way: bool, columns: Sequence[tuple[str, str, str, float]]) -> list[str]:
    score = row.scores[SCORE]
    interval = ""
    if score.edge is not None and not math.isnan(score.edge.difference.low):
        interval = f"{score.edge.difference.low:.3f}–{score.edge.difference.high:.3f}"
    return [
        cell(score.mean, ".2f"),
        interval,
        *([cell(row.way, ".0f")] if with_way else []),
        *(cell(row.scores[metric].mean / scale, form) for metric, _, form, scale in columns),
    ]

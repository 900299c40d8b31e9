# SPDX-License-Identifier: GPL-2.0-or-later
"""Who wins where, and is it sure? Each controller's metrics over its seeds, and a verdict for each metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from eval.benchmark.folder import BenchFolder, Key
from eval.benchmark.statistics import bootstrap_interval, winner
from eval.benchmark.summary import mean_of, values_of
from eval.metrics import METRICS, MetricInfo
from eval.show.plots import Floats
from eval.show.table import cell as shown

#: Metrics of the summary; every other one is in the scenario's own table.
HEADLINES = (
    "fct_slowdown_avg",
    "fct_slowdown_p99",
    "queue_p99_bytes",
    "goodput",
    "pfc_pause_fraction",
    "unfinished_flows",
)
#: Metrics of finished flows only: a controller that leaves flows unfinished is not compared by them.
_OF_FINISHED = "fct_"
UNDECIDED = "no clear winner"


@dataclass(frozen=True)
class Score:
    """A metric of one controller in one scenario, over seeds.

    Attributes:
        values: (seeds,) one for each complete cell, NaN where the cell does not define it.
        mean: of the values that are defined.
        low, high: bootstrap interval of the mean; NaN with fewer than two values.
        text: the mean as shown.
        interval: "low–high" as shown; "" with fewer than two values, or where all look alike.
    """

    values: Floats
    mean: float
    low: float
    high: float
    text: str
    interval: str

    @property
    def complete(self) -> bool:
        """Every seed defines it."""
        return len(self.values) > 0 and not bool(np.isnan(self.values).any())


@dataclass(frozen=True)
class Row:
    """One controller in one scenario; ``note`` says what is missing, "" where nothing is."""

    controller: str
    seeds: int
    expected: int
    scores: Mapping[str, Score]
    note: str


@dataclass(frozen=True)
class Verdict:
    """The winner's name, or None; ``text`` is what the report says."""

    winner: str | None
    text: str


@dataclass(frozen=True)
class ScenarioSummary:
    """One scenario: a row for each controller, a verdict for each metric that has a better direction."""

    name: str
    title: str
    group: str
    rows: Sequence[Row]
    verdicts: Mapping[str, Verdict]


def summarise(folder: BenchFolder) -> list[ScenarioSummary]:
    """One summary for each scenario, in the suite's order. Stale cells count as not there."""
    made = []
    for entry in folder.suite.scenarios:
        rows = [_row(folder, entry.name, who.name) for who in folder.suite.contestants_of(entry)]
        verdicts = {
            name: verdict(rows, name, info) for name, info in METRICS.items() if info.better is not None
        }
        made.append(
            ScenarioSummary(entry.name, entry.title or entry.name, entry.group or "Scenarios", rows, verdicts)
        )
    return made


def _row(folder: BenchFolder, scenario: str, controller: str) -> Row:
    def here(keys: Iterable[Key]) -> set[Key]:
        return {key for key in keys if key[:2] == (scenario, controller)}

    cells = [cell for cell in folder.cells if cell.key[:2] == (scenario, controller)]
    scores = {name: score(values_of(cells, name), info) for name, info in METRICS.items()}
    failed, stale = here(folder.failed), here(cell.key for cell in folder.stale)
    lacking = {"failed": failed, "stale": stale - failed, "missing": here(folder.missing) - stale}
    note = ", ".join(f"{len(keys)} {what}" for what, keys in lacking.items() if keys)
    return Row(controller, len(cells), len(folder.suite.seeds), scores, note)


def score(values: Floats, info: MetricInfo) -> Score:
    """Mean and interval over seeds of a metric's ``values`` (seeds,)."""
    defined = int(np.count_nonzero(~np.isnan(values)))
    mean = mean_of(values)
    low, high = bootstrap_interval(values)
    text = shown(mean, info.format)
    if 0 < defined < len(values):
        text += f" ({defined} of {len(values)} seeds)"
    ends = (shown(low, info.format), shown(high, info.format))
    interval = "" if math.isnan(low) or ends == (text, text) else "–".join(ends)
    return Score(values, mean, low, high, text, interval)


def verdict(rows: Sequence[Row], metric: str, info: MetricInfo) -> Verdict:
    """Names a controller only where its interval overlaps no other's, and nothing is left out.

    Undecided is also: fewer than two controllers or seeds; a cell that is failed, missing or stale (it may be
    the one that was lost); a seed that does not define the metric; and a slowdown where somebody left flows
    unfinished, for the mean of the finished ones flatters.
    """
    if all(math.isnan(row.scores[metric].mean) for row in rows):
        return Verdict(None, "–")
    if len(rows) < 2:
        return Verdict(None, "undecided: nothing to compare")
    if rows[0].expected < 2:
        return Verdict(None, "undecided: one seed")
    if any(row.seeds < row.expected for row in rows):
        return Verdict(None, "undecided: cells lacking")
    if not all(row.scores[metric].complete for row in rows):
        return Verdict(None, "undecided: not defined for all")
    if metric.startswith(_OF_FINISHED) and any(row.scores["unfinished_flows"].mean > 0 for row in rows):
        return Verdict(None, "undecided: flows unfinished")
    name = winner({row.controller: row.scores[metric].values for row in rows}, info.better == "lower")
    return Verdict(name, name or UNDECIDED)

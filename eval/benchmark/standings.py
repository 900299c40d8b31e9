# SPDX-License-Identifier: GPL-2.0-or-later
"""Standings: each controller's metrics over its seeds, compared on the same flows, and winners."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ns3_env.eval.benchmark.folder import BenchFolder, Cell, Key
from ns3_env.eval.benchmark.statistics import (
    Difference,
    FloatArray,
    FlowPairs,
    bootstrap_interval,
    least_pairs,
    of_log_ratios,
    paired,
)
from ns3_env.eval.benchmark.suite import SuiteScenario
from ns3_env.eval.benchmark.yardsticks import METRIC, ways
from ns3_env.eval.metrics import METRICS, Metric, own_names
from ns3_env.eval.output.table import cell as shown
from ns3_env.programs.executable import references

#: Metrics of a report's summary; every other one is in the scenario's own table.
HEADLINES = (
    "fct_slowdown_avg",
    "fct_slowdown_p99",
    "queue_p99_bytes",
    "goodput",
    "pfc_pause_fraction",
    "unfinished_flows",
)
#: The metric specific to TCP's scenarios, and the one without meaning there.
_OF_TCP, _OF_RDMA = "rtt_p99_us", "pfc_pause_fraction"
#: Verdict if the seeds leave it open.
UNDECIDED = "no clear winner"
#: Label of a controller that cannot be deployed.
BOUND = "a bound, not ranked"


@dataclass(frozen=True)
class Edge:
    """A controller compared with the best one; ``better``: significantly (1), worse (−1) or open (0)."""

    other: str
    difference: Difference
    better: int
    text: str


@dataclass(frozen=True)
class Score:
    """A metric of one controller in one scenario, over seeds.

    Attributes:
        values: (seeds,) value of each complete cell, NaN where the cell does not define the metric.
        mean: mean of the defined values.
        low, high: bootstrap interval of the mean by itself; NaN with fewer than two values.
        text: the mean as shown.
        interval: "low–high" as shown; "" with fewer than two values, or if all look equal.
        edge: compared with the scenario's best by the mean; None for the best itself, and if there is nothing
            to compare.
    """

    values: FloatArray
    mean: float
    low: float
    high: float
    text: str
    interval: str
    edge: Edge | None = None

    @property
    def complete(self) -> bool:
        """Every seed defines it."""
        return len(self.values) > 0 and not bool(np.isnan(self.values).any())


@dataclass(frozen=True)
class Row:
    """One controller in one scenario.

    Attributes:
        controller: name of the controller.
        seeds, expected: number of complete cells, and of all cells.
        scores: scores by metric.
        note: missing cells, and a remark on a bound; "" otherwise.
        reference: true for a bound.
        way: share of the gap to the oracle closed, %; NaN without the oracle's results.
    """

    controller: str
    seeds: int
    expected: int
    scores: Mapping[str, Score]
    note: str
    reference: bool = False
    way: float = math.nan


@dataclass(frozen=True)
class Verdict:
    """The winner's name, or None; ``text`` is its wording in a report."""

    winner: str | None
    text: str


@dataclass(frozen=True)
class Standing:
    """One scenario: a row for each controller; for each metric that has a better direction a verdict, and the
    best entry by its mean, policies included, with which every other row is compared."""

    name: str
    title: str
    group: str
    rows: Sequence[Row]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    best: Mapping[str, str] = field(default_factory=dict)


def standings(
    folder: BenchFolder,
    metrics: Iterable[str] | None = None,
    cases: Iterable[SuiteScenario] | None = None,
) -> list[Standing]:
    """One for each scenario, in the suite's order. Stale cells count as not there.

    Args:
        folder: folder of the benchmark.
        metrics: names; all by default.
        cases: scenarios of the suite; all by default.

    Raises:
        ScenarioError: a cell's flows cannot be read.
    """
    names = list(METRICS) if metrics is None else list(metrics)
    return [_Scenario(folder, case).standing(names) for case in cases or folder.suite.scenarios]


def headlines(summary: Sequence[Standing]) -> tuple[str, ...]:
    """``HEADLINES`` of these scenarios, with the RTT if any measures it, without PFC if all do; and
    the user's own metrics."""
    scores = [[row.scores[_OF_TCP] for row in x.rows if _OF_TCP in row.scores] for x in summary]
    measured = [any(not math.isnan(score.mean) for score in of_scenario) for of_scenario in scores]
    if not any(measured):
        return (*HEADLINES, *own_names())
    return (*(name for name in HEADLINES if name != _OF_RDMA or not all(measured)), _OF_TCP, *own_names())


def has_way(summary: Iterable[Standing]) -> bool:
    """Returns whether any controller has a share of the gap to the oracle closed."""
    return any(not math.isnan(row.way) for scenario in summary for row in scenario.rows)


def values_of(cells: Sequence[Cell], metric: str) -> FloatArray:
    """The metric of each cell: (n,), NaN if it is not defined."""
    return np.array([x.metrics.get(metric, math.nan) for x in cells], dtype=np.float64)


def mean_of(values: FloatArray) -> float:
    """The mean of the defined values; NaN without any."""
    numbers = values[~np.isnan(values)]
    return float(numbers.mean()) if len(numbers) else math.nan


class _Scenario:
    """One scenario's cells, by controller, each in the order of the suite's seeds."""

    def __init__(self, folder: BenchFolder, case: SuiteScenario) -> None:
        self.folder, self.case = folder, case
        self.expected = len(folder.suite.seeds_of(case))
        everyone = folder.suite.entries_of(case)
        bounds = references(case.scenario.transport)
        #: Shown, and neither ranked nor compared with.
        self.references = {entry.name for entry in everyone if entry.controller in bounds}
        self.cells = {
            entry.name: {x.seed: x for x in folder.cells_of(case.name, entry.name)} for entry in everyone
        }
        self.ways = ways(
            {
                name: {seed: x.metrics.get(METRIC, math.nan) for seed, x in cells.items()}
                for name, cells in self.cells.items()
            },
            case.scenario.transport,
        )
        self.flow_pairs = FlowPairs()
        #: Metrics that are read together in one verdict.
        self.comparisons = max(1, len(everyone) - len(self.references) - 1)

    def standing(self, metrics: Sequence[str]) -> Standing:
        scores: dict[str, dict[str, Score]] = {name: {} for name in self.cells}
        verdicts: dict[str, Verdict] = {}
        best: dict[str, str] = {}
        for name in metrics:
            metric = METRICS[name]
            of_metric = {
                player: score(values_of([*cells.values()], name), metric)
                for player, cells in self.cells.items()
            }
            ranked = {player: x for player, x in of_metric.items() if player not in self.references}
            defined = [player for player, x in ranked.items() if not math.isnan(x.mean)]
            if metric.better is not None and defined:
                best[name] = self._best(metric, defined, ranked)
                for player in (x for x in defined if x != best[name]):
                    ranked[player] = self._with_edge(metric, player, ranked[player], best[name])
            if metric.better is not None:
                verdicts[name] = self._verdict(metric, ranked, best.get(name))
            for player, player_score in (of_metric | ranked).items():
                scores[player][name] = player_score
        case = self.case
        rows = [self._row(player, by_metric) for player, by_metric in scores.items()]
        title = (case.title or case.name) + case.scenario.measured_text()
        return Standing(case.name, title, case.group or "Scenarios", rows, verdicts, best)

    def _row(self, player: str, scores: Mapping[str, Score]) -> Row:
        def here(keys: Iterable[Key]) -> set[Key]:
            return {key for key in keys if key[:2] == (self.case.name, player)}

        failed, stale = here(self.folder.failed), here(cell.key for cell in self.folder.stale)
        lacking = {"failed": failed, "stale": stale - failed, "missing": here(self.folder.missing) - stale}
        notes = [f"{len(keys)} {what}" for what, keys in lacking.items() if keys]
        note = ", ".join([BOUND] * (player in self.references) + notes)
        seeds, expected = len(self.cells[player]), self.expected
        way = self.ways.get(player, math.nan)
        return Row(player, seeds, expected, scores, note, player in self.references, way)

    def _both(self, player: str, other: str) -> tuple[list[Cell], list[Cell]]:
        """The cells of two controllers for the seeds that both have run."""
        first, second = self.cells[player], self.cells[other]
        seeds = [seed for seed in first if seed in second]
        return [first[seed] for seed in seeds], [second[seed] for seed in seeds]

    def _best(self, metric: Metric, players: Sequence[str], scores: Mapping[str, Score]) -> str:
        """Finds the best by the mean; for a size, by the mean ratio to one controller."""
        means = {player: scores[player].mean for player in players}
        if self.flow_pairs.are_of(metric.name):
            logs = {
                player: self.flow_pairs.log_ratios(metric.name, *self._both(player, players[0]))
                for player in players
            }
            means = {player: float(x.mean()) if len(x) else math.nan for player, x in logs.items()}
        sign = 1.0 if metric.better == "lower" else -1.0
        return min(means, key=lambda player: sign * means[player])

    def _with_edge(self, metric: Metric, player: str, player_score: Score, best: str) -> Score:
        """Compares a controller with the best on the same seeds; by size, on each flow that both finished."""
        assert metric.better is not None
        cells = self._both(player, best)
        if self.flow_pairs.are_of(metric.name):
            difference = of_log_ratios(self.flow_pairs.log_ratios(metric.name, *cells), self.comparisons)
        else:
            mine, others = (values_of(x, metric.name) for x in cells)
            difference = paired(mine, others, self.comparisons)
        if difference.pairs == 0 or difference.estimate == difference.low == difference.high == 0:
            return player_score  # there is no difference to report
        text = f"{difference.text(metric.format)} {'of' if difference.is_ratio else 'beside'} {best}"
        return replace(player_score, edge=Edge(best, difference, difference.better(metric.better), text))

    def _verdict(self, metric: Metric, scores: Mapping[str, Score], best: str | None) -> Verdict:
        """Names the best only if it is significantly better than every other one, and no cell is missing.

        Also undecided: fewer than two controllers; too few seeds for that many comparisons; a cell that is
        failed, missing or stale (it may be the one that was lost); a seed that does not define the metric;
        and a slowdown if a controller left flows unfinished, as the mean over finished flows flatters it.
        """
        expected, needed = self.expected, least_pairs(self.comparisons)
        of_all = [[*self.cells[player].values()] for player in scores]
        if best is None:
            return Verdict(None, "–")
        if len(scores) < 2:
            return Verdict(None, "undecided: nothing to compare")
        if any(len(cells) < expected for cells in of_all):
            return Verdict(None, "undecided: cells lacking")
        if not all(x.complete for x in scores.values()):
            return Verdict(None, "undecided: not defined for all")
        if metric.of_finished and any(values_of(cells, "unfinished_flows").any() for cells in of_all):
            return Verdict(None, "undecided: flows unfinished")
        if expected < needed:
            return Verdict(None, f"undecided: {expected} seed{'s' * (expected != 1)}, {needed} needed")
        worse = [x.edge is not None and x.edge.better < 0 for player, x in scores.items() if player != best]
        return Verdict(best, best) if all(worse) else Verdict(None, UNDECIDED)


def score(values: FloatArray, metric: Metric) -> Score:
    """Mean and interval over seeds of a metric's ``values`` (seeds,)."""
    defined = int(np.count_nonzero(~np.isnan(values)))
    mean = mean_of(values)
    low, high = bootstrap_interval(values)
    text = shown(mean, metric.format)
    if 0 < defined < len(values):
        text += f" ({defined} of {len(values)} seeds)"
    ends = (shown(low, metric.format), shown(high, metric.format))
    interval = "" if math.isnan(low) or ends == (text, text) else "–".join(ends)
    return Score(values, mean, low, high, text, interval)

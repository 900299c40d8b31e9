# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluation from Python: entries on a scenario over seeds as results, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import ValidationError
from rich.progress import Progress

from ns3_env.config.command_line import import_extra, new_console
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError
from ns3_env.eval.benchmark.statistics import Difference, bootstrap_interval, paired
from ns3_env.eval.episodes.entry import Entry, results_of, under
from ns3_env.eval.metrics import METRICS, measure
from ns3_env.eval.output.progress import progress_lines
from ns3_env.eval.output.results import Results, Row, rows_of
from ns3_env.policies.file import POLICY_FILE
from ns3_env.policies.released import is_released
from ns3_env.programs.executable import references
from ns3_env.scenario import Scenario, ScenarioLike
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import LocalPool

if TYPE_CHECKING:
    import pandas

#: A controller, released policy or leaderboard entry by name; a path of a trained policy; a suite's entry.
EntryLike = str | Path | Mapping[str, Any] | Entry


@dataclass(frozen=True)
class _Episode:
    """An episode of an entry: a job of a pool."""

    entry: Entry
    scenario: Scenario

    def run(self, simulator: Simulator) -> dict[str, float]:
        """Returns the metrics. Raises ScenarioError, SimulatorError."""
        scenario, trained = under(self.entry, self.scenario)
        recorded = scenario.model_copy(update={"record": scenario.record.model_copy(update={"queues": True})})
        return measure(results_of(recorded, trained, simulator))


def evaluate(
    entries: EntryLike | Sequence[EntryLike],
    scenario: ScenarioLike,
    seeds: Iterable[int] = range(1, 11),
) -> Results:
    """Simulates a scenario under each entry with each seed, on all cores.

    Every entry has the same flows.

    Args:
        entries: names of controllers, released policies and entries of the leaderboard ("hpcc", "fdcc",
            "constant-window"; ``ns3-env list``), paths of policies' files, runs or checkpoints, or entries
            with the keys of a suite ({"name": "hpcc-80", "controller": "hpcc", "attributes": {"Eta": 0.8}}).
        scenario: a Scenario, its keys, its YAML file or its name.
        seeds: seeds of the scenario's flows.

    Returns:
        A row for each entry, seed and metric; ``.wide()`` has a column for each metric. A metric that an
        episode does not define is NaN.

    Raises:
        ConfigError, ScenarioError: an entry or the scenario is wrong; pandas is not installed.
        SimulatorError: a simulator failed.
    """
    import_extra("pandas")
    base, title = _scenario(scenario)
    several = [entries] if isinstance(entries, str | Path | Mapping | Entry) else list(entries)
    contenders, numbers = [entry_of(one) for one in several], list(seeds)
    if not (contenders and numbers):
        raise ConfigError("evaluate: needs one entry and one seed at least")
    names = [entry.name for entry in contenders]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"evaluate: entry {twice[0]!r} is there twice: give one a name of its own")
    for entry in contenders:  # faults are reported before the first has run
        under(entry, base)[0].to_simulator_json()
    keys = [(entry, seed) for entry in contenders for seed in numbers]
    return Results.of_rows(_simulate(title, base, keys))


def _simulate(title: str, base: Scenario, keys: Sequence[tuple[Entry, int]]) -> list[Row]:
    """Simulates each entry with each seed; rows are in the order of the keys."""
    metrics: dict[tuple[str, int], dict[str, float]] = {}
    console = new_console(stderr=True)
    progress = Progress(console=console, transient=True)
    task = progress.add_task("episodes", total=len(keys))
    with (
        LocalPool() as pool,
        progress,
        progress_lines(console, lambda: f"{len(metrics)} of {len(keys)} simulated"),
    ):
        running = {
            pool.submit(_Episode(entry, base.with_seed(seed))): (entry.name, seed) for entry, seed in keys
        }
        for future in as_completed(running):
            metrics[running[future]] = future.result()
            progress.advance(task)
    return [
        row for entry, seed in keys for row in rows_of(entry.name, title, seed, metrics[entry.name, seed])
    ]


def compare(results: Results, metric: str = "fct_slowdown_avg") -> pandas.DataFrame:
    """Compares entries by a metric, each with the best by its mean, on the same seeds.

    Args:
        results: results of ``evaluate`` or ``load_results``.
        metric: one of ``results.metrics``.

    Returns:
        A row for each scenario and entry: ``scenario``, ``entry``, ``seeds``, ``mean``, ``low`` and
        ``high`` (95 % interval of the mean), ``best`` (the entry compared with: "" of the best itself, and of
        bounds that cannot be deployed), ``ratio``, ``ratio_low``, ``ratio_high`` (to the best's, geometric
        mean over seeds, Bonferroni's interval; NaN if a value is not above 0), ``verdict``: "best mean",
        "worse", "undecided", or the missing seeds, as "5 seeds, 7 needed".

    Raises:
        ConfigError: pandas is not installed, or a metric does not exist.
    """
    pandas = import_extra("pandas")
    if metric not in METRICS or metric not in results.metrics:
        raise ConfigError(f"compare: no metric {metric!r}{nearest(metric, results.metrics)}")
    bounds, better = {*references("rdma"), *references("tcp")}, METRICS[metric].better
    rows: list[dict[str, Any]] = []
    values_of_metric = results.select(metric=metric, of="").table
    for name, of_scenario in values_of_metric.groupby("scenario", sort=False):
        table = of_scenario.pivot_table(
            index="seed", columns="entry", values="value", sort=False, dropna=False
        )
        means = table.mean()
        ranked = means.drop([x for x in means.index if x in bounds]).dropna()
        best = ""
        if better is not None and len(ranked):
            best = ranked.idxmin() if better == "lower" else ranked.idxmax()
        for entry, values in table.items():
            low, high = bootstrap_interval(values.to_numpy(dtype=np.float64))
            row = {"scenario": name, "entry": entry, "seeds": int(values.count())}
            row |= {"mean": means[entry], "low": low, "high": high, "best": ""}
            row |= dict.fromkeys(("ratio", "ratio_low", "ratio_high"), math.nan)
            row["verdict"] = "best mean" if entry == best else "not ranked"
            if better is not None and best and entry != best and entry in ranked.index:
                mine, base = (table[x].to_numpy(dtype=np.float64) for x in (entry, best))
                difference = paired(mine, base, max(1, len(ranked) - 1))
                row |= {"best": best, **_against(difference, better)}
            rows.append(row)
    return pandas.DataFrame(rows)


def _against(difference: Difference, better: Literal["lower", "higher"]) -> dict[str, Any]:
    """Verdict and ratios of an entry to the best."""
    if difference.pairs < difference.needed:
        verdict = f"{difference.pairs} seeds, {difference.needed} needed"
    else:
        verdict = "worse" if difference.better(better) < 0 else "undecided"
    ratios = (difference.estimate, difference.low, difference.high) if difference.is_ratio else ()
    return {"verdict": verdict, **dict(zip(("ratio", "ratio_low", "ratio_high"), ratios, strict=False))}


def entry_of(of: EntryLike) -> Entry:
    """The entry that a user means. Raises ConfigError."""
    if isinstance(of, Entry):
        return of
    if isinstance(of, Path) or (isinstance(of, str) and not is_released(Path(of)) and Path(of).exists()):
        path = Path(of)
        name = path.parent.name if path.name == POLICY_FILE else path.stem
        of = {"name": name, "checkpoint": str(path)}
    try:
        return Entry.model_validate(of if isinstance(of, str) else dict(of))
    except ValidationError as error:
        raise ConfigError(f"evaluate: entry {of!r}: {error.errors()[0]['msg']}") from None


def _scenario(of: ScenarioLike) -> tuple[Scenario, str]:
    """The scenario that a user means, and its name. Raises ScenarioError."""
    scenario = Scenario.of(of, "evaluate: scenario")
    return scenario, "scenario" if isinstance(of, Mapping) or not scenario.source else Path(
        scenario.source
    ).stem

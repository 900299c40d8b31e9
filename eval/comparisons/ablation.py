# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs an ablation run after run, keeps each that is judged, and resumes by the same command."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ns3_env.config.files import naming, write_atomically, write_file
from ns3_env.eval.comparisons.ablation_run import Planned, Run, Scores, train_and_score


def ablate(path: Path, out: Path, ray: str | None = None) -> Path:
    """Trains every variant with every seed and judges its last policy.

    Args:
        path: the ablation's YAML.
        out: gets a folder of runs, VARIANT-SEED.json of each one judged, table.csv and table.md. What is
            there already is not done again.
        ray: the Ray cluster whose tasks the runs are: its address, "auto" or "local"; None: one after the
            other here.

    Returns:
        table.md.

    Raises:
        ConfigError, ScenarioError: something is wrong; nothing has run.
        KeyboardInterrupt: one was stopped; those before it are kept.
    """
    planned = Planned(path)
    address = None
    if ray is not None:
        from ns3_env.cluster.session import find

        address = find(ray)
    out.mkdir(parents=True, exist_ok=True)
    runs = [(variant, seed) for seed in planned.of.seeds for variant in planned.of.variants]
    todo = {number: run for number, run in enumerate(runs, start=1) if not _kept(out, run).exists()}
    _write(planned, out)
    for run, judged in _here(planned, todo, out) if address is None else _there(address, planned, todo, out):
        write_atomically(_kept(out, run), json.dumps(judged, indent=1).encode())
        _write(planned, out)
    return out / "table.md"


def _kept(out: Path, run: Run) -> Path:
    return out / f"{run[0].name}-{run[1]}.json"


def _here(planned: Planned, todo: Mapping[int, Run], out: Path) -> Iterator[tuple[Run, Scores]]:
    """One run after the other."""
    for number, run in todo.items():
        _say(planned, number, run)
        yield run, train_and_score(planned, run, out / "runs")


def _there(
    address: str, planned: Planned, todo: Mapping[int, Run], out: Path
) -> Iterator[tuple[Run, Scores]]:
    """All runs as tasks of a Ray cluster, in the order in which they are done."""
    from ns3_env.eval.comparisons.ray_runs import play

    for number, judged in play(address, planned, todo, out / "runs"):
        _say(planned, number, todo[number])
        yield todo[number], judged


def _say(planned: Planned, number: int, run: Run) -> None:
    total = len(planned.of.variants) * len(planned.of.seeds)
    print(f"{number} of {total}: {run[0].title}, seed {run[1]}", flush=True)


def _write(planned: Planned, out: Path) -> None:
    """The table of what is done, as CSV and Markdown: mean over seeds, and least and greatest."""
    columns = [(scenario, metric) for scenario in planned.scenarios for metric in planned.of.metrics]
    columns.append(("learning", "cpu_s"))
    done: dict[str, dict[int, Scores]] = {}
    for variant in planned.of.variants:
        for seed in planned.of.seeds:
            if (kept := _kept(out, (variant, seed))).exists():
                done.setdefault(variant.name, {})[seed] = json.loads(kept.read_text(encoding="utf-8"))
    path = out / "table.csv"
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", "seed", *(f"{scenario}/{metric}" for scenario, metric in columns)])
        for name, runs in done.items():
            for seed, run in runs.items():
                writer.writerow([name, seed, *(run[scenario][metric] for scenario, metric in columns)])
    lines = [
        "| variant | seeds | " + " | ".join(f"{scenario}: {metric}" for scenario, metric in columns) + " |",
        "|---|--:|" + "--:|" * len(columns),
    ]
    titles = {variant.name: variant.title for variant in planned.of.variants}
    for name, runs in done.items():
        cells = [_cell([run[scenario][metric] for run in runs.values()]) for scenario, metric in columns]
        lines.append(f"| {titles[name]} | {len(runs)} | " + " | ".join(cells) + " |")
    write_file(out / "table.md", "\n".join(lines) + "\n")


def _cell(values: Sequence[float]) -> str:
    """The mean, and in brackets the least and the greatest."""
    mean = float(np.mean(values))
    if len(values) < 2 or min(values) == max(values):
        return _number(mean)
    return f"{_number(mean)} [{_number(min(values))}, {_number(max(values))}]"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

# SPDX-License-Identifier: GPL-2.0-or-later
"""How does an ablation go? Run after run, each kept when it is judged; the same command goes on."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from ns3_env.agents.training import run as training
from ns3_env.agents.training.checkpoint import load_policy
from ns3_env.agents.training.config import EnvConfig
from ns3_env.durable import naming, write_atomically, write_file
from ns3_env.eval.ablation.plan import Planned, Variant
from ns3_env.eval.metrics import measure
from ns3_env.eval.play.policy import run_policy
from ns3_env.policy import Policy

#: Of one run: metrics by scenario, and the CPU seconds that learning took.
Judged = Mapping[str, Mapping[str, float]]
#: A variant and a seed.
Run = tuple[Variant, int]


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
        from ns3_env.cluster.address import find

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


def _here(planned: Planned, todo: Mapping[int, Run], out: Path) -> Iterator[tuple[Run, Judged]]:
    """One run after the other."""
    for number, run in todo.items():
        _say(planned, number, run)
        yield run, train_and_judge(planned, run, out / "runs")


def _there(
    address: str, planned: Planned, todo: Mapping[int, Run], out: Path
) -> Iterator[tuple[Run, Judged]]:
    """All runs as tasks of a Ray cluster, in the order in which they are done."""
    from ns3_env.eval.ablation.ray_runs import play

    for number, judged in play(address, planned, todo, out / "runs"):
        _say(planned, number, todo[number])
        yield todo[number], judged


def _say(planned: Planned, number: int, run: Run) -> None:
    total = len(planned.of.variants) * len(planned.of.seeds)
    print(f"{number} of {total}: {run[0].title}, seed {run[1]}", flush=True)


def train_and_judge(planned: Planned, run: Run, runs: Path) -> Judged:
    """Trains a variant with a seed into a folder below ``runs``, and judges its last policy."""
    plan = planned.run(*run)
    began = time.process_time()
    outcome = training.run(plan, runs)
    if outcome.interrupted:
        raise KeyboardInterrupt
    seconds = time.process_time() - began
    checkpoint, _ = outcome.folder.latest_checkpoint()
    policy = load_policy(checkpoint)
    found = {name: _on(policy, plan.config.env, planned, name) for name in planned.scenarios}
    return {**found, "learning": {"cpu_s": seconds}}


def _on(policy: Policy, env: EnvConfig, planned: Planned, name: str) -> dict[str, float]:
    """Means over the judged seeds."""
    seeds = planned.of.judged_seeds
    played = run_policy(policy, env, planned.scenarios[name], 0, len(seeds), seeds=seeds)
    measured = [measure(episode.results, planned.of.metrics) for episode in played]
    return {metric: float(np.mean([row[metric] for row in measured])) for metric in planned.of.metrics}


def _write(planned: Planned, out: Path) -> None:
    """The table of what is done, as CSV and Markdown: mean over seeds, and least and greatest."""
    columns = [(scenario, metric) for scenario in planned.scenarios for metric in planned.of.metrics]
    columns.append(("learning", "cpu_s"))
    done: dict[str, dict[int, Judged]] = {}
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""How does an ablation go? Run after run, each kept when it is judged; the same command goes on."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ns3_env.agents.training import run as training
from ns3_env.agents.training.checkpoint import load_policy
from ns3_env.agents.training.config import EnvConfig
from ns3_env.durable import write_atomically
from ns3_env.eval.ablation.plan import Planned, Variant
from ns3_env.eval.metrics import measure
from ns3_env.eval.play.policy import run_policy
from ns3_env.policy import Policy

#: Of one run: metrics by scenario, and the CPU seconds that learning took.
Judged = Mapping[str, Mapping[str, float]]


def ablate(path: Path, out: Path) -> Path:
    """Trains every variant with every seed and judges its last policy.

    Args:
        path: the ablation's YAML.
        out: gets a folder of runs, VARIANT-SEED.json of each one judged, table.csv and table.md. What is
            there already is not done again.

    Returns:
        table.md.

    Raises:
        ConfigError, ScenarioError: something is wrong; nothing has run.
        KeyboardInterrupt: one was stopped; those before it are kept.
    """
    planned = Planned(path)
    out.mkdir(parents=True, exist_ok=True)
    done: dict[str, list[Judged]] = {}
    total = len(planned.of.variants) * len(planned.of.seeds)
    for number, (variant, seed) in enumerate(
        ((variant, seed) for seed in planned.of.seeds for variant in planned.of.variants), start=1
    ):
        kept = out / f"{variant.name}-{seed}.json"
        if not kept.exists():
            print(f"{number} of {total}: {variant.title}, seed {seed}", flush=True)
            write_atomically(kept, json.dumps(_judged(planned, variant, seed, out), indent=1).encode())
        done.setdefault(variant.name, []).append(json.loads(kept.read_text(encoding="utf-8")))
        _write(planned, done, out)
    return out / "table.md"


def _judged(planned: Planned, variant: Variant, seed: int, out: Path) -> Judged:
    plan = planned.run(variant, seed)
    began = time.process_time()
    outcome = training.run(plan, out / "runs")
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


def _write(planned: Planned, done: Mapping[str, Sequence[Judged]], out: Path) -> None:
    """The table of what is done, as CSV and Markdown: mean over seeds, and least and greatest."""
    columns = [(scenario, metric) for scenario in planned.scenarios for metric in planned.of.metrics]
    columns.append(("learning", "cpu_s"))
    titles = {variant.name: variant.title for variant in planned.of.variants}
    with (out / "table.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["variant", "seed", *(f"{scenario}/{metric}" for scenario, metric in columns)])
        for name, runs in done.items():
            for seed, run in zip(planned.of.seeds, runs, strict=False):
                writer.writerow([name, seed, *(run[scenario][metric] for scenario, metric in columns)])
    lines = [
        "| variant | seeds | " + " | ".join(f"{scenario}: {metric}" for scenario, metric in columns) + " |",
        "|---|--:|" + "--:|" * len(columns),
    ]
    for name, runs in done.items():
        cells = [_cell([run[scenario][metric] for run in runs]) for scenario, metric in columns]
        lines.append(f"| {titles[name]} | {len(runs)} | " + " | ".join(cells) + " |")
    (out / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _cell(values: Sequence[float]) -> str:
    """The mean, and in brackets the least and the greatest."""
    mean = float(np.mean(values))
    if len(values) < 2 or min(values) == max(values):
        return _number(mean)
    return f"{_number(mean)} [{_number(min(values))}, {_number(max(values))}]"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"

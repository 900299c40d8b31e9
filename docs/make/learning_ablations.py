# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains PPO and SAC with one thing changed at a time, five seeds each, and prints a table of scores.

Usage: python docs/make/learning_ablations.py [--algorithms ppo sac]. Both need half an hour on two cores, PPO
six minutes; finished trainings and tests are kept. Needs the extras train and report.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
from pictures import ROOT, mean_cell

from ns3_env.eval.output.table import markdown_table

TASKS = ("Incast", "LongShort", "WebSearch")
SEEDS = range(1, 6)
DECISIONS = {"ppo": 200_000, "sac": 60_000}
#: The observation, the action and the clock are those of the configurations, version 3 of the tasks.
FIELDS = "rtt, qlen, switch_rate, fair_share, goodput, pacing_rate, remaining, attained, last_action"
WITH_BACKLOG = f"[{FIELDS}, shorter_backlog]"
#: Flows of a BDP decide nothing, and carry no telemetry; of larger ones a packet each fifth of an RTT does.
LESS = {"env.decides_from_bdps": "1.25", "env.telemetry_every_rtts": "0.2"}
#: Overrides of the algorithms' configurations; a curriculum instead of the tasks.
VARIANTS: dict[str, dict[str, str]] = {
    "as the tasks say": {},
    "reward slowdown": {"env.reward.name": "slowdown"},
    "reward proportional": {"env.reward.name": "proportional"},
    "horizon of 100 RTTs": {"agent.gamma_per_rtt": "0.99"},
    "action logarithmic_window": {"env.action.name": "logarithmic_window"},
    "action multiplicative_window": {"env.action.name": "multiplicative_window"},
    "twice as many decisions": {},
    "ladder": {"curriculum": "curricula/ladder.yaml"},
    "observation with shorter_backlog": {"env.fields": WITH_BACKLOG},
    "less telemetry": LESS,
    "less telemetry and shorter_backlog": {"env.fields": WITH_BACKLOG, **LESS},
}
#: Settings of the configurations' flows beyond the tasks' own observation; a variant may restore it.
PLAIN = {
    "env.fields": f"[{FIELDS}]",
    **dict.fromkeys(LESS, "0"),
}
CLOCKS = {"ppo": {"env.clock.rtt_fraction": "0.5"}, "sac": {"env.clock.interval_ns": "5000"}}


def train(algorithm: str, variant: str, seed: int, out: Path) -> None:
    """Trains once, unless it is done; leaves OUT/ALGORITHM-VARIANT/seed-.../checkpoints."""
    runs = out / folder(algorithm, variant)
    if (runs / "done" / str(seed)).exists():
        return
    changed = {"curriculum": str(out / "curriculum.yaml"), **PLAIN, **VARIANTS[variant]}
    if variant == "twice as many decisions":
        changed |= CLOCKS[algorithm]
    curriculum = changed.pop("curriculum")
    command = [sys.executable, "train.py", "--config", f"configs/tasks/{algorithm}.yaml", "--no-evaluation"]
    command += ["--curriculum", curriculum, "--runs", str(runs), f"name=seed-{seed}", f"seed={seed}"]
    decisions = DECISIONS[algorithm]
    command += [f"train.decisions={decisions}", f"train.checkpoint_every={decisions}"]
    command += [f"{key}={value}" for key, value in changed.items()]
    subprocess.run(
        command, check=True, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL
    )
    (runs / "done").mkdir(exist_ok=True)
    (runs / "done" / str(seed)).touch()
    print(f"{folder(algorithm, variant)}, seed {seed}: trained", file=sys.stderr)


def folder(algorithm: str, variant: str) -> str:
    """Name of what an algorithm's variant leaves."""
    return f"{algorithm}-{variant.replace(' ', '-')}"


def entry(runs: Path) -> Path:
    """A folder with a policy for each seed, as the leaderboard reads an entry."""
    for run in runs.glob("seed-*"):
        policy = max(run.glob("checkpoints/*/policy.safetensors"))
        kept = runs / "entry" / run.name.split("-")[1]
        kept.mkdir(parents=True, exist_ok=True)
        (kept / policy.name).write_bytes(policy.read_bytes())
    return runs / "entry"


def main() -> None:
    """Trains, runs the tests, prints."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--out", type=Path, default=ROOT / "runs" / "ablations")
    arguments.add_argument("--algorithms", nargs="+", choices=DECISIONS, default=list(DECISIONS))
    arguments.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS), metavar="NAME")
    options = arguments.parse_args()
    out, algorithms = options.out.absolute(), options.algorithms
    out.mkdir(parents=True, exist_ok=True)
    (out / "curriculum.yaml").write_text(f"tasks: [{', '.join(TASKS)}]\n", encoding="utf-8")
    chosen = [(algorithm, variant) for variant in options.variants for algorithm in algorithms]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda one: train(*one, out), [(*one, seed) for one in chosen for seed in SEEDS]))
    entries = [f"{folder(*one)}={entry(out / folder(*one))}" for one in chosen]
    played = [sys.executable, "-m", "eval", "leaderboard", *TASKS, "--entries", *entries]
    subprocess.run([*played, "--out", str(out / "played")], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    scores = pd.read_parquet(out / "played" / "scores.parquet")
    means = scores.groupby(["entry", "run", "task"])["score"].mean()
    columns = [f"{algorithm}, {name}" for algorithm in algorithms for name in TASKS]
    rows = [
        [variant]
        + [
            mean_cell(means[folder(algorithm, variant), :, name].to_numpy())
            for algorithm in algorithms
            for name in TASKS
        ]
        for variant in options.variants
    ]
    print(*markdown_table(["changed", *columns], rows), sep="\n")


if __name__ == "__main__":
    main()

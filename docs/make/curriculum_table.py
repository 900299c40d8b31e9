# SPDX-License-Identifier: GPL-2.0-or-later
"""Trains FDCC and PPO on incasts with and without a curriculum, five seeds each.

It draws docs/images/curriculum.png, writes docs/tables/curriculum.csv and prints its table.

Usage: python docs/make/curriculum_table.py. Needs 40 minutes on two quiet cores; finished trainings are kept.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure
from pictures import ROOT, mean_cell, save

from ns3_env.agents.baselines.constant import ConstantPolicy
from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.eval.episodes.policy import Episode, run_policy
from ns3_env.eval.output.table import markdown_table
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario

SEEDS = range(1, 6)
#: Senders of the incasts that policies are compared on; the last number is beyond what any has trained on.
SENDERS = (2, 4, 8, 16, 32, 64)
STAGED = yaml.safe_load((ROOT / "curricula" / "incast.yaml").read_text(encoding="utf-8"))
#: Both agents have the decision problem of configs/fdcc.yaml.
PROBLEM = yaml.safe_load((ROOT / "configs" / "fdcc.yaml").read_text(encoding="utf-8"))["env"]
CURRICULA: dict[str, dict[str, Any]] = {
    "2, 4, 8, 16, 32": STAGED,
    "32 only": {**STAGED, "stages": STAGED["stages"][-1:]},
    # The last stage from the fifth episode on, four fifths of whose episodes are of the stages before.
    "drawn uniformly": {
        "scenario": STAGED["scenario"],
        "earlier_share": 0.8,
        "stages": [{**stage, "advance": {"after_episodes": 1}} for stage in STAGED["stages"][:-1]]
        + STAGED["stages"][-1:],
    },
}
VALIDATION = {"every_episodes": 20, "episodes": 2, "score": "slowdown", "gap_to": "hpcc"}
CURRICULA["by gap to HPCC"] = {**STAGED, "validation": VALIDATION}
#: Looks of the lines that nothing was trained for.
LINES = {
    "untrained": {"color": "#888888", "linestyle": ":"},
    "constant window": {"color": "#222222", "linestyle": "--"},
}
PLAIN = {"env.decides_from_bdps": 0, "env.telemetry_every_rtts": 0}
AGENTS: dict[str, list[str]] = {
    "fdcc": ["--config", "configs/fdcc.yaml", "train.decisions=100000"],
    "ppo": [
        *("--config", "configs/tasks/ppo.yaml", "train.decisions=200000"),
        *(
            f"env.{key}={yaml.safe_dump(PROBLEM[key], default_flow_style=True).strip()}"
            for key in ("fields", "action", "reward", "clock")
        ),
        *(f"{key}={value}" for key, value in PLAIN.items()),
    ],
}


def train(agent: str, arm: str, seed: int, out: Path) -> None:
    """Trains once, unless it is done; leaves OUT/AGENT/NUMBER-OF-ARM/seed-SEED."""
    runs = out / agent / str(list(CURRICULA).index(arm))
    if (runs / f"done-{seed}").exists():
        return
    runs.mkdir(parents=True, exist_ok=True)
    (runs / "curriculum.yaml").write_text(yaml.safe_dump(CURRICULA[arm], sort_keys=False), encoding="utf-8")
    command = [sys.executable, "train.py", *AGENTS[agent], "--no-evaluation", f"name=seed-{seed}"]
    command += [f"seed={seed}", "--curriculum", str(runs / "curriculum.yaml"), "--runs", str(runs)]
    log = runs / f"log-{seed}.txt"
    threads = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("w") as printed:
        subprocess.run(command, check=True, cwd=ROOT, env=threads, stdout=printed, stderr=printed)
    (runs / f"done-{seed}").touch()
    print(f"{agent}, {arm}, seed {seed}: trained", file=sys.stderr)


def policies(agent: str, out: Path) -> Iterator[tuple[str, int, Policy]]:
    """Yields the curriculum (or "untrained", "constant window"), the seed and the policy."""
    for number, arm in enumerate(CURRICULA):
        for seed in SEEDS:
            (run,) = (out / agent / str(number)).glob(f"seed-{seed}-*")
            last = max(run.glob("checkpoints/*/policy.safetensors"))
            yield arm, seed, NetworkPolicy.load(last)
    for seed in SEEDS:
        (run,) = (out / agent / "0").glob(f"seed-{seed}-*")
        yield "untrained", seed, NetworkPolicy.load(run / "untrained.safetensors")
    yield "constant window", 1, ConstantPolicy([0.0], PROBLEM["fields"])


def incast(senders: int) -> Scenario:
    """Held-back episodes as the curriculum's: long flows, cut after a millisecond."""
    keys = {**STAGED["scenario"], "time_limit_ns": 1_000_000, "clock": PROBLEM["clock"]}
    keys["topology"] = {**keys["topology"], "senders": senders}
    return Scenario.from_mapping(keys, f"{senders}-to-1")


def measure(out: Path) -> pd.DataFrame:
    """Rewards and goodput: a row for each agent, curriculum, seed and number of senders."""
    env = EnvConfig.model_validate(PROBLEM)
    rows = []
    for agent in AGENTS:
        for arm, seed, policy in policies(agent, out):
            for senders in SENDERS:
                episodes = run_policy(policy, env, incast(senders), seed=9_000, episodes=3)
                rows.append([agent, arm, seed, senders, *means(episodes)])
    return pd.DataFrame(rows, columns=["agent", "curriculum", "seed", "senders", "reward", "goodput"])


def means(episodes: list[Episode]) -> tuple[float, float]:
    """Reward per decision and goodput over the episodes."""
    reward = float(np.mean([episode.mean_reward for episode in episodes]))
    return reward, float(np.mean([episode.metrics["goodput"] for episode in episodes]))


def draw(table: pd.DataFrame) -> None:
    """Draws rewards over the number of senders: a panel for each agent, a line for each curriculum."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    panels = figure.subplots(1, len(AGENTS), sharey=True)
    for panel, agent in zip(panels, AGENTS, strict=True):
        for arm, rows in table[table["agent"] == agent].groupby("curriculum", sort=False):
            costs = rows["reward"].mul(-1).groupby(rows["senders"])
            look = LINES.get(str(arm), {"marker": "o"})
            (line,) = panel.plot(SENDERS, costs.mean(), label=arm, **look)
            if arm not in LINES:
                panel.fill_between(SENDERS, costs.min(), costs.max(), alpha=0.15, color=line.get_color())
        panel.set(title=agent.upper(), xlabel="senders of the incast", yscale="log")
        panel.set_xscale("log", base=2)
        panel.set_xticks(SENDERS, [str(senders) for senders in SENDERS])
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("minus reward per decision\n(mean and range of five trainings)")
    panels[0].legend(title="trained on", fontsize=8)
    save(figure, "curriculum")


def main() -> None:
    """Trains, measures, draws and prints."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--out", type=Path, default=ROOT / "runs" / "curriculum")
    out = arguments.parse_args().out.absolute()
    chosen = [(agent, arm, seed, out) for seed in SEEDS for agent in AGENTS for arm in CURRICULA]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(lambda one: train(*one), chosen))
    table = measure(out)
    table.to_csv(ROOT / "docs" / "tables" / "curriculum.csv", index=False, float_format="%.4g")
    draw(table)
    for agent, rows in table.groupby("agent", sort=False):
        cells = [
            [str(arm)]
            + [mean_cell(of_arm.loc[of_arm["senders"] == n, "reward"].to_numpy(), 2) for n in SENDERS]
            for arm, of_arm in rows.groupby("curriculum", sort=False)
        ]
        print(*markdown_table([f"{agent.upper()} trained on", *map(str, SENDERS)], cells), sep="\n")


if __name__ == "__main__":
    main()

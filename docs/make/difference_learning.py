# SPDX-License-Identifier: GPL-2.0-or-later
"""Table and learning curves of docs/branching.md, of runs that learned under different rewards.

Usage: python docs/make/difference_learning.py train | draw FOLDER. The first trains five seeds of each arm
into the folder, half an hour of an idle core, and goes on where it stopped; the second prints Markdown and
draws docs/images/difference-learning.png.
"""

import csv
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from pictures import save

from ns3_env.agents.training.callback import HELD_BACK
from ns3_env.config.yaml import read_mapping
from ns3_env.envs.flow_stream import episode_seed
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import charged_slowdowns

ROOT = Path(__file__).parents[2]
CURRICULUM = ROOT / "curricula" / "unequal.yaml"
#: Reward and discount per base RTT, what is said to train.py, and a colour and line.
ARMS: dict[str, tuple[list[str], str, str]] = {
    "difference-30": ([], "#d55e00", "-"),
    **{
        f"{reward}-{gamma}": (
            [f"agent.gamma_per_rtt=0.{gamma}", f"env.reward={{name: {reward}}}"],
            colour,
            "-" if gamma == 97 else "--",
        )
        for reward, colour in (("slowdown", "#0072b2"), ("team_slowdown", "#009e73"))
        for gamma in (97, 90)
    },
}
SEEDS = range(21, 26)
GRID = np.arange(1500, 6001, 250)


def train(folder: Path) -> None:
    for seed in SEEDS:
        for arm, (changes, _, _) in ARMS.items():
            if not [*folder.glob(f"{arm}-s{seed}-*/checkpoints/*6000")]:
                files = ["--config", "configs/difference.yaml", "--curriculum", str(CURRICULUM)]
                named = [f"name={arm}-s{seed}", f"seed={seed}", *changes]
                command = [sys.executable, "train.py", *files, "--runs", str(folder), *named]
                subprocess.run(command, cwd=ROOT, check=True)


def curve(run: Path) -> NDArray[np.float64]:
    """Decisions and mean slowdown on held-back episodes, one below the other: (2, n)."""
    with (run / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["validation_episode/fct_slowdown"]]
    names = "time/total_timesteps", "validation_episode/fct_slowdown"
    return np.array([[float(row[name]) for row in rows] for name in names])


def reference(controller: Controller) -> float:
    """Mean slowdown of a controller on the episodes that the runs held back."""
    keys = read_mapping(CURRICULUM, ScenarioError)["scenario"]
    scenario = Scenario.from_mapping(keys, "unequal").under(controller.name, controller.attributes)
    with Simulator() as simulator:
        return float(
            np.mean(
                [
                    charged_slowdowns(simulator.play(scenario.with_seed(episode_seed(seed, HELD_BACK + n))))
                    for seed in SEEDS
                    for n in range(20)
                ]
            )
        )


def interval(values: NDArray[np.float64]) -> str:
    low, high = bootstrap_interval(values)
    return f"{values.mean():.2f} ({low:.2f} to {high:.2f})"


def draw(folder: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    print("| reward | discount per base RTT | seeds | at 3,000 decisions | at the end | best validation |")
    print("|---|--:|--:|--:|--:|--:|")
    for arm, (_, colour, line) in ARMS.items():
        curves = [curve(run) for run in sorted(folder.glob(f"{arm}-s*"))]
        seeds = np.array([np.interp(GRID, *one) for one in curves])
        reward, _, gamma = arm.rpartition("-")
        label = f"{reward}, γ 0.{gamma.rstrip('0')}"
        axes.plot(GRID, seeds.mean(axis=0), line, color=colour, label=label)
        bounds = np.array([bootstrap_interval(column) for column in seeds.T]).T
        if line == "-":
            axes.fill_between(GRID, *bounds, color=colour, alpha=0.15, lw=0)
        early = seeds[:, np.searchsorted(GRID, 3000)]
        best = np.array([one[1].min() for one in curves])
        last = np.array([one[1, -1] for one in curves])
        columns = " | ".join(map(interval, (early, last, best)))
        print(f"| `{reward}` | 0.{gamma.rstrip('0')} | {len(curves)} | {columns} |")
    for name, controller in (
        ("HPCC", Controller(name="hpcc")),
        ("one BDP, constant", Controller(name="fixed-window", attributes={"WindowBdp": 1.0})),
        ("oracle", Controller(name="oracle")),
    ):
        value = reference(controller)
        print(f"{name}: {value:.2f}")
        axes.plot(GRID[[0, -1]], [value, value], color="#999999", lw=0.8, ls=":")
        axes.text(GRID[-1] + 80, value, name, va="center", fontsize=8, color="#666666")
    axes.set_xlim(right=7_400)
    axes.set(xlabel="decisions learned from", ylabel="mean slowdown, held-back episodes")
    axes.legend(frameon=False, fontsize=8)
    save(figure, "difference-learning")


if __name__ == "__main__":
    {"train": train, "draw": draw}[sys.argv[1]](Path(sys.argv[2]))

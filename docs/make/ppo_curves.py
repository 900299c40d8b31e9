# SPDX-License-Identifier: GPL-2.0-or-later
"""Learning curves of docs/decisions/0041, of PPO on drawn networks.

Usage: python docs/make/ppo_curves.py FOLDER, where FOLDER has runs of configs/courier-4.yaml on
curricula/drawn.yaml, named and changed as ``RUNS`` says. Draws docs/images/ppo-drawn.png.
"""

import csv
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

ROOT = Path(__file__).parents[2]
#: By panel: the run's name, its label, its colour.
RUNS = {
    "from courier-3": (
        ("a", "sharing_gain", "#0072b2"),
        # agent.gamma_per_rtt=0.99 agent.options.gae_lambda=0.99 agent.options.learning_rate=0.0006
        ("t", "team_slowdown", "#009e73"),  # env.reward.name=team_slowdown
    ),
    "from nothing": (  # agent.start=null
        ("n", "learning rate 0.0003", "#0072b2"),
        ("n2", "learning rate 0.002, batches of 8192", "#d55e00"),
    ),
}


def curve(folder: Path, name: str) -> tuple[list[float], list[float]]:
    """Millions of decisions, and the geometric mean of mean slowdowns on episodes held back."""
    (run,) = folder.glob(f"{name}-*")
    with (run / "progress.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["validation/score"]]
    decisions = [float(row["time/total_timesteps"]) / 1e6 for row in rows]
    return decisions, [float(np.exp(-float(row["validation/score"]))) for row in rows]


def main(folder: Path) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    start = curve(folder, "a")[1][0]  # the actor waits until then
    for panel, (title, runs) in zip(panels, RUNS.items(), strict=True):
        for name, label, colour in runs:
            panel.plot(*curve(folder, name), "-o", markersize=3, color=colour, label=label)
        panel.axhline(start, color="#666666", linewidth=1, linestyle="--", label="courier-3")
        panel.set_title(title, loc="left", fontsize=10)
        panel.set_xlabel("decisions (millions)")
        panel.set_xlim(left=0)
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8)
    panels[1].legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 0.1))
    panels[0].set_ylabel("mean slowdown on 48 held-back\nepisodes (geometric mean)")
    figure.savefig(ROOT / "docs" / "images" / "ppo-drawn.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

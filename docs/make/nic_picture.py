# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws how released policies' C files play beside the policies, from a benchmark's folder.

docs/nic.md shows it. Needs the extra report.

python docs/make/nic_picture.py runs/nic    writes docs/images/nic.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from pictures import save
from scipy import stats

from ns3_env.eval import load_results

CELLS = (
    "incast-8", "incast-64", "fat-tree-48", "joining-4", "long-short", "websearch-30", "websearch-incast",
)  # fmt: skip
POLICIES = ("courier", "scout", "fdcc", "fdcc-2", "rlcc")


def main(folder: Path) -> None:
    """A dot for each cell and policy: the ratio of means with the paired difference's 95 % interval."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    axes = figure.add_subplot()
    results = load_results(folder).set_index(["scenario", "controller", "seed"]).fct_slowdown_avg.sort_index()
    for n, policy in enumerate(POLICIES):
        for i, cell in enumerate(CELLS):
            its, own = (
                results.loc[cell, name].to_numpy() for name in (policy, f"{policy.replace('-', '_')}_nic")
            )
            change = 100 * (own - its) / its.mean()
            half = stats.t.ppf(0.975, len(its) - 1) * change.std(ddof=1) / np.sqrt(len(its))
            print(f"{policy} {cell}: {its.mean():.3f} {own.mean():.3f}, {change.mean():+.2f} ± {half:.2f} %")
            axes.errorbar(
                i + 0.12 * (n - 2),
                change.mean(),
                half,
                fmt="osD^v"[n],
                markersize=4,
                color=f"C{n}",
                capsize=2,
                label=policy if i == 0 else None,
            )
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.axhline(1, color="0.4", linewidth=0.8, linestyle="--")
    axes.text(len(CELLS) - 0.55, 1.05, "1 % is allowed", ha="right", va="bottom", color="0.3", fontsize=8)
    axes.set_xticks(range(len(CELLS)), [cell.replace("websearch-", "websearch-\n") for cell in CELLS])
    axes.set_ylim(-3.2, 3.2)
    axes.set_ylabel("mean slowdown, change (%)")
    axes.legend(loc="lower right", ncols=2, frameon=False)
    save(figure, "nic")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

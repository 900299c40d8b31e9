# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of fdcc-2's card: whether it fills a link, shares it equally and keeps its queue short.

Usage: python docs/make/sharing_table.py RUN [POLICY], where RUN is what ``eval benchmark sharing`` left, and
POLICY ``fdcc-2`` where none is named. Prints Markdown: of each cell the mean over seeds of ratios on the same
flows, with its bootstrap interval; in bold where every seed has what is asked for.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from ns3_env.eval import load_results
from ns3_env.eval.benchmark.statistics import bootstrap_interval

#: Goodput of MPCC's, Jain's index, queue of HPCC's: what is asked for.
LEAST_GOODPUT, LEAST_JAIN, MOST_QUEUE = 1.01, 0.95, 2.0


def of_seeds(cells: pd.DataFrame, policy: str, metric: str, rule: str | None = None) -> np.ndarray:
    """The policy's metric in each seed, over that of a rule on the same flows."""
    by_seed = cells.pivot(index="seed", columns="controller", values=metric)
    values = by_seed[policy] / by_seed[rule] if rule else by_seed[policy]
    return np.asarray(values, dtype=float)


def shown(values: np.ndarray, holds: np.ndarray) -> str:
    low, high = bootstrap_interval(values)
    text = f"{values.mean():.3f} [{low:.3f}, {high:.3f}]"
    return f"**{text}**" if holds.all() else f"{text}, in {holds.sum()} of {len(holds)}"


def main(run: Path, policy: str) -> None:
    results = load_results(run)
    print("| cell | goodput | of MPCC's | Jain's index | HPCC's | MPCC's | queue (kB) | of HPCC's |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, cells in results.groupby("scenario", sort=False):
        goodput = of_seeds(cells, policy, "goodput", "mpcc")
        jain = of_seeds(cells, policy, "jain_index")
        queue = of_seeds(cells, policy, "queue_avg_bytes", "hpcc")
        means = cells.groupby("controller")[["goodput", "jain_index", "queue_avg_bytes"]].mean()
        print(
            f"| {name} | {means.goodput[policy]:.4f} | {shown(goodput, goodput >= LEAST_GOODPUT)} "
            f"| {shown(jain, jain >= LEAST_JAIN)} | {means.jain_index['hpcc']:.3f} "
            f"| {means.jain_index['mpcc']:.3f} | {means.queue_avg_bytes[policy] / 1e3:.2f} "
            f"| {shown(queue, queue <= MOST_QUEUE)} |"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "fdcc-2")

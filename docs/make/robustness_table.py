# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of docs/policies.md: released policies beside the best rule under loss, failures and spraying.

Usage: python docs/make/robustness_table.py RUNS, where RUNS/lossy, RUNS/failures and RUNS/spraying are
results of ``eval benchmark``. Prints Markdown.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from ns3_env.eval import load_results

LEARNED = ("fdcc", "rlcc", "courier")
METRIC = "slowdown_charged"


def ratios(runs: Path, suite: str) -> pd.DataFrame:
    """A row for each cell, by group and scenario: slowdown of each policy over that of the best rule there.

    Both are means over seeds; what has not finished is charged as at the time limit.
    """
    cells = load_results(str(runs / suite)).groupby(["group", "scenario", "controller"])
    means = cells[METRIC].mean().unstack()
    rules = [name for name in means.columns if name not in LEARNED]
    return means[list(LEARNED)].div(means[rules].min(axis=1), axis=0)


def main(runs: Path) -> None:
    print("| suite | cells | number |", " | ".join(f"`{name}`" for name in LEARNED), "|")
    print("|---|---|--:|" + "--:|" * len(LEARNED))
    for suite in ("lossy", "failures", "spraying"):
        for group, cells in ratios(runs, suite).groupby("group", sort=False):
            shown = [
                f"{np.exp(np.log(cells[name]).mean()):.2f} ({cells[name].min():.2f}–{cells[name].max():.2f})"
                for name in LEARNED
            ]
            print(f"| `{suite}` | {group} | {len(cells)} |", " | ".join(shown), "|")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

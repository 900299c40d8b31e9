# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of docs/policies.md: rules and policies under trouble, with and without a safety.

Usage: python docs/make/safety_table.py RUNS, where RUNS/lossy, RUNS/failures and so on are results of
``eval benchmark``, policies with a safety being named ``NAME-safe``. Prints Markdown: slowdown over Swift's
on the same flows, of those under the controller, by groups of cells: the geometric mean over cells, its 95 %
interval over seeds, and the largest cell's; then the share of flows that fell back.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from ns3_env.eval.benchmark.suite import Suite

SUITES = ("lossy", "failures", "spraying", "greedy", "robustness")
RULES = ("dcqcn", "hpcc", "timely", "powertcp")
POLICIES = ("courier", "scout", "fdcc-2")
SAFE = "-safe"
#: Any policy with a safety counts for flows under the controller alone, which are the same under every entry.
KNOWS = f"{POLICIES[0]}{SAFE}"
#: Of an interval.
FEWEST_SEEDS = 4
Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], float]


def slowdowns(seed: Path) -> Floats:
    """Of the flows under the controller; one that is cut pays the share of its bytes that is left."""
    flows = pd.read_csv(seed / "flows.csv")
    counters = pd.read_csv(seed.parents[1] / KNOWS / seed.name / "counters.csv")
    flows = flows.loc[counters.set_index("flow").policy_fallbacks.reindex(flows.index).notna()]
    left = np.where(flows.finished, 0.0, 1 - flows.acked_bytes / flows.size_bytes)
    return np.asarray((flows.end_ns - flows.start_ns) / flows.standalone_ns + left, dtype=float)


def of_cell(cell: Path, name: str, statistic: Statistic) -> Floats:
    """(seeds,) of the statistic."""
    seeds = sorted((cell / KNOWS).glob("seed-*"), key=lambda seed: int(seed.name[5:]))
    return np.array([statistic(slowdowns(cell / name / seed.name)) for seed in seeds])


def compared(cells: list[Path], name: str, statistic: Statistic) -> str:
    """Over Swift's: mean, interval, largest cell."""
    pairs = [(of_cell(cell, name, statistic), of_cell(cell, "swift", statistic)) for cell in cells]
    ratios = np.array([own.mean() / swift.mean() for own, swift in pairs])
    by_seed = np.array([np.log(own / swift) for own, swift in pairs]).mean(axis=0)
    mean = np.exp(np.log(ratios).mean())
    half = mean * stats.t.ppf(0.975, len(by_seed) - 1) * by_seed.std(ddof=1) / np.sqrt(len(by_seed))
    interval = f" ± {half:.2f}" if len(by_seed) >= FEWEST_SEEDS else ""
    most = f", {ratios.max():.2f}" if len(ratios) > 1 else ""
    return f"{mean:.2f}{interval}{most}"


def fallen_back(cells: list[Path], name: str) -> str:
    """Share of the flows under the policy, in per cent."""
    counters = [pd.read_csv(file) for cell in cells for file in cell.glob(f"{name}/seed-*/counters.csv")]
    flows = pd.concat(counters).policy_fallbacks.dropna()
    return f"{100 * float((flows > 0).mean()):.1f} %"


def table(runs: Path, names: list[str], shown: Callable[[list[Path], str], str]) -> None:
    """A row for each group of cells, a column for each name."""
    print("\n| suite | cells | number |", " | ".join(names), "|")
    print("|---|---|--:|" + "--:|" * len(names))
    for suite in SUITES:
        groups: dict[str, list[Path]] = {}
        for case in Suite.load(suite).scenarios:
            groups.setdefault(case.group, []).append(runs / suite / "cells" / case.name)
        for group, cells in groups.items():
            print(f"| `{suite}` | {group} | {len(cells)} |", " | ".join(shown(cells, n) for n in names), "|")


def main(runs: Path) -> None:
    pairs = [name for policy in POLICIES for name in (policy, policy + SAFE)]
    for statistic in (np.mean, lambda values: np.percentile(values, 99)):
        table(runs, [*RULES, *pairs], lambda cells, name, of=statistic: compared(cells, name, of))
    table(runs, [policy + SAFE for policy in POLICIES], fallen_back)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import lt

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.fdcc.claims import IN_FIGURES, judge
from ns3_env.eval.papers.fdcc.incasts import FDCC, RIVALS
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.verdicts import Comparison
from ns3_env.eval.papers.workloads import SIZES, WORKLOADS, Case, Load, key
from ns3_env.scenario import Scenario

#: "Short": the thesis gives no number; 100 kB separates the small flows of the literature from the others.
SHORT = ("to_10kB", "to_100kB")
#: For flows of each short size, by mean and by p99: the thesis gives neither size nor statistic.
CLAIMS = {
    "FDCC consistently outperforms the others in the slowdown of short flows (6.3; here: "
    f"{SIZES[bucket]}, {words}, at every load)": Comparison(FDCC, lt, RIVALS, key(bucket, statistic))
    for bucket in SHORT
    for statistic, words in (("avg", "mean"), ("p99", "p99"))
}


def cases(sizes: str, name: str, scale: float) -> dict[tuple[str, Case], Scenario]:
    """The declared cases of an experiment with a workload."""
    scenarios = declared(name).cases(scale)
    return {(links, Case(sizes, load)): scenario for (links, load), scenario in scenarios.items()}


def outcome(figure: str, data: Data[dict[tuple[str, Case], dict[str, Load]]]) -> Outcome:
    """Slowdowns by size; ``figure`` is the thesis's, and drawn over the first length of links."""
    by_links = nested(data.runs)
    tables = nested(
        {
            (links, case.short): {name: load.numbers for name, load in by_name.items()}
            for (links, case), by_name in data.runs.items()
        }
    )
    first = by_links[IN_FIGURES]
    return Outcome(
        claims=judge(CLAIMS, tables, data),
        grids=[
            replace(grid, title=f"{grid.title}, links of {links}")
            for links, loads in by_links.items()
            for grid in workloads.grids(loads)
        ],
        notes=(workloads.arrivals(first, data.scale * 2e6), *data.notes),
        pictures={f"fdcc-fig-{figure.replace('.', '-')}": workloads.draw_slowdowns(first)},
    )


WEBSEARCH, HADOOP = (
    experiment(
        name,
        workloads.measure,
        cases=partial(cases, sizes, name),
        title=f"{WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
    )(partial(outcome, figure))
    for name, sizes, figure in (
        ("fdcc-websearch", "websearch", "6.4"),
        ("fdcc-hadoop", "fb_hadoop", "6.5"),
    )
)

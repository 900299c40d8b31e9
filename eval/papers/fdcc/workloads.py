# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.fdcc.claims import IN_FIGURES, judge
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.workloads import WORKLOADS, Case, Load
from ns3_env.scenario import Scenario


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
        claims=judge(data.declared.claims, tables, data),
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

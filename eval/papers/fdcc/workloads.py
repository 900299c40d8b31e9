# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import lt

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.experiment import Data, entered, experiment
from ns3_env.eval.papers.fdcc.claims import IN_FIGURES, judge
from ns3_env.eval.papers.fdcc.incasts import ENTRIES, FDCC, RIVALS, SWITCH, over_links
from ns3_env.eval.papers.outcome import Outcome, nested
from ns3_env.eval.papers.verdicts import Comparison
from ns3_env.eval.papers.workloads import SIZES, WORKLOADS, Case, Load, key
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import FatTree2
from ns3_env.scenario.traffic import Poisson

#: Loads of the hosts' links (section 6.3).
LOADS = (0.2, 0.4, 0.6, 0.8)
#: Flows arrive for this time at scale 1: the thesis gives none. Five seeds have 10 ms together.
DURATION_NS = 2_000_000
#: Samples of each port while flows arrive, and their least interval.
_SAMPLES, _LEAST_NS = 2_000, 2_000
_PATIENCE_NS = 400_000_000
#: "Short": the thesis gives no number; 100 kB separates the small flows of the literature from the others.
SHORT = ("to_10kB", "to_100kB")
#: For flows of each short size, by mean and by p99: the thesis gives neither size nor statistic.
CLAIMS = {
    "FDCC consistently outperforms the others in the slowdown of short flows (6.3; here: "
    f"{SIZES[bucket]}, {words}, at every load)": Comparison(FDCC, lt, RIVALS, key(bucket, statistic))
    for bucket in SHORT
    for statistic, words in (("avg", "mean"), ("p99", "p99"))
}


def cases(sizes: str, scale: float) -> dict[tuple[str, Case], Scenario]:
    """Fig. 5.2's fat-tree with links of each length; ``scale`` x 2 ms of arrivals, then until all is sent."""
    duration = max(50_000, round(scale * DURATION_NS))

    def scenario(load: float) -> Scenario:
        return Scenario(
            time_limit_ns=duration + _PATIENCE_NS,
            topology=FatTree2(),
            traffic=Poisson(sizes=sizes, load=load, duration_ns=duration),
            record=workloads.sampled(duration, _SAMPLES, _LEAST_NS),
            switch=SWITCH,
        )

    by_load = {load: over_links(scenario(load)) for load in LOADS}
    return {(links, Case(sizes, load)): by_load[load][links] for links in by_load[LOADS[0]] for load in LOADS}


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
        notes=(workloads.arrivals(first, data.scale * DURATION_NS), *data.notes),
        pictures={f"fdcc-fig-{figure.replace('.', '-')}": workloads.draw_slowdowns(first)},
    )


WEBSEARCH, HADOOP = (
    experiment(
        f"fdcc-{sizes.removeprefix('fb_')}",
        f"Zhang 2023, Fig. {figure}",
        entered(ENTRIES, partial(cases, sizes), workloads.measure),
        0.5,
        "2 ms in which flows arrive",
        title=f"{WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
    )(partial(outcome, figure))
    for sizes, figure in (("websearch", "6.4"), ("fb_hadoop", "6.5"))
)

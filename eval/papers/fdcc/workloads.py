# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from functools import partial
from operator import lt

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.experiment import Data, entered, experiment
from ns3_env.eval.papers.fdcc.incasts import ENTRIES, RIVALS, SWITCH, undecided, with_both
from ns3_env.eval.papers.outcome import Outcome, Table, Verdict
from ns3_env.eval.papers.verdicts import Judge
from ns3_env.eval.papers.workloads import SIZES, WORKLOADS, Case, Load, key
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import FatTree2
from ns3_env.scenario.traffic import Poisson

#: Loads of the hosts' links (section 6.3).
LOADS = (0.2, 0.4, 0.6, 0.8)
#: Flows arrive for so long at scale 1: the thesis does not say how long, the suite ``paper`` takes this.
DURATION_NS = 10_000_000
#: Samples of each port while flows arrive, and their least interval, which must not keep step with frames.
_SAMPLES, _LEAST_NS, _ODD_NS = 2_000, 2_000, 7
_PATIENCE_NS = 400_000_000
#: "Short": the thesis gives no number; 100 kB parts the field's small flows from the others.
SHORT = ("to_10kB", "to_100kB")


def cases(sizes: str, scale: float) -> dict[Case, Scenario]:
    """Fig. 5.2's fat-tree; ``scale`` x 10 ms of arrivals, then as long as the flows need."""
    duration = max(50_000, round(scale * DURATION_NS))
    return {
        Case(sizes, load): Scenario(
            seed=1,
            time_limit_ns=duration + _PATIENCE_NS,
            topology=FatTree2(),
            traffic=Poisson(sizes=sizes, load=load, duration_ns=duration),
            record=Record(queue_series_ns=max(_LEAST_NS, duration // _SAMPLES) + _ODD_NS),
            switch=SWITCH,
        )
        for load in LOADS
    }


def outcome(figure: str, data: Data[dict[Case, dict[str, Load]]]) -> Outcome:
    """Slowdowns by size; ``figure`` is the thesis's."""
    loads = data.runs
    table = {
        case.short: {name: values.numbers for name, values in by_name.items()}
        for case, by_name in loads.items()
    }
    return Outcome(
        claims=undecided(claims(table), data),
        grids=workloads.grids(loads),
        notes=(workloads.arrivals(loads, data.scale * DURATION_NS), *data.notes),
        pictures={f"fdcc-fig-{figure.replace('.', '-')}": workloads.draw_slowdowns(loads)},
    )


def claims(simulated: Table) -> dict[str, Verdict]:
    """For flows of each short size, by mean and by p99: the thesis says neither size nor statistic."""
    return with_both(
        lambda agent: {
            "FDCC consistently outperforms the others in the slowdown of short flows (6.3; here: "
            f"{SIZES[bucket]}, {words}, at every load)": Judge(simulated)(
                (agent,), lt, RIVALS, key(bucket, statistic)
            )
            for bucket in SHORT
            for statistic, words in (("avg", "mean"), ("p99", "p99"))
        }
    )


WEBSEARCH, HADOOP = (
    experiment(
        f"fdcc-{sizes.removeprefix('fb_')}",
        f"Zhang 2023, Fig. {figure}",
        entered(ENTRIES, partial(cases, sizes), workloads.measure),
        0.3,
        "10 ms in which flows arrive",
        entries=ENTRIES,
        title=f"{WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
    )(partial(outcome, figure))
    for sizes, figure in (("websearch", "6.4"), ("fb_hadoop", "6.5"))
)

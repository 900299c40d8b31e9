# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from functools import partial
from operator import lt

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.experiment import Played, entered, experiment
from ns3_env.eval.papers.fdcc.incasts import ENTRIES, FDCC, NAMES
from ns3_env.eval.papers.outcome import Claim, Outcome, defined
from ns3_env.eval.papers.verdicts import Judge, Table
from ns3_env.eval.papers.workloads import Case, key
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import FatTree2
from ns3_env.scenario.traffic import Poisson

#: Of the hosts' links (section 6.3).
LOADS = (0.2, 0.4, 0.6, 0.8)
#: Flows arrive for so long at scale 1: the thesis does not say how long, the suite ``paper`` takes this.
DURATION_NS = 10_000_000
#: Samples of each port while flows arrive, and their least interval, which must not keep step with frames.
_SAMPLES, _LEAST_NS, _ODD_NS = 2_000, 2_000, 7
_PATIENCE_NS = 400_000_000
#: "Short": the thesis gives no number; 100 kB parts the field's small flows from the others.
SHORT = ("to_10kB", "to_100kB")
_WORDS = {name: words for name, words, _, _ in SIZE_BUCKETS}


def cases(sizes: str, scale: float) -> dict[Case, Scenario]:
    """Fig. 5.2's fat-tree; ``scale`` x 10 ms of arrivals, then as long as the flows need."""
    duration = max(50_000, round(scale * DURATION_NS))
    return {
        Case(sizes, load, incast=False): Scenario(
            seed=1,
            time_limit_ns=duration + _PATIENCE_NS,
            topology=FatTree2(),
            traffic=Poisson(sizes=sizes, load=load, duration_ns=duration),
            record=Record(queue_series_ns=max(_LEAST_NS, duration // _SAMPLES) + _ODD_NS),
        )
        for load in LOADS
    }


def outcome(figure: str, played: Played[dict[Case, dict[str, workloads.Load]]]) -> Outcome:
    """Slowdowns by size; ``figure`` is the thesis's."""
    found = played.runs
    table = {
        case.title: {
            name: {what: defined(x) for what, x in own.numbers.items()} for name, own in by_name.items()
        }
        for case, by_name in found.items()
    }
    notes = (
        workloads.arrivals(
            found,
            played.scale * DURATION_NS,
            "the thesis names neither, and prints no numbers for this figure.",
        ),
        "Queues: all switch ports that sent anything, sampled until the last flow starts. Slowdowns: means "
        "over the finished flows of a size; the thesis does not say whether it draws means or percentiles. "
        "Used: payload, of what receivers' links could carry while they had flows.",
        *played.notes,
    )
    return Outcome(
        (),
        claims(table),
        workloads.grids(found),
        notes,
        {f"fdcc-fig-{figure.replace('.', '-')}": workloads.draw_slowdowns(found)},
        workloads.csvs(found),
        table,
    )


def claims(ours: Table) -> tuple[Claim, ...]:
    """For flows of each short size, by mean and by p99: the thesis says neither size nor statistic."""
    return tuple(
        Judge(ours, NAMES).claim(
            "FDCC consistently outperforms the others in the slowdown of short flows (6.3; here: "
            f"{_WORDS[bucket]}, {'mean' if statistic == 'avg' else statistic}, at every load)",
            FDCC,
            lt,
            NAMES,
            key(bucket, statistic),
        )
        for bucket in SHORT
        for statistic in ("avg", "p99")
    )


WEBSEARCH, HADOOP = (
    experiment(
        f"fdcc-{sizes.removeprefix('fb_')}",
        f"{workloads.WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
        f"Zhang 2023, Fig. {figure}",
        0.3,
        "10 ms in which flows arrive",
        entered(ENTRIES, partial(cases, sizes), workloads.measure),
        trained=True,
    )(partial(outcome, figure))
    for sizes, figure in (("websearch", "6.4"), ("fb_hadoop", "6.5"))
)

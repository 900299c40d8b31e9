# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: a workload at 20 to 80 % over the fat-tree (Zhang 2023, section 6.3)."""

from __future__ import annotations

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS, STATISTICS
from ns3_env.eval.paper.fdcc.entries import NAMES, make_entries, play_all
from ns3_env.eval.paper.fdcc.verdicts import Table, below, claim, listed, tally
from ns3_env.eval.paper.mpcc.fat_tree_numbers import (
    WORKLOADS,
    Case,
    Found,
    Measured,
    csvs,
    draw_slowdowns,
    grids,
    measure,
)
from ns3_env.eval.paper.outcome import Claim, Experiment, Outcome, Policies, Progress
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import FatTree2
from ns3_env.scenario.traffic import Poisson
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results, flow_column

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


def experiment(sizes: str, figure: str) -> Experiment:
    """One workload's; ``figure`` is the thesis's."""

    def run(
        simulator: Simulator, scale: float, progress: Progress, policies: Policies | None = None
    ) -> Outcome:
        return _run(simulator, scale, progress, policies or {}, sizes, figure)

    return Experiment(
        f"fdcc-{sizes.removeprefix('fb_')}",
        f"{WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
        f"Zhang 2023, Fig. {figure}",
        0.3,
        "10 ms in which flows arrive",
        run,
        run,
    )


def scenario(case: Case, scale: float, seed: int = 1) -> Scenario:
    """Fig. 5.2's fat-tree; ``scale`` x 10 ms of arrivals, then as long as the flows need."""
    duration = max(50_000, round(scale * DURATION_NS))
    return Scenario(
        seed=seed,
        time_limit_ns=duration + _PATIENCE_NS,
        topology=FatTree2(),
        traffic=Poisson(sizes=case.sizes, load=case.load, duration_ns=duration),
        record=Record(queue_series_ns=max(_LEAST_NS, duration // _SAMPLES) + _ODD_NS),
    )


def _run(
    simulator: Simulator, scale: float, progress: Progress, policies: Policies, sizes: str, figure: str
) -> Outcome:
    entries = make_entries(policies)
    cases = {case: scenario(case, scale) for case in (Case(sizes, load, incast=False) for load in LOADS)}
    found = play_all(simulator, cases, entries, _measured, progress)
    flows = sum(len(next(iter(by_name.values())).sizes) for by_name in found.values())
    lost = sum(own.unfinished for by_name in found.values() for own in by_name.values())
    table = _numbers(found)
    notes = (
        f"{scale * DURATION_NS / 1e6:g} ms of arrivals, one seed, {flows:,} flows in all; the thesis names "
        "neither, and prints no numbers for this figure. "
        + (f"{lost} flows did not finish." if lost else "Every flow finished, under every controller."),
        "Queues: all switch ports that sent anything, sampled until the last flow starts. Slowdowns: means "
        "over the finished flows of a size; the thesis does not say whether it draws means or percentiles. "
        "Used: payload, of what receivers' links could carry while they had flows.",
        *entries.notes,
    )
    pictures = {f"fdcc-fig-{figure.replace('.', '-')}": draw_slowdowns(found)}
    return Outcome((), claims(table), grids(found), notes, pictures, csvs(found), table)


def _measured(results: Results) -> Measured:
    return measure(results, float(flow_column(results, "start_ns").max()))


def _numbers(found: Found) -> dict[str, dict[str, dict[str, float | None]]]:
    """By case, entry and name: every statistic of the slowdowns by size, queue, goodput, unfinished."""
    return {
        case.title: {name: _of_one(own) for name, own in by_name.items()} for case, by_name in found.items()
    }


def _of_one(own: Measured) -> dict[str, float | None]:
    slowdowns = {
        key(bucket, statistic): own.slowdown(bucket, statistic)
        for bucket in ("", *(name for name, _, _, _ in SIZE_BUCKETS))
        for statistic in STATISTICS
    }
    others = {
        "qlen_avg": own.queue_mean,
        "qlen_p99": own.queue_percentile(99),
        "goodput": own.goodput,
        "unfinished": float(own.unfinished),
    }
    return {name: None if x != x else x for name, x in {**slowdowns, **others}.items()}


def key(bucket: str, statistic: str) -> str:
    """The name of a number: of a bucket of ``SIZE_BUCKETS``, "" for all flows."""
    return f"fct_slowdown_{bucket}_{statistic}" if bucket else f"fct_slowdown_{statistic}"


def claims(ours: Table) -> tuple[Claim, ...]:
    """For flows of each short size, by mean and by p99: the thesis says neither size nor statistic."""
    return tuple(
        claim(
            "FDCC consistently outperforms the others in the slowdown of short flows "
            f"(6.3; here: {_WORDS[bucket]}, {'mean' if statistic == 'avg' else statistic}, at every load)",
            tally(ours, ("fdcc",), NAMES, key(bucket, statistic), below),
            None,
            listed(ours, key(bucket, statistic), NAMES),
        )
        for bucket in SHORT
        for statistic in ("avg", "p99")
    )

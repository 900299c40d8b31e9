# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: workloads on a fat-tree under five controllers and FDCC (Zheng 2024, Figs. 5.6–5.9)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.outcome import Outcome, Verdict
from ns3_env.eval.papers.verdicts import below_one, in_every_case
from ns3_env.eval.papers.workloads import SIZES, Case, Load, Loads
from ns3_env.scenario import Scenario
from ns3_env.tasks.anchors import geometric_mean

#: The thesis's five (section 5.1.2).
FIVE = ("mpcc", "hpcc", "dctcp", "dcqcn", "timely")
#: The thesis parts "relatively smaller" from "larger" flows without a number: here at 100 kB and 1 MB.
SMALL, LARGE = ("to_10kB", "to_100kB"), "over_1MB"
#: "Comparable": at most this share above the better of the other controllers.
COMPARABLE = 0.1


def cases(scale: float) -> dict[Case, Scenario]:
    """The declared cases."""
    scenarios: dict[tuple[str, float], Scenario] = declared("mpcc-fat-tree").cases(scale)
    return {
        Case(workload.partition(",")[0], load, "," in workload): scenario
        for (workload, load), scenario in scenarios.items()
    }


@experiment("mpcc-fat-tree", workloads.measure, cases=cases)
def fat_tree(data: Data[dict[Case, dict[str, Load]]]) -> Outcome:
    """WebSearch and FB_Hadoop on a fat-tree, five controllers and FDCC."""
    loads = data.runs
    pictures = {}
    for sizes, first in (("websearch", 6), ("fb_hadoop", 8)):
        item = {case: by_name for case, by_name in loads.items() if case.sizes == sizes}
        pictures[f"fig-5-{first}"] = workloads.draw_queues(item)
        pictures[f"fig-5-{first + 1}"] = workloads.draw_slowdowns(item)
    return Outcome(
        claims=claims(loads),
        grids=workloads.grids(loads),
        notes=(workloads.arrivals(loads, data.scale * 10e6), *data.notes),
        pictures=pictures,
    )


def claims(loads: Loads) -> dict[str, Verdict]:
    """One for each sentence of section 5.4 that numbers can decide."""
    slow = "MPCC has less slowdown than TIMELY and DCQCN, always (5.4; here: "
    return {
        "MPCC has the least queue of all, always (5.4, Figs. 5.6 and 5.8)": _least_queue(loads),
        f"{slow}over all flows)": _below(loads, ("timely", "dcqcn"), ("",)),
        f"{slow}at every size)": _below(loads, ("timely", "dcqcn"), tuple(SIZES)),
        "MPCC has less slowdown than DCTCP and HPCC for small flows (5.4; here: up to 100 kB)": _below(
            loads, ("dctcp", "hpcc"), SMALL
        ),
        "MPCC's slowdown of large flows is comparable to DCTCP's and HPCC's (5.4; here: at most "
        f"{COMPARABLE:.0%} above the better of them)": _comparable(loads),
    }


def _least_queue(loads: Loads) -> Verdict:
    evidence, holds = [], True
    for what, key in (("mean", "qlen_avg"), ("p99", "qlen_p99")):
        least = [min(FIVE, key=lambda name: item[name].numbers[key]) for item in loads.values()]
        others = sorted(set(least) - {"mpcc"})
        rest = f", else {', '.join(others)}" if others else ""
        evidence.append(f"least {what} in {least.count('mpcc')} of {len(loads)} cases{rest}")
        holds = holds and not others
    return holds, "; ".join(evidence)


def _below(loads: Loads, others: Sequence[str], buckets: Sequence[str]) -> Verdict:
    """Judges MPCC's mean slowdown over that of each other, in every case and bucket that has flows."""
    ratios = {
        (f"{case.title}{f' {SIZES[bucket]}' if bucket else ''} ({other.upper()})", other): (
            item["mpcc"].mean(bucket) / item[other].mean(bucket)
        )
        for case, item in loads.items()
        for bucket in buckets
        for other in others
    }
    means = []
    for name in others:
        defined = [x for (_, other), x in ratios.items() if other == name and not math.isnan(x)]
        if defined:
            means.append(f"{geometric_mean(defined):.2f} of {name.upper()}'s")
    places = {place: x for (place, _), x in ratios.items()}
    return below_one(
        places, "less in", f" (in the mean {', '.join(means)})", "no flows of these sizes finished"
    )


def _comparable(loads: Loads) -> Verdict:
    ratios = {
        case.title: item["mpcc"].mean(LARGE) / min(item[other].mean(LARGE) for other in ("dctcp", "hpcc"))
        for case, item in loads.items()
    }
    more = {title: 100 * (x - 1) for title, x in ratios.items() if not math.isnan(x)}
    words, none = "at worst {:+.0f} %", "no flow above 1 MB finished"
    return in_every_case(more, lambda x: x <= 100 * COMPARABLE, max, words, none)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: workloads on a fat-tree under five controllers and FDCC (Zheng 2024, Figs. 5.6–5.9)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.experiment import Data, Entries, entered, experiment
from ns3_env.eval.papers.outcome import Outcome, Verdict
from ns3_env.eval.papers.verdicts import below_one, geometric_mean, in_every_case
from ns3_env.eval.papers.workloads import SIZES, Case, Load, Loads
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import Incast, Mix, Poisson

#: The thesis's five (section 5.1.2), and FDCC is added, on which no claim depends.
FIVE = ("mpcc", "hpcc", "dctcp", "dcqcn", "timely")
ENTRIES = Entries({name: {} for name in FIVE}, released=("fdcc-zhang2023", "fdcc"))
#: In the order of the figures' panels (a) to (d).
CASES = tuple(
    Case(sizes, load, incast)
    for sizes in ("websearch", "fb_hadoop")
    for incast in (False, True)
    for load in (0.3, 0.6)
)
#: Flows arrive for this time at scale 1: the thesis gives none, the suite ``paper`` has this one.
DURATION_NS = 10_000_000
#: 8-to-1, 300 kB each (section 5.4); their start is not specified.
INCAST_FLOWS, INCAST_BYTES, INCAST_AT = 8, 300_000, 0.2
#: Samples of each port while flows arrive, and their least interval.
_SAMPLES, _LEAST_NS = 5_000, 500
_PATIENCE_NS = 4_000_000_000
#: The thesis parts "relatively smaller" from "larger" flows without a number: here at 100 kB and 1 MB.
SMALL, LARGE = ("to_10kB", "to_100kB"), "over_1MB"
#: "Comparable": at most this share above the better of the other controllers.
COMPARABLE = 0.1


def cases(scale: float) -> dict[Case, Scenario]:
    """Three levels, 16 hosts at 100 Gb/s, a fabric of 400 Gb/s, 1 µs links (Fig. 5.5); ``scale`` x 10 ms of
    arrivals, then as long as the flows need. One seed: the same flows for each controller."""
    return {case: scenario(case, max(100_000, round(scale * DURATION_NS))) for case in CASES}


def scenario(case: Case, duration_ns: int) -> Scenario:
    """One case, with this duration of arrivals."""
    poisson = Poisson(sizes=case.sizes, load=case.load, duration_ns=duration_ns)
    # A mix even of one part: each part draws separately, so the incast does not change the background.
    start = round(INCAST_AT * duration_ns)
    added = [Incast(flows=INCAST_FLOWS, size_bytes=INCAST_BYTES, start_ns=start)] if case.incast else []
    return Scenario(
        time_limit_ns=_PATIENCE_NS,
        topology=FatTree3(),
        traffic=Mix(parts=[poisson, *added]),
        record=workloads.sampled(duration_ns, _SAMPLES, _LEAST_NS),
    )


@experiment(
    "mpcc-fat-tree",
    "Zheng 2024, Figs. 5.6 to 5.9",
    entered(ENTRIES, cases, workloads.measure),
    0.3,
    "10 ms in which flows arrive",
)
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
        notes=(workloads.arrivals(loads, data.scale * DURATION_NS), *data.notes),
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: workloads on a fat-tree under five controllers (Zheng 2024, Figs. 5.6–5.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.experiment import Entries, Played, entered, experiment
from ns3_env.eval.papers.outcome import Claim, Outcome
from ns3_env.eval.papers.workloads import Case, Found, Load
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import Incast, Mix, Poisson

#: The thesis's five (section 5.1.2).
ENTRIES = Entries({name: {} for name in ("mpcc", "hpcc", "dctcp", "dcqcn", "timely")})
#: In the order of the figures' panels (a) to (d).
CASES = tuple(
    Case(sizes, load, incast)
    for sizes in ("websearch", "fb_hadoop")
    for incast in (False, True)
    for load in (0.3, 0.6)
)
#: Flows arrive for so long at scale 1: the thesis does not say how long, the suite ``paper`` takes this.
DURATION_NS = 10_000_000
#: 8-to-1, 300 kB each (section 5.4); when they start is not said.
INCAST_FLOWS, INCAST_BYTES, INCAST_AT = 8, 300_000, 0.2
#: Samples of each port while flows arrive, and their least interval, which must not keep step with frames.
_SAMPLES, _LEAST_NS, _ODD_NS = 5_000, 500, 7
_PATIENCE_NS = 4_000_000_000
#: The thesis parts "relatively smaller" from "larger" flows without a number: here at 100 kB and 1 MB.
SMALL, LARGE = ("to_10kB", "to_100kB"), "over_1MB"
#: "Comparable": no more above the better of the others.
COMPARABLE = 0.1
_WORDS = {name: words for name, words, _, _ in SIZE_BUCKETS}


def cases(scale: float) -> dict[Case, Scenario]:
    """Three levels, 16 hosts at 100 Gb/s, a fabric of 400 Gb/s, 1 µs links (Fig. 5.5); ``scale`` x 10 ms of
    arrivals, then as long as the flows need. One seed: the same flows for each controller."""
    return {case: scenario(case, max(100_000, round(scale * DURATION_NS))) for case in CASES}


def scenario(case: Case, duration_ns: int) -> Scenario:
    """One case, with so long a time of arrivals."""
    poisson = Poisson(sizes=case.sizes, load=case.load, duration_ns=duration_ns)
    start = round(INCAST_AT * duration_ns)
    # A mix of one, too: each part draws for itself, so that the background is the same with the incast.
    added = Incast(flows=INCAST_FLOWS, size_bytes=INCAST_BYTES, start_ns=start)
    return Scenario(
        seed=1,
        time_limit_ns=_PATIENCE_NS,
        topology=FatTree3(),
        traffic=Mix(parts=[poisson, added] if case.incast else [poisson]),
        record=Record(queue_series_ns=max(_LEAST_NS, duration_ns // _SAMPLES) + _ODD_NS),
    )


@experiment(
    "mpcc-fat-tree",
    "WebSearch and FB_Hadoop on a fat-tree, five controllers",
    "Zheng 2024, Figs. 5.6 to 5.9",
    0.3,
    "10 ms in which flows arrive",
    entered(ENTRIES, cases, workloads.measure),
)
def outcome(played: Played[dict[Case, dict[str, Load]]]) -> Outcome:
    """Queues and slowdowns, a figure of each for each workload."""
    found = played.runs
    pictures = {}
    for sizes, queues, slowdowns in (
        ("websearch", "fig-5-6", "fig-5-7"),
        ("fb_hadoop", "fig-5-8", "fig-5-9"),
    ):
        own = {case: by_name for case, by_name in found.items() if case.sizes == sizes}
        pictures[queues], pictures[slowdowns] = workloads.draw_queues(own), workloads.draw_slowdowns(own)
    notes = (
        workloads.arrivals(
            found,
            played.scale * DURATION_NS,
            "the thesis names neither duration nor seeds. It prints no numbers for these figures.",
        ),
        "Queues: all switch ports that sent anything, sampled until the last flow starts, so that every "
        "controller is looked at for the same time.",
        "Slowdowns: means over the finished flows of a size; the thesis does not say whether it draws means "
        "or percentiles. Used: payload, as a share of what receivers' links could carry while they had "
        "flows. Telemetry (32 B under MPCC, 42 B under HPCC, 8 B under TIMELY) counts against them.",
    )
    return Outcome((), claims(found), workloads.grids(found), notes, pictures, workloads.csvs(found))


def claims(found: Found) -> tuple[Claim, ...]:
    """One for each sentence of section 5.4 that numbers can decide."""
    return (
        _least_queue(found),
        _below(
            found,
            ("timely", "dcqcn"),
            ("",),
            "MPCC has less slowdown than TIMELY and DCQCN, always (5.4; here: over all flows)",
        ),
        _below(
            found,
            ("timely", "dcqcn"),
            tuple(_WORDS),
            "MPCC has less slowdown than TIMELY and DCQCN, always (5.4; here: at every size)",
        ),
        _below(
            found,
            ("dctcp", "hpcc"),
            SMALL,
            "MPCC has less slowdown than DCTCP and HPCC for small flows (5.4; here: up to 100 kB)",
        ),
        _comparable(found),
    )


def _least_queue(found: Found) -> Claim:
    told, holds = [], True
    for what, key in (("mean", "qlen_avg"), ("p99", "qlen_p99")):
        least = [_least(own, key) for own in found.values()]
        others = sorted(set(least) - {"mpcc"})
        told.append(
            f"least {what} in {least.count('mpcc')} of {len(found)} cases"
            + (f", else {', '.join(others)}" if others else "")
        )
        holds = holds and not others
    return Claim("MPCC has the least queue of all, always (5.4, Figs. 5.6 and 5.8)", holds, "; ".join(told))


def _least(by_name: Mapping[str, Load], key: str) -> str:
    return min(by_name, key=lambda name: by_name[name].numbers[key])


def _below(found: Found, others: Sequence[str], buckets: Sequence[str], text: str) -> Claim:
    """MPCC's mean slowdown below that of each other, in every case and bucket that has flows."""
    pairs = [
        (own["mpcc"].mean(bucket), own[other].mean(bucket), other, _place(case, bucket, other))
        for case, own in found.items()
        for bucket in buckets
        for other in others
    ]
    pairs = [pair for pair in pairs if not np.isnan(pair[:2]).any()]
    if not pairs:
        return Claim(text, None, "no flows of these sizes finished")
    lost = [place for ours, its, _, place in pairs if ours >= its]
    ratios = {name: [ours / its for ours, its, other, _ in pairs if other == name] for name in others}
    told = ", ".join(
        f"{np.exp(np.mean(np.log(x))):.2f} of {name.upper()}'s" for name, x in ratios.items() if x
    )
    where = f"; not: {', '.join(lost[:4])}{' ...' if len(lost) > 4 else ''}" if lost else ""
    won = f"less in {len(pairs) - len(lost)} of {len(pairs)} comparisons (in the mean {told})"
    return Claim(text, not lost, won + where)


def _place(case: Case, bucket: str, other: str) -> str:
    size = f" {_WORDS[bucket]}" if bucket else ""
    return f"{case.title}{size} ({other.upper()})"


def _comparable(found: Found) -> Claim:
    text = (
        "MPCC's slowdown of large flows is comparable to DCTCP's and HPCC's (5.4; here: at most "
        f"{COMPARABLE:.0%} above the better of them)"
    )
    pairs = [
        (own["mpcc"].mean(LARGE), min(own[other].mean(LARGE) for other in ("dctcp", "hpcc")), case.title)
        for case, own in found.items()
    ]
    pairs = [pair for pair in pairs if not np.isnan(pair[:2]).any()]
    if not pairs:
        return Claim(text, None, "no flow above 1 MB finished")
    close = sum(ours <= (1 + COMPARABLE) * best for ours, best, _ in pairs)
    worst, where = max(((ours / best - 1, title) for ours, best, title in pairs), key=lambda x: x[0])
    evidence = f"in {close} of {len(pairs)} cases; at worst {100 * worst:+.0f} % ({where})"
    return Claim(text, close == len(pairs), evidence)

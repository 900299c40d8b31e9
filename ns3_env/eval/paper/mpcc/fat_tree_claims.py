# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's claims on queues and slowdowns on the fat-tree, case by case (section 5.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ns3_env.eval.metrics.slowdown import SIZE_BUCKETS
from ns3_env.eval.paper.mpcc.fat_tree_numbers import Case, Found, Measured
from ns3_env.eval.paper.outcome import Claim

#: The thesis parts "relatively smaller" from "larger" flows without a number: here at 100 kB and 1 MB.
SMALL, LARGE = ("to_10kB", "to_100kB"), "over_1MB"
#: "Comparable": no more above the better of the others.
COMPARABLE = 0.1
_WORDS = {name: words for name, words, _, _ in SIZE_BUCKETS}


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
    told = []
    holds = True
    for what, of in (("mean", _mean), ("p99", _p99)):
        wins = [case for case, own in found.items() if _least(own, of) == "mpcc"]
        others = sorted({_least(own, of) for case, own in found.items() if case not in wins})
        told.append(
            f"least {what} in {len(wins)} of {len(found)} cases"
            + (f", else {', '.join(others)}" if others else "")
        )
        holds = holds and len(wins) == len(found)
    return Claim("MPCC has the least queue of all, always (5.4, Figs. 5.6 and 5.8)", holds, "; ".join(told))


def _mean(own: Measured) -> float:
    return own.queue_mean


def _p99(own: Measured) -> float:
    return own.queue_percentile(99)


def _least(by_name: Mapping[str, Measured], of: Callable[[Measured], float]) -> str:
    return min(by_name, key=lambda name: of(by_name[name]))


def _below(found: Found, others: Sequence[str], buckets: Sequence[str], text: str) -> Claim:
    """MPCC's mean slowdown below that of each other, in every case and bucket that has flows."""
    lost: list[str] = []
    compared = 0
    ratios: dict[str, list[float]] = {other: [] for other in others}
    for case, by_name in found.items():
        for bucket in buckets:
            ours = by_name["mpcc"].slowdown(bucket)
            for other in others:
                its = by_name[other].slowdown(bucket)
                if np.isnan(ours) or np.isnan(its):
                    continue
                compared += 1
                ratios[other].append(ours / its)
                if ours >= its:
                    lost.append(_place(case, bucket, other))
    if not compared:
        return Claim(text, None, "no flows of these sizes finished")
    told = ", ".join(
        f"{np.exp(np.mean(np.log(x))):.2f} of {name.upper()}'s" for name, x in ratios.items() if x
    )
    where = f"; not: {', '.join(lost[:4])}{' ...' if len(lost) > 4 else ''}" if lost else ""
    return Claim(
        text,
        not lost,
        f"less in {compared - len(lost)} of {compared} comparisons (in the mean {told}){where}",
    )


def _comparable(found: Found) -> Claim:
    text = (
        "MPCC's slowdown of large flows is comparable to DCTCP's and HPCC's "
        f"(5.4; here: at most {COMPARABLE:.0%} above the better of them)"
    )
    worst, where, compared, close = -np.inf, "", 0, 0
    for case, by_name in found.items():
        ours = by_name["mpcc"].slowdown(LARGE)
        best = min(by_name[other].slowdown(LARGE) for other in ("dctcp", "hpcc"))
        if np.isnan(ours) or np.isnan(best):
            continue
        compared += 1
        close += ours <= (1 + COMPARABLE) * best
        if ours / best - 1 > worst:
            worst, where = ours / best - 1, case.title
    if not compared:
        return Claim(text, None, "no flow above 1 MB finished")
    return Claim(
        text, close == compared, f"in {close} of {compared} cases; at worst {100 * worst:+.0f} % ({where})"
    )


def _place(case: Case, bucket: str, other: str) -> str:
    size = f" {_WORDS[bucket]}" if bucket else ""
    return f"{case.title}{size} ({other.upper()})"

# SPDX-License-Identifier: GPL-2.0-or-later
"""Statements of HPCC's section 5.3, judged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ns3_env.eval.papers.hpcc.measured import SHORT, Runs, best
from ns3_env.eval.papers.hpcc.network import BUSY, INCAST, PAPER, WINDOWS
from ns3_env.eval.papers.outcome import Claim


def claims(runs: Runs) -> tuple[Claim, ...]:
    """One for each statement of section 5.3 that is known here."""
    return (
        _shorter(runs),
        _compared(
            runs,
            "Windows shorten the tail of DCQCN and TIMELY (5.3; here: 95 % of flows up to 120 kB)",
            WINDOWS,
            "short",
            lambda x: x < 1,
            (INCAST, BUSY),
        ),
        _compared(
            runs,
            "Windows all but end pauses (5.3; here: a tenth of the time, with incasts)",
            WINDOWS,
            "paused",
            lambda x: x <= 0.1,
            (INCAST,),
        ),
        _bounded(
            runs,
            "HPCC pauses nothing, with and without incasts (5.3)",
            "pauses",
            lambda x: x == 0,
            ("hpcc",),
            (INCAST, BUSY),
        ),
        _bounded(
            runs,
            "DCQCN and TIMELY pause links, with incasts (5.3)",
            "pauses",
            lambda x: x > 0,
            tuple(WINDOWS),
            (INCAST,),
        ),
        _bounded(
            runs,
            "HPCC's 95 % latency is below 20 µs (5.3)",
            "latency_p95_us",
            lambda x: x < 20,
            ("hpcc",),
            (INCAST, BUSY),
        ),
        _compared(
            runs,
            "HPCC's latency is less than half of DCTCP's (5.3; here: 95 %)",
            {"dctcp": "hpcc"},
            "latency_p95_us",
            lambda x: x < 0.5,
            (INCAST, BUSY),
        ),
        _compared(
            runs,
            "DCTCP is better than DCQCN and TIMELY (5.3; here: 95 % of flows up to 120 kB)",
            {"dcqcn": "dctcp", "timely": "dctcp"},
            "short",
            lambda x: x < 1,
            (INCAST, BUSY),
        ),
        _longer(runs),
    )


def _shorter(runs: Runs) -> Claim:
    """HPCC's tail below that of each other of the paper's, at each size."""
    ratios = {
        f"{case}, {name} at {label} B": by_name["hpcc"].p95(label) / by_name[name].p95(label)
        for case, by_name in runs.items()
        for name in PAPER.names
        for label in SHORT
        if name != "hpcc"
    }
    ratios = {place: x for place, x in ratios.items() if not math.isnan(x)}
    lost = [place for place, x in ratios.items() if x >= 1]
    where = f"; not: {', '.join(lost[:4])}{' ...' if len(lost) > 4 else ''}" if lost else ""
    return Claim(
        "Flows below 120 kB have the shortest tail under HPCC (5.3; here: 95 %, at each size)",
        not lost if ratios else None,
        f"in {len(ratios) - len(lost)} of {len(ratios)} comparisons; in the mean "
        f"{np.exp(np.mean(np.log(list(ratios.values())))):.2f} times{where}"
        if ratios
        else "no flows of these sizes",
    )


def _compared(
    runs: Runs,
    text: str,
    pairs: Mapping[str, str],
    key: str,
    holds: Callable[[float], bool],
    loads: Iterable[str],
) -> Claim:
    """A number of each pair's second over that of its first; nothing to compare where the first has none."""
    ratios = {
        f"{case}: {second} over {first}": runs[case][second].numbers[key] / runs[case][first].numbers[key]
        for case in loads
        for first, second in pairs.items()
        if runs[case][first].numbers[key] > 0
    }
    told = " · ".join(f"{place} {x:.3g}" for place, x in ratios.items())
    return Claim(text, _verdict(ratios, holds), told or "0 without them")


def _verdict(found: Mapping[str, float], holds: Callable[[float], bool]) -> bool | None:
    """None where a number is missing, or all are."""
    known = found and not any(map(math.isnan, found.values()))
    return all(map(holds, found.values())) if known else None


def _bounded(
    runs: Runs,
    text: str,
    key: str,
    holds: Callable[[float], bool],
    names: Iterable[str],
    loads: Iterable[str],
) -> Claim:
    """A number of each entry under each load."""
    found = {f"{case}: {name}": runs[case][name].numbers[key] for case in loads for name in names}
    return Claim(text, _verdict(found, holds), " · ".join(f"{x} {y:.4g}" for x, y in found.items()))


def _longer(runs: Runs) -> Claim:
    """What headroom and telemetry cost."""
    ratios = {case: by_name["hpcc"].numbers["long"] / best(by_name, "long") for case, by_name in runs.items()}
    return Claim(
        "HPCC's long flows are slower than the best of the others' (5.3; here: 95 % of those above 120 kB)",
        _verdict(ratios, lambda x: x > 1),
        " · ".join(f"{case}: {x:.2f} times" for case, x in ratios.items()),
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts of 4 to 1024 flows over a dumbbell (Zhang 2023, section 6.2, Table 6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from operator import ge, gt, le, lt

import numpy as np

from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Played, entered, experiment
from ns3_env.eval.papers.fdcc import incasts
from ns3_env.eval.papers.fdcc.incasts import FDCC, NAMES, TABLE_6_2, WITH_RECORDS, WITHOUT, Spread
from ns3_env.eval.papers.outcome import Claim, Measured, Outcome
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.verdicts import COMPARABLE, Judge, Table, comparable, value
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell

#: Hosts of each side (section 5.3): beyond so many flows, each host has several.
HOSTS = 64
#: The thesis's queues under RL-CC are n − 1 times 16.5 kB up to 256 flows: windows that stay at a BDP. Links
#: of so long have that BDP; the thesis does not say how long its are.
SHORT_NS, SHORT_FLOWS = 180, (4, 16, 256)
#: (name, words, divisor, scale of the axis)
_PANELS = (
    ("qlen_avg", "queue, mean (kB)", 1e3, "log"),
    ("fct_slowdown_avg", "FCT slowdown, mean / flows", 1.0, "linear"),
    ("unfair_ratio", "unfair ratio", 1.0, "log"),
    ("goodput", "goodput", 1.0, "linear"),
)
#: A ratio of 0 stands here, below all that are not.
_LEAST = 1e-6
_OVER_SHORT = f", links of {SHORT_NS} ns"
_KB = (1e3, " kB")


def cases(scale: float) -> dict[incasts.Case, Scenario]:
    """4-, 16-, 256- and 1024-to-1, one seed: the same flows for every entry; then over shorter links."""
    far = Dumbbell(senders=HOSTS, receivers=HOSTS)
    near = far.model_copy(update={"delay_ns": SHORT_NS})
    return {
        **{(n, ""): incasts.incast(far, n, scale) for n in incasts.DUMBBELL_FLOWS},
        **{(n, _OVER_SHORT): incasts.incast(near, n, scale) for n in SHORT_FLOWS},
    }


@experiment(
    "fdcc-incast",
    "4 to 1024 flows to one receiver over a dumbbell",
    "Zhang 2023, Table 6.2",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    entered(incasts.ENTRIES, cases, incasts.spread),
    trained=True,
)
def outcome(played: Played[dict[incasts.Case, dict[str, Spread]]]) -> Outcome:
    """Table 6.2 beside ours."""
    everything = incasts.measured(played.runs)
    table = {case: own for case, own in everything.items() if not case.endswith(_OVER_SHORT)}
    published = {**TABLE_6_2, **{case + _OVER_SHORT: own for case, own in TABLE_6_2.items()}}
    notes = (
        "One seed. Starts are Gaussian with a standard deviation of a sixth of the spread, cut at its ends, "
        "and links have 1 µs; the thesis says neither.",
        "Queue: of the port with the longest mean, weighted by time, from the first start to the last end. "
        "Unfair ratio: over the time in which all flows are active; over whole lifetimes beside it. Goodput: "
        "payload, of the link while flows are there. Paused: share of flows' lives in which PFC kept their "
        "sender's link silent.",
        f"Claims and picture are of links of 1 µs. Links of {SHORT_NS} ns have the BDP of the thesis's "
        "queues.",
        "DCQCN and TIMELY have at most a BDP in flight, as everybody has in the thesis (section 5.3).",
        *played.notes,
    )
    pictures = {"fdcc-table-6-2": draw({n: table[incasts.title(n)] for n, links in played.runs if not links})}
    grids, series = incasts.grids(everything, published), incasts.csvs(played.runs)
    return Outcome((), claims(table), grids, notes, pictures, series, everything)


def draw(ours: Mapping[int, Mapping[str, Measured]]) -> bytes:
    """Lines are ours, hollow marks the thesis's. Slowdowns are divided by the number of flows, which is the
    slowdown of flows that share the link and start together."""
    figure, several = panels([words for _, words, _, _ in _PANELS], 2, 2.7)
    looks = styles(next(iter(ours.values())))
    for axes, (key, words, divisor, scale) in zip(several, _PANELS, strict=True):
        for name, look in looks.items():
            heights = _heights({n: by_name[name] for n, by_name in ours.items()}, key, divisor)
            axes.plot(list(ours), heights, label=name, **look.of_points)
            published = {
                n: TABLE_6_2[incasts.title(n)].get(name, {}) for n in ours if incasts.title(n) in TABLE_6_2
            }
            axes.plot(
                list(published),
                _heights(published, key, divisor),
                color=look.colour,
                marker=look.marker,
                linestyle="none",
                fillstyle="none",
                markersize=8,
            )
        axes.set(xlabel="flows", ylabel=words, xscale="log", yscale=scale)
        axes.set_xticks(list(ours), [f"{n}" for n in ours])
        axes.minorticks_off()
    several[0].plot([], [], color="#000000", marker="o", fillstyle="none", linestyle="none", label="thesis")
    return finished(figure, several[0])


def _heights(by_flows: Mapping[int, Measured], key: str, divisor: float) -> list[float]:
    found = []
    for flows, own in by_flows.items():
        height = value(own, key) / divisor
        if key == "unfair_ratio" and not np.isnan(height):
            height = max(height, _LEAST)
        if not np.isfinite(height):
            height = np.nan
        found.append(height / flows if key.startswith("fct_slowdown") else height)
    return found


def claims(ours: Table) -> tuple[Claim, ...]:
    """One for each sentence that numbers can decide; the thesis's own table is judged beside ours."""
    judge = Judge(ours, NAMES, TABLE_6_2)
    # The thesis's Fig. 3.3 is of 4-to-1.
    first = dict(list(ours.items())[:1])
    small = Judge(first, NAMES, {case: TABLE_6_2[case] for case in first if case in TABLE_6_2})
    return (
        judge.claim(
            "FDCC and HPCC have a larger slowdown than DCQCN and TIMELY: their packets carry telemetry (6.2)",
            WITH_RECORDS,
            gt,
            WITHOUT,
            "fct_slowdown_avg",
        ),
        judge.claim("FDCC is the fairest (6.2)", FDCC, le, NAMES, "unfair_ratio"),
        small.claim(
            "HPCC is the least fair in a small incast (3.4, Table 6.2; here: 4-to-1)",
            ("hpcc",),
            gt,
            [name for name in NAMES if name != "hpcc"],
            "unfair_ratio",
        ),
        judge.claim(
            f"FDCC's goodput is comparable (6.2; here: at most {COMPARABLE:.0%} below any other's)",
            FDCC,
            comparable,
            NAMES,
            "goodput",
        ),
        judge.claim("FDCC has no less goodput than HPCC (Table 6.2)", FDCC, ge, ("hpcc",), "goodput"),
        judge.claim("FDCC's queue is not shorter than HPCC's (6.2)", FDCC, ge, ("hpcc",), "qlen_avg", _KB),
        judge.claim("FDCC's slowdown is below HPCC's (Table 6.2)", FDCC, lt, ("hpcc",), "fct_slowdown_avg"),
    )

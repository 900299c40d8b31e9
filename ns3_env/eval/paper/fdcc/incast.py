# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts of 4 to 1024 flows over a dumbbell (Zhang 2023, section 6.2, Table 6.2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ns3_env.eval.paper.fdcc.entries import NAMES, make_entries, play_all
from ns3_env.eval.paper.fdcc.incast_numbers import csvs, grids, incast, measured, spread
from ns3_env.eval.paper.fdcc.tables import DUMBBELL_FLOWS, TABLE_6_2, title
from ns3_env.eval.paper.fdcc.verdicts import (
    COMPARABLE,
    Table,
    Wins,
    above,
    below,
    claim,
    comparable,
    listed,
    not_above,
    not_below,
    tally,
    value,
)
from ns3_env.eval.paper.outcome import Claim, Experiment, Measured, Outcome, Policies, Progress
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import styles
from ns3_env.scenario.topology import Dumbbell
from ns3_env.simulator import Simulator

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
#: Those whose packets carry a record of every hop, and those that the thesis compares them with.
WITH_RECORDS, WITHOUT = ("fdcc", "hpcc"), ("dcqcn", "timely")


def run(simulator: Simulator, scale: float, progress: Progress, policies: Policies | None = None) -> Outcome:
    """4-, 16-, 256- and 1024-to-1, one seed: the same flows for every entry; then over shorter links."""
    entries = make_entries(policies or {})
    topology = Dumbbell(senders=HOSTS, receivers=HOSTS)
    cases = {flows: incast(topology, flows, scale) for flows in DUMBBELL_FLOWS}
    found = play_all(simulator, cases, entries, spread, progress)
    table = measured(found)
    near = topology.model_copy(update={"delay_ns": SHORT_NS})
    cases = {flows: incast(near, flows, scale) for flows in SHORT_FLOWS}
    short = {
        _over_short(x): own
        for x, own in measured(play_all(simulator, cases, entries, spread, progress)).items()
    }
    published = {**TABLE_6_2, **{_over_short(x): own for x, own in TABLE_6_2.items()}}
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
        *entries.notes,
    )
    pictures = {
        "fdcc-table-6-2": draw(
            {n: {name: own.numbers for name, own in by_name.items()} for n, by_name in found.items()}
        )
    }
    everything = {**table, **short}
    return Outcome((), claims(table), grids(everything, published), notes, pictures, csvs(found), everything)


def _over_short(case: str) -> str:
    return f"{case}, links of {SHORT_NS} ns"


def draw(ours: Mapping[int, Mapping[str, Measured]]) -> bytes:
    """Lines are ours, hollow marks the thesis's. Slowdowns are divided by the number of flows, which is the
    slowdown of flows that share the link and start together."""
    figure, several = panels([words for _, words, _, _ in _PANELS], 2, 2.7)
    names = next(iter(ours.values()))
    looks = styles(names)
    for axes, (key, words, divisor, scale) in zip(several, _PANELS, strict=True):
        for name in names:
            look = looks[name]
            heights = _heights({n: by_name[name] for n, by_name in ours.items()}, key, divisor)
            axes.plot(list(ours), heights, label=name, **look.of_points)
            published = {n: TABLE_6_2[title(n)].get(name, {}) for n in ours if title(n) in TABLE_6_2}
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

    def both(text: str, entries: tuple[str, ...], others: tuple[str, ...], key: str, wins: Wins) -> Claim:
        here, thesis = (tally(table, entries, others, key, wins) for table in (ours, TABLE_6_2))
        divisor, unit = (1e3, " kB") if key.startswith("qlen") else (1.0, "")
        return claim(text, here, thesis, listed(ours, key, NAMES, divisor, unit))

    return (
        both(
            "FDCC and HPCC have a larger slowdown than DCQCN and TIMELY: their packets carry telemetry (6.2)",
            WITH_RECORDS,
            WITHOUT,
            "fct_slowdown_avg",
            above,
        ),
        both("FDCC is the fairest (6.2)", ("fdcc",), NAMES, "unfair_ratio", not_above),
        least_fair(ours),
        both(
            f"FDCC's goodput is comparable (6.2; here: at most {COMPARABLE:.0%} below any other's)",
            ("fdcc",),
            NAMES,
            "goodput",
            comparable,
        ),
        both("FDCC has no less goodput than HPCC (Table 6.2)", ("fdcc",), ("hpcc",), "goodput", not_below),
        both("FDCC's queue is not shorter than HPCC's (6.2)", ("fdcc",), ("hpcc",), "qlen_avg", not_below),
        both("FDCC's slowdown is below HPCC's (Table 6.2)", ("fdcc",), ("hpcc",), "fct_slowdown_avg", below),
    )


def least_fair(ours: Table) -> Claim:
    """On the first case alone: the thesis's Fig. 3.3 is of 4-to-1."""
    first = dict(list(ours.items())[:1])
    thesis = {case: TABLE_6_2[case] for case in first if case in TABLE_6_2}
    others = tuple(name for name in NAMES if name != "hpcc")
    here, published = (tally(table, ("hpcc",), others, "unfair_ratio", above) for table in (first, thesis))
    return claim(
        "HPCC is the least fair in a small incast (3.4, Table 6.2; here: 4-to-1)",
        here,
        published,
        listed(first, "unfair_ratio", NAMES),
    )


EXPERIMENT = Experiment(
    "fdcc-incast",
    "4 to 1024 flows to one receiver over a dumbbell",
    "Zhang 2023, Table 6.2",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    run,
    run,
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts over a fat-tree (Zhang 2023, section 6.2, Table 6.1 and Fig. 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.paper.fdcc.entries import NAMES, make_entries, play_all
from ns3_env.eval.paper.fdcc.incast import WITH_RECORDS, WITHOUT
from ns3_env.eval.paper.fdcc.incast_numbers import Spread, csvs, grids, incast, measured, spread
from ns3_env.eval.paper.fdcc.tables import FAT_TREE_FLOWS, TABLE_6_1, title
from ns3_env.eval.paper.fdcc.verdicts import (
    COMPARABLE,
    Table,
    above,
    claim,
    comparable,
    listed,
    not_above,
    tally,
    value,
)
from ns3_env.eval.paper.outcome import Claim, Experiment, Outcome, Policies, Progress, Row
from ns3_env.eval.paper.panels import finished, panels
from ns3_env.eval.plots.plots import styles
from ns3_env.scenario.topology import FatTree2
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Floats

Found = Mapping[int, Mapping[str, Spread]]


def run(simulator: Simulator, scale: float, progress: Progress, policies: Policies | None = None) -> Outcome:
    """48-, 192- and 768-to-1 from three access switches to a host of the fourth, one seed."""
    entries = make_entries(policies or {})
    cases = {flows: incast(FatTree2(), flows, scale) for flows in FAT_TREE_FLOWS}
    found = play_all(simulator, cases, entries, spread, progress)
    table = measured(found)
    notes = (
        "As fdcc-incast: one seed, links of 1 µs, queue of the port with the longest mean. Each flow takes "
        "one of the shortest paths, by its hash.",
        "Fig. 6.3: over the flows of each incast; the thesis does not say which n it draws. (b) is the "
        "time for which PFC kept links silent, hosts' and switches' together, (c) how far a flow's bandwidth "
        "is from the mean while all flows are active.",
        *entries.notes,
    )
    pictures = {
        "fdcc-fig-6-3a": draw_slowdowns(found),
        "fdcc-fig-6-3b": draw_pauses(found),
        "fdcc-fig-6-3c": draw_deviations(found),
    }
    return Outcome(_rows(table), claims(table), grids(table, {}), notes, pictures, csvs(found), table)


def _rows(table: Table) -> list[Row]:
    """Table 6.1 beside ours."""
    return [
        Row(f"goodput, {case}, {name}", "", published[name]["goodput"], value(own, "goodput"), "Table 6.1")
        for case, by_name in table.items()
        for name, own in by_name.items()
        if name in NAMES and (published := TABLE_6_1[case])
    ]


def draw_slowdowns(found: Found) -> bytes:
    """Fig. 6.3a."""
    return _draw(found, lambda own: own.slowdowns, "FCT slowdown")


def draw_pauses(found: Found) -> bytes:
    """Fig. 6.3b, as a total: in the fat-tree it is links between switches that are paused, not one flow's."""
    figure, (axes,) = panels(["paused time, all links together"], 1, 3.0)
    names = next(iter(found.values()))
    looks = styles(names)
    for name in names:
        paused = [value(by_name[name].numbers, "pfc_pause_ns") / 1e6 for by_name in found.values()]
        axes.plot(list(found), paused, label=name, **looks[name].of_points)
    axes.set(xlabel="flows", ylabel="ms", xscale="log", ylim=(0, None))
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xticks(list(found), [f"{n}" for n in found])
    axes.minorticks_off()
    return finished(figure, axes)


def draw_deviations(found: Found) -> bytes:
    """Fig. 6.3c."""
    return _draw(found, lambda own: own.deviations, "bandwidth / mean − 1")


def _draw(found: Found, of: Callable[[Spread], Floats], words: str) -> bytes:
    figure, several = panels([title(flows) for flows in found], 3, 3.0)
    for axes, by_name in zip(several, found.values(), strict=True):
        _curves(axes, {name: of(own) for name, own in by_name.items()})
        axes.set(xlabel=words, ylabel="share of flows", ylim=(0, 1.02))
    return finished(figure, several[0])


def _curves(axes: Axes, values: Mapping[str, Floats]) -> None:
    looks = styles(values)
    for name, own in values.items():
        if len(own):
            shares = np.arange(1, len(own) + 1) / len(own)
            axes.step(np.sort(own), shares, where="post", label=name, **looks[name].of_line)
        else:
            axes.plot([], [], label=name, **looks[name].of_line)


def claims(ours: Table) -> tuple[Claim, ...]:
    """One for each sentence that numbers can decide; Fig. 6.3 has no printed numbers."""
    others = ("dcqcn", "timely", "rlcc")
    return (
        claim(
            "FDCC and HPCC have a larger slowdown than DCQCN and TIMELY: their packets carry telemetry (6.2)",
            tally(ours, WITH_RECORDS, WITHOUT, "fct_slowdown_avg", above),
            None,
            listed(ours, "fct_slowdown_avg", NAMES),
        ),
        claim(
            "FDCC is the fairest (6.2, Fig. 6.3c)",
            tally(ours, ("fdcc",), NAMES, "unfair_ratio", not_above),
            None,
            listed(ours, "unfair_ratio", NAMES),
        ),
        claim(
            "FDCC triggers PFC the least (6.2, Fig. 6.3b; here: time for which all links were paused)",
            tally(ours, ("fdcc",), NAMES, "pfc_pause_ns", not_above),
            None,
            listed(ours, "pfc_pause_ns", NAMES, 1e6, " ms"),
        ),
        _everybody_pauses(ours),
        claim(
            "FDCC's goodput is comparable to that of DCQCN, TIMELY and RL-CC "
            f"(6.2, Table 6.1; here: at most {COMPARABLE:.0%} below)",
            tally(ours, ("fdcc",), others, "goodput", comparable),
            tally(TABLE_6_1, ("fdcc",), others, "goodput", comparable),
            listed(ours, "goodput", NAMES),
        ),
        claim(
            "FDCC has more goodput than HPCC (Table 6.1)",
            tally(ours, ("fdcc",), ("hpcc",), "goodput", above),
            tally(TABLE_6_1, ("fdcc",), ("hpcc",), "goodput", above),
        ),
    )


def _everybody_pauses(ours: Table) -> Claim:
    """In the largest incast."""
    text = "Every algorithm may trigger PFC (6.2; here: in the largest incast)"
    last = list(ours.items())[-1:]
    frames = {name: value(own, "pfc_frames") for _, by_name in last for name, own in by_name.items()}
    told = ", ".join(f"{name.upper()} {x:,.0f}" for name, x in frames.items())
    return Claim(text, all(x > 0 for x in frames.values()) if frames else None, f"pause frames: {told}")


EXPERIMENT = Experiment(
    "fdcc-fat-tree",
    "48 to 768 flows to one receiver over a two-level fat-tree",
    "Zhang 2023, Table 6.1 and Fig. 6.3",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    run,
    run,
)

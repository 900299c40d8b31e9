# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts over a fat-tree (Zhang 2023, section 6.2, Table 6.1 and Fig. 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import gt, le

from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.experiment import Played, entered, experiment
from ns3_env.eval.papers.fdcc import incasts
from ns3_env.eval.papers.fdcc.incasts import FDCC, NAMES, TABLE_6_1, WITH_RECORDS, WITHOUT, Spread
from ns3_env.eval.papers.outcome import Claim, Outcome, Row
from ns3_env.eval.papers.panels import finished, panels
from ns3_env.eval.papers.seen import distribution
from ns3_env.eval.papers.verdicts import COMPARABLE, Judge, Table, comparable, value
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import FatTree2
from ns3_env.simulator.results import Floats

Found = Mapping[incasts.Case, Mapping[str, Spread]]


def cases(scale: float) -> dict[incasts.Case, Scenario]:
    """48-, 192- and 768-to-1 from three access switches to a host of the fourth, one seed."""
    return {(n, ""): incasts.incast(FatTree2(), n, scale) for n in incasts.FAT_TREE_FLOWS}


@experiment(
    "fdcc-fat-tree",
    "48 to 768 flows to one receiver over a two-level fat-tree",
    "Zhang 2023, Table 6.1 and Fig. 6.3",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    entered(incasts.ENTRIES, cases, incasts.spread),
    trained=True,
)
def outcome(played: Played[dict[incasts.Case, dict[str, Spread]]]) -> Outcome:
    """Table 6.1 beside ours, and the figures."""
    found = played.runs
    table = incasts.measured(found)
    rows = [
        Row(
            f"goodput, {case}, {name}",
            "",
            TABLE_6_1[case][name]["goodput"],
            value(own, "goodput"),
            "Table 6.1",
        )
        for case, by_name in table.items()
        for name, own in by_name.items()
        if name in NAMES
    ]
    notes = (
        "As fdcc-incast: one seed, links of 1 µs, queue of the port with the longest mean. Each flow takes "
        "one of the shortest paths, by its hash.",
        "Fig. 6.3: over the flows of each incast; the thesis does not say which n it draws. (b) is the time "
        "for which PFC kept links silent, hosts' and switches' together, (c) how far a flow's bandwidth is "
        "from the mean while all flows are active.",
        *played.notes,
    )
    pictures = {
        "fdcc-fig-6-3a": _draw(found, lambda own: own.slowdowns, "FCT slowdown"),
        "fdcc-fig-6-3b": _draw_pauses(found),
        "fdcc-fig-6-3c": _draw(found, lambda own: own.deviations, "bandwidth / mean − 1"),
    }
    return Outcome(rows, claims(table), incasts.grids(table, {}), notes, pictures, incasts.csvs(found), table)


def _draw_pauses(found: Found) -> bytes:
    """Fig. 6.3b, as a total: in the fat-tree it is links between switches that are paused, not one flow's."""
    figure, (axes,) = panels(["paused time, all links together"], 1, 3.0)
    flows = [n for n, _ in found]
    for name, look in styles(next(iter(found.values()))).items():
        paused = [value(by_name[name].numbers, "pfc_pause_ns") / 1e6 for by_name in found.values()]
        axes.plot(flows, paused, label=name, **look.of_points)
    axes.set(xlabel="flows", ylabel="ms", xscale="log", ylim=(0, None))
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xticks(flows, [f"{n}" for n in flows])
    axes.minorticks_off()
    return finished(figure, axes)


def _draw(found: Found, of: Callable[[Spread], Floats], words: str) -> bytes:
    figure, several = panels([incasts.title(n) for n, _ in found], 3, 3.0)
    for axes, by_name in zip(several, found.values(), strict=True):
        for name, look in styles(by_name).items():
            axes.step(*distribution(of(by_name[name])), where="post", label=name, **look.of_line)
        axes.set(xlabel=words, ylabel="share of flows", ylim=(0, 1.02))
    return finished(figure, several[0])


def claims(ours: Table) -> tuple[Claim, ...]:
    """One for each sentence that numbers can decide; Fig. 6.3 has no printed numbers."""
    judge, unlisted = Judge(ours, NAMES, TABLE_6_1), Judge(ours, (), TABLE_6_1)
    return (
        judge.claim(
            "FDCC and HPCC have a larger slowdown than DCQCN and TIMELY: their packets carry telemetry (6.2)",
            WITH_RECORDS,
            gt,
            WITHOUT,
            "fct_slowdown_avg",
        ),
        judge.claim("FDCC is the fairest (6.2, Fig. 6.3c)", FDCC, le, NAMES, "unfair_ratio"),
        judge.claim(
            "FDCC triggers PFC the least (6.2, Fig. 6.3b; here: time for which all links were paused)",
            FDCC,
            le,
            NAMES,
            "pfc_pause_ns",
            (1e6, " ms"),
        ),
        _everybody_pauses(ours),
        judge.claim(
            "FDCC's goodput is comparable to that of DCQCN, TIMELY and RL-CC (6.2, Table 6.1; here: at most "
            f"{COMPARABLE:.0%} below)",
            FDCC,
            comparable,
            ("dcqcn", "timely", "rlcc"),
            "goodput",
        ),
        unlisted.claim("FDCC has more goodput than HPCC (Table 6.1)", FDCC, gt, ("hpcc",), "goodput"),
    )


def _everybody_pauses(ours: Table) -> Claim:
    """In the largest incast."""
    text = "Every algorithm may trigger PFC (6.2; here: in the largest incast)"
    last = list(ours.items())[-1:]
    frames = {name: value(own, "pfc_frames") for _, by_name in last for name, own in by_name.items()}
    told = ", ".join(f"{name.upper()} {x:,.0f}" for name, x in frames.items())
    return Claim(text, all(x > 0 for x in frames.values()) if frames else None, f"pause frames: {told}")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiments: incasts over a dumbbell and a fat-tree, and workloads (Zhang 2023, sec. 6.2 and 6.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ns3_env.eval.metrics import measure, without_nan
from ns3_env.eval.metrics.convergence import common_bandwidths
from ns3_env.eval.metrics.slowdown import fct_slowdowns
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers import workloads
from ns3_env.eval.papers.declared import declared
from ns3_env.eval.papers.experiment import Data, experiment
from ns3_env.eval.papers.fdcc.claims import IN_FIGURES, judge
from ns3_env.eval.papers.outcome import Grid, Measured, Outcome, Row, Table, Verdict, flat, grid, nested
from ns3_env.eval.papers.panels import Drawing, Panel, labels, marked, step
from ns3_env.eval.papers.runs import distribution
from ns3_env.eval.papers.verdicts import listed, value
from ns3_env.eval.papers.workloads import WORKLOADS, Case, Load
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats, Results

#: Columns of Table 6.2, as metrics.
COLUMNS = (
    "queue_avg_bytes",
    "queue_p99_bytes",
    "fct_slowdown_avg",
    "fct_slowdown_p99",
    "unfair_ratio",
    "goodput",
)
#: Flows of each incast of the fat-tree.
FAT_TREE_FLOWS = (48, 192, 768)


def title(flows: int) -> str:
    """A case, as the thesis calls it."""
    return f"{flows}-to-1"


def _printed(name: str, columns: Sequence[str]) -> Table:
    """Numbers that the thesis prints, by case, entry and column; lengths in bytes."""
    return {
        case: {entry: dict(zip(columns, row, strict=True)) for entry, row in by_name.items()}
        for case, by_name in declared(name).printed.items()
    }


TABLE_6_2, TABLE_6_1 = _printed("fdcc-incast", COLUMNS), _printed("fdcc-fat-tree", ("goodput",))
METRICS = (
    *COLUMNS,
    *("pfc_pause_fraction", "unfinished_flows", "unfair_ratio_lifetime", "pfc_frames", "pfc_pause_ns"),
)
#: Hosts of each side of the dumbbell (section 5.3): with more flows than that, hosts have several.
HOSTS = 64
#: Columns of the tables.
_COLUMNS = (
    "queue, mean (kB) = queue_avg_bytes/1e3; p99 (kB) = queue_p99_bytes/1e3; "
    "slowdown, mean = fct_slowdown_avg; p99 = fct_slowdown_p99; unfair ratio = unfair_ratio; "
    "goodput = goodput; paused = pfc_pause_fraction; of all links (ms) = pfc_pause_ns/1e6; "
    "unfinished = unfinished_flows; unfair, lifetimes = unfair_ratio_lifetime"
)
#: Panels: name, words, divisor, scale of the axis.
_PANELS = (
    ("queue_avg_bytes", "queue, mean (kB)", 1e3, "log"),
    ("fct_slowdown_avg", "FCT slowdown, mean / flows", 1.0, "linear"),
    ("unfair_ratio", "unfair ratio", 1.0, "log"),
    ("goodput", "goodput", 1.0, "linear"),
)
#: The height of a ratio of 0, below all that are not.
_LEAST = 1e-6
#: The length of links by ``LINKS_NS``'s names, and flows.
_Case = tuple[str, int]


@dataclass(frozen=True)
class Spread:
    """One incast under one entry.

    Attributes:
        numbers: values of ``METRICS``.
        slowdowns: slowdowns of the finished flows.
        deviations: deviation of each flow's bandwidth from the mean, as a share of it, while all were active.
    """

    numbers: Measured
    slowdowns: Floats
    deviations: Floats


Spreads = dict[_Case, dict[str, Spread]]


def spread(results: Results) -> Spread:
    """Measures an incast."""
    bandwidths = common_bandwidths(results)
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    deviations = (bandwidths - mean) / mean if mean > 0 else np.zeros(0)
    return Spread(without_nan(measure(results, METRICS)), fct_slowdowns(results), deviations)


def measured(spreads: Spreads) -> dict[str, dict[str, dict[str, Measured]]]:
    """The numbers without series: by length of links, then by the thesis's name of each case."""
    return nested(
        {
            (links, title(flows)): {name: record.numbers for name, record in by_name.items()}
            for (links, flows), by_name in spreads.items()
        }
    )


def grids(simulated: Mapping[str, Table], published: Table) -> list[Grid]:
    """A table for each case; "thesis" rows if the thesis has numbers of an entry."""
    tables = []
    for (links, case), by_name in flat(simulated, 2):
        origins = (("here", by_name), ("thesis", published.get(case, {})))
        rows = (((x, origin), record[x]) for x in by_name for origin, record in origins if x in record)
        tables.append(grid(f"{case}, links of {links}", ("under", "origin"), _COLUMNS, rows))
    return tables


@experiment("fdcc-incast", spread)
def dumbbell(data: Data[Spreads]) -> Outcome:
    """4 to 1024 flows to one receiver over a dumbbell."""
    tables = measured(data.runs)
    by_flows = {n: tables[links][title(n)] for links, n in data.runs if links == IN_FIGURES}
    return Outcome(
        claims=judge(data.declared.claims, tables, data, TABLE_6_2),
        grids=grids(tables, TABLE_6_2),
        notes=data.notes,
        pictures={"fdcc-table-6-2": draw_table(by_flows)},
    )


def draw_table(simulated: Mapping[int, Mapping[str, Measured]]) -> Drawing:
    """Lines are ours, hollow marks the thesis's. Slowdowns are divided by the number of flows, which is the
    slowdown of flows that share the link and start together."""
    hollow = {"linestyle": "none", "fillstyle": "none"}
    ticks = {"xticks": list(simulated), "xticklabels": [f"{n}" for n in simulated]}
    all_panels: list[Panel] = []
    for key, words, divisor, scale in _PANELS:
        curves: list[Any] = []
        for name, look in styles(next(iter(simulated.values()))).items():
            heights = [_height(by_name[name], n, key, divisor) for n, by_name in simulated.items()]
            thesis = {n: TABLE_6_2[title(n)].get(name, {}) for n in simulated if title(n) in TABLE_6_2}
            marks = {"color": look.colour, "marker": look.marker, "markersize": 8, **hollow}
            curves += [(list(simulated), heights, name, look.of_points)]
            printed = [_height(record, n, key, divisor) for n, record in thesis.items()]
            curves += [(list(thesis), printed, None, marks)]
        if not all_panels:
            curves.append(([], [], "thesis", {"color": "#000000", "marker": "o", **hollow}))
        axes = labels("flows", words, xscale="log", yscale=scale, **ticks)
        all_panels.append(Panel(words, curves, axes, more=lambda axes: axes.minorticks_off()))
    return Drawing(all_panels, height=2.7)


def _height(record: Measured, flows: int, key: str, divisor: float) -> float:
    height = value(record, key) / divisor
    if not np.isfinite(height):
        return float("nan")
    if key == "unfair_ratio":
        return max(height, _LEAST)
    return height / flows if key.startswith("fct_slowdown") else height


@experiment("fdcc-fat-tree", spread)
def fat_tree(data: Data[Spreads]) -> Outcome:
    """48 to 768 flows to one receiver over a two-level fat-tree."""
    tables = measured(data.runs)
    in_figures = {n: by_name for (links, n), by_name in data.runs.items() if links == IN_FIGURES}
    rows = [
        (f"goodput, {case}, {links}, {name}", "", TABLE_6_1[case][name]["goodput"], value(record, "goodput"))
        for (links, case, name), record in flat(tables, 3)
        if name in TABLE_6_1[case]
    ]
    return Outcome(
        rows=[Row(*row, "Table 6.1") for row in rows],
        claims=fat_tree_claims(tables, data),
        grids=grids(tables, {}),
        notes=data.notes,
        pictures={
            "fdcc-fig-6-3a": _draw(in_figures, "slowdowns", "FCT slowdown"),
            "fdcc-fig-6-3b": _draw_pauses(in_figures),
            "fdcc-fig-6-3c": _draw(in_figures, "deviations", "bandwidth / mean − 1"),
        },
    )


def _draw_pauses(spreads: Mapping[int, Mapping[str, Spread]]) -> Drawing:
    """Fig. 6.3b, as a total: in the fat-tree it is links between switches that are paused, not one flow's."""
    flows = list(spreads)
    curves = {
        name: [value(record[name].numbers, "pfc_pause_ns") / 1e6 for record in spreads.values()]
        for name in spreads[flows[0]]
    }

    def more(axes: Axes) -> None:
        axes.set_yscale("symlog", linthresh=1.0)
        axes.set_xticks(flows, [f"{n}" for n in flows])
        axes.minorticks_off()

    axes = labels("flows", "ms", xscale="log", ylim=(0, None))
    return Drawing([Panel("paused time, all links together", marked(flows, curves), axes, more=more)], 1, 3.0)


def _draw(spreads: Mapping[int, Mapping[str, Spread]], what: str, words: str) -> Drawing:
    axes = labels(words, "share of flows", ylim=(0, 1.02))
    all_panels = []
    for n, by_name in spreads.items():
        curves = [
            step(*distribution(getattr(by_name[name], what)), name, look)
            for name, look in styles(by_name).items()
        ]
        all_panels.append(Panel(title(n), curves, axes))
    return Drawing(all_panels, 3, 3.0)


def fat_tree_claims(simulated: Mapping[str, Table], data: Data[Any]) -> dict[str, Verdict]:
    """Judges the declared claims, and first whether every entry sends pause frames."""
    last = title(FAT_TREE_FLOWS[-1])
    frames = {
        f"{links}, {name.upper()}": value(record, "pfc_frames")
        for (links, case, name), record in flat(simulated, 3)
        if case == last
    }
    return {
        "Every algorithm may trigger PFC (6.2; here: in the largest incast)": (
            all(x > 0 for x in frames.values()) if frames else None,
            f"pause frames: {listed(frames, ',.0f')}",
        ),
        **judge(declared("fdcc-fat-tree").claims, simulated, data, TABLE_6_1),
    }


def cases(sizes: str, name: str, scale: float) -> dict[tuple[str, Case], Scenario]:
    """The declared cases of an experiment with a workload."""
    scenarios = declared(name).cases(scale)
    return {(links, Case(sizes, load)): scenario for (links, load), scenario in scenarios.items()}


def outcome(figure: str, data: Data[dict[tuple[str, Case], dict[str, Load]]]) -> Outcome:
    """Slowdowns by size; ``figure`` is the thesis's, and drawn over the first length of links."""
    by_links = nested(data.runs)
    tables = nested(
        {
            (links, case.short): {name: load.numbers for name, load in by_name.items()}
            for (links, case), by_name in data.runs.items()
        }
    )
    first = by_links[IN_FIGURES]
    return Outcome(
        claims=judge(data.declared.claims, tables, data),
        grids=[
            replace(grid, title=f"{grid.title}, links of {links}")
            for links, loads in by_links.items()
            for grid in workloads.grids(loads)
        ],
        notes=(workloads.arrivals(first, data.scale * 2e6), *data.notes),
        pictures={f"fdcc-fig-{figure.replace('.', '-')}": workloads.draw_slowdowns(first)},
    )


WEBSEARCH, HADOOP = (
    experiment(
        name,
        workloads.measure,
        cases=partial(cases, sizes, name),
        title=f"{WORKLOADS[sizes]} at 20 to 80 % over a two-level fat-tree",
    )(partial(outcome, figure))
    for name, sizes, figure in (
        ("fdcc-websearch", "websearch", "6.4"),
        ("fdcc-hadoop", "fb_hadoop", "6.5"),
    )
)

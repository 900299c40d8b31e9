# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts over a fat-tree (Zhang 2023, Table 6.1 and Fig. 6.3)."""

from __future__ import annotations

from ns3_env.eval.paper.fdcc.contestants import NAMES, contestants
from ns3_env.eval.paper.fdcc.fat_tree_claims import claims
from ns3_env.eval.paper.fdcc.fat_tree_figures import draw_deviations, draw_pauses, draw_slowdowns
from ns3_env.eval.paper.fdcc.incast_numbers import csvs, incast, measured, spread
from ns3_env.eval.paper.fdcc.incast_tables import grids
from ns3_env.eval.paper.fdcc.play import play_all
from ns3_env.eval.paper.fdcc.theirs import FAT_TREE_FLOWS, TABLE_6_1
from ns3_env.eval.paper.fdcc.verdicts import Table, value
from ns3_env.eval.paper.outcome import Experiment, Outcome, Policies, Row, Say
from ns3_env.scenario.topology import FatTree2
from ns3_env.simulator import Simulator


def run(simulator: Simulator, scale: float, say: Say, policies: Policies | None = None) -> Outcome:
    """48-, 192- and 768-to-1 from three access switches to a host of the fourth, one seed."""
    who = contestants(policies or {})
    cases = {flows: incast(FatTree2(), flows, scale) for flows in FAT_TREE_FLOWS}
    found = play_all(simulator, cases, who, spread, say)
    table = measured(found)
    notes = (
        "As fdcc-incast: one seed, links of 1 µs, queue of the port with the longest mean. Each flow takes "
        "one of the shortest paths, by its hash.",
        "Fig. 6.3: over the flows of each incast; the thesis does not say which n it draws. (b) is the "
        "time for which PFC kept links silent, hosts' and switches' together, (c) how far a flow's bandwidth "
        "is from the mean while all flows are active.",
        *who.notes,
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
        Row(f"goodput, {case}, {name}", "", theirs[name]["goodput"], value(own, "goodput"), "Table 6.1")
        for case, by_name in table.items()
        for name, own in by_name.items()
        if name in NAMES and (theirs := TABLE_6_1[case])
    ]


EXPERIMENT = Experiment(
    "fdcc-fat-tree",
    "48 to 768 flows to one receiver over a two-level fat-tree",
    "Zhang 2023, Table 6.1 and Fig. 6.3",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    run,
    run,
)

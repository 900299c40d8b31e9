# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is fairest when n flows meet at one link? Incasts over a dumbbell (Zhang 2023, Table 6.2)."""

from __future__ import annotations

from eval.paper.fdcc.contestants import contestants
from eval.paper.fdcc.incast_claims import claims
from eval.paper.fdcc.incast_figures import draw
from eval.paper.fdcc.incast_numbers import csvs, incast, measured, spread
from eval.paper.fdcc.incast_tables import grids
from eval.paper.fdcc.play import play_all
from eval.paper.fdcc.theirs import DUMBBELL_FLOWS, TABLE_6_2
from eval.paper.outcome import Experiment, Outcome, Policies, Say
from ns3_env.simulator import Simulator
from ns3_env.topology import Dumbbell

#: Hosts of each side (section 5.3): beyond so many flows, each host has several.
HOSTS = 64


def run(simulator: Simulator, scale: float, say: Say, policies: Policies | None = None) -> Outcome:
    """4-, 16-, 256- and 1024-to-1, one seed: the same flows for every contestant."""
    who = contestants(policies or {})
    topology = Dumbbell(senders=HOSTS, receivers=HOSTS)
    cases = {flows: incast(topology, flows, scale) for flows in DUMBBELL_FLOWS}
    found = play_all(simulator, cases, who, spread, say)
    table = measured(found)
    notes = (
        "One seed. Starts are Gaussian with a standard deviation of a sixth of the spread, cut at its ends, "
        "and links have 1 µs; the thesis says neither.",
        "Queue: of the port with the longest mean, weighted by time, from the first start to the last end. "
        "Unfair ratio: over the time in which all flows are active; over whole lifetimes beside it. Goodput: "
        "payload, of the link while flows are there. Paused: share of flows' lives in which PFC kept their "
        "sender's link silent.",
        "DCQCN and TIMELY have at most a BDP in flight, as everybody has in the thesis (section 5.3).",
        *who.notes,
    )
    pictures = {
        "fdcc-table-6-2": draw(
            {n: {name: own.numbers for name, own in by_name.items()} for n, by_name in found.items()}
        )
    }
    return Outcome((), claims(table), grids(table, TABLE_6_2), notes, pictures, csvs(found), table)


EXPERIMENT = Experiment(
    "fdcc-incast",
    "4 to 1024 flows to one receiver over a dumbbell",
    "Zhang 2023, Table 6.2",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    run,
    run,
)

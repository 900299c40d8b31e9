# SPDX-License-Identifier: GPL-2.0-or-later
"""Experiment: incasts of 4 to 1024 flows over a dumbbell (Zhang 2023, Table 6.2)."""

from __future__ import annotations

from ns3_env.eval.paper.fdcc.contestants import contestants
from ns3_env.eval.paper.fdcc.incast_claims import claims
from ns3_env.eval.paper.fdcc.incast_figures import draw
from ns3_env.eval.paper.fdcc.incast_numbers import csvs, incast, measured, spread
from ns3_env.eval.paper.fdcc.incast_tables import grids
from ns3_env.eval.paper.fdcc.play import play_all
from ns3_env.eval.paper.fdcc.theirs import DUMBBELL_FLOWS, TABLE_6_2
from ns3_env.eval.paper.outcome import Experiment, Outcome, Policies, Say
from ns3_env.scenario.topology import Dumbbell
from ns3_env.simulator import Simulator

#: Hosts of each side (section 5.3): beyond so many flows, each host has several.
HOSTS = 64
#: The thesis's queues under RL-CC are n − 1 times 16.5 kB up to 256 flows: windows that stay at a BDP. Links
#: of so long have that BDP; the thesis does not say how long its are.
SHORT_NS, SHORT_FLOWS = 180, (4, 16, 256)


def run(simulator: Simulator, scale: float, say: Say, policies: Policies | None = None) -> Outcome:
    """4-, 16-, 256- and 1024-to-1, one seed: the same flows for every contestant; then over shorter links."""
    who = contestants(policies or {})
    topology = Dumbbell(senders=HOSTS, receivers=HOSTS)
    cases = {flows: incast(topology, flows, scale) for flows in DUMBBELL_FLOWS}
    found = play_all(simulator, cases, who, spread, say)
    table = measured(found)
    near = topology.model_copy(update={"delay_ns": SHORT_NS})
    cases = {flows: incast(near, flows, scale) for flows in SHORT_FLOWS}
    short = {_over_short(x): own for x, own in measured(play_all(simulator, cases, who, spread, say)).items()}
    theirs = {**TABLE_6_2, **{_over_short(x): own for x, own in TABLE_6_2.items()}}
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
        *who.notes,
    )
    pictures = {
        "fdcc-table-6-2": draw(
            {n: {name: own.numbers for name, own in by_name.items()} for n, by_name in found.items()}
        )
    }
    everything = {**table, **short}
    return Outcome((), claims(table), grids(everything, theirs), notes, pictures, csvs(found), everything)


def _over_short(case: str) -> str:
    return f"{case}, links of {SHORT_NS} ns"


EXPERIMENT = Experiment(
    "fdcc-incast",
    "4 to 1024 flows to one receiver over a dumbbell",
    "Zhang 2023, Table 6.2",
    0.1,
    "20 MB of each flow, and 1 ms within which they start",
    run,
    run,
)

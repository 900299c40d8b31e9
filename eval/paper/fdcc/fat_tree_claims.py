# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's claims on incasts over the fat-tree, tested (Zhang 2023, section 6.2)."""

from __future__ import annotations

from ns3_env.eval.paper.fdcc.contestants import NAMES
from ns3_env.eval.paper.fdcc.incast_claims import WITH_RECORDS, WITHOUT
from ns3_env.eval.paper.fdcc.theirs import TABLE_6_1
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
from ns3_env.eval.paper.outcome import Claim


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

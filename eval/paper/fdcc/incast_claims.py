# SPDX-License-Identifier: GPL-2.0-or-later
"""The thesis's claims on Table 6.2, incasts over the dumbbell (Zhang 2023, section 6.2)."""

from __future__ import annotations

from ns3_env.eval.paper.fdcc.contestants import NAMES
from ns3_env.eval.paper.fdcc.theirs import TABLE_6_2
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
)
from ns3_env.eval.paper.outcome import Claim

#: Those whose packets carry a record of every hop, and those that the thesis compares them with.
WITH_RECORDS, WITHOUT = ("fdcc", "hpcc"), ("dcqcn", "timely")


def claims(ours: Table) -> tuple[Claim, ...]:
    """One for each sentence that numbers can decide; the thesis's own table is judged beside ours."""

    def both(text: str, who: tuple[str, ...], others: tuple[str, ...], key: str, wins: Wins) -> Claim:
        here, thesis = (tally(table, who, others, key, wins) for table in (ours, TABLE_6_2))
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
    here, theirs = (tally(table, ("hpcc",), others, "unfair_ratio", above) for table in (first, thesis))
    return claim(
        "HPCC is the least fair in a small incast (3.4, Table 6.2; here: 4-to-1)",
        here,
        theirs,
        listed(first, "unfair_ratio", NAMES),
    )

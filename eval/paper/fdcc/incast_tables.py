# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of an incast's numbers: a grid for each case, ours with the thesis's below."""

from __future__ import annotations

import math

from ns3_env.eval.paper.fdcc.verdicts import Table
from ns3_env.eval.paper.outcome import Grid, Measured

#: (name, heading, divisor) of the columns.
_COLUMNS = (
    ("qlen_avg", "queue, mean (kB)", 1e3),
    ("qlen_p99", "p99 (kB)", 1e3),
    ("fct_slowdown_avg", "slowdown, mean", 1),
    ("fct_slowdown_p99", "p99", 1),
    ("unfair_ratio", "unfair ratio", 1),
    ("goodput", "goodput", 1),
    ("pause_fraction", "paused", 1),
    ("unfinished", "unfinished", 1),
    ("unfair_ratio_lifetime", "unfair, lifetimes", 1),
)


def grids(ours: Table, theirs: Table) -> list[Grid]:
    """One for each case; "thesis" rows where the thesis has numbers of a contestant."""
    found = []
    for case, by_name in ours.items():
        rows: list[tuple[str | float, ...]] = []
        for name, own in by_name.items():
            rows.append((name, "here", *_cells(own)))
            if name in theirs.get(case, {}):
                rows.append((name, "thesis", *_cells(theirs[case][name])))
        found.append(Grid(case, ("under", "origin", *(heading for _, heading, _ in _COLUMNS)), rows))
    return found


def _cells(own: Measured) -> list[float]:
    numbers = ((own.get(name), divisor) for name, _, divisor in _COLUMNS)
    return [math.nan if x is None else x / divisor for x, divisor in numbers]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Combines an experiment's outcomes over seeds: intervals, and the seeds for which a claim is true."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.eval.papers.outcome import deviation
from ns3_env.eval.papers.verdicts import all_hold

#: An outcome in the form of its JSON (``Outcome.as_dict``).
Json = Mapping[str, Any]


def parse_seeds(text: str) -> range:
    """Returns the seeds of "3" or "1-5".

    Raises:
        ScenarioError: it is neither, or a seed is below 1.
    """
    first, _, last = text.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal()) or not 1 <= int(first) <= int(last or first):
        raise ScenarioError(f"--seeds: must be a number from 1 on, or two as in 1-5, is {text!r}")
    return range(int(first), int(last or first) + 1)


def combine(outcomes: Sequence[Json]) -> dict[str, Any]:
    """Returns one outcome of several seeds; that of a single seed is as it was.

    A number becomes {"mean", "low", "high"} with the 95 % bootstrap interval of its mean. A claim is true if
    it is with every seed. Notes and pictures are the first seed's.
    """
    first = outcomes[0]
    if len(outcomes) == 1:
        return dict(first)
    return {
        **first,
        "rows": [_row(rows) for rows in zip(*(x["rows"] for x in outcomes), strict=True)],
        "grids": [_grid(grids) for grids in zip(*(x["grids"] for x in outcomes), strict=True)],
        "claims": [_claim(claim["text"], outcomes) for claim in first["claims"]],
    }


def _row(rows: Sequence[Json]) -> dict[str, Any]:
    interval = _interval([row["ours"] for row in rows])
    mean = math.nan if interval is None else interval["mean"]
    return {**rows[0], "ours": interval, "deviation": deviation(rows[0]["published"], mean)}


def _grid(grids: Sequence[Json]) -> Json:
    """Combines a table over seeds; if the rows differ between seeds, it is the first seed's, with a note."""
    titles = [[[x for x in row if isinstance(x, str)] for row in grid["rows"]] for grid in grids]
    if any(each != titles[0] for each in titles):
        return {**grids[0], "title": f"{grids[0]['title']} (the first seed)"}
    rows = [
        [cells[0] if isinstance(cells[0], str) else _interval(cells) for cells in zip(*rows, strict=True)]
        for rows in zip(*(grid["rows"] for grid in grids), strict=True)
    ]
    return {**grids[0], "rows": rows}


def _interval(values: Sequence[float | None]) -> dict[str, float] | None:
    """Mean and interval over the seeds that define the number; None if no seed does."""
    defined = np.array([x for x in values if x is not None], dtype=np.float64)
    if not len(defined):
        return None
    mean = float(defined.mean())
    low, high = bootstrap_interval(defined) if len(defined) > 1 else (mean, mean)
    return {"mean": mean, "low": low, "high": high}


def _claim(text: str, outcomes: Sequence[Json]) -> dict[str, Any]:
    verdicts = [claim for outcome in outcomes for claim in outcome["claims"] if claim["text"] == text]
    holds = [claim["holds"] for claim in verdicts]
    evidence = verdicts[0]["evidence"]
    if set(holds) != {None}:
        evidence = f"holds in {holds.count(True)} of {len(outcomes)}; the first: {evidence}"
    return {"text": text, "holds": all_hold(holds), "evidence": evidence}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Constant window of one BDP as a yardstick, and comparisons of policies with it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.statistics import Difference, least_pairs, paired
from ns3_env.eval.episodes.entry import Entry
from ns3_env.scenario import Controller

#: What a policy that learned nothing easily looks like: every flow sends at line rate, one BDP at most.
CONSTANT_WINDOW = Controller(name="fixed-window", attributes={"WindowBdp": 1.0})
#: Its row in a table.
ROW = "constant window"

#: What is compared, and how a line calls it.
_COMPARED = {"fct_slowdown_avg": "slowdown", "queue_avg_bytes": "queue", "goodput": "goodput"}
#: A ratio this near to 1 is no difference, however sure it is: a policy's telemetry alone costs a percent.
_NO_DIFFERENCE = 0.02
_LEAST = least_pairs(len(_COMPARED))

Rows = Sequence[Mapping[str, float]]


def beside(name: str, rows: Rows, constant: Rows) -> str:
    """A line on a policy beside the constant window, from metrics of the same episodes under both."""
    found = _differences(rows, constant)
    count = f"{len(rows)} episode{'s' * (len(rows) != 1)}"
    if _all_alike(found):
        return f"{name} is within noise of a constant window of one BDP: {_listed(found)} over {count}"
    found_text = f"{name} beside a constant window of one BDP: {_listed(found)} over {count}"
    few = "" if len(rows) >= _LEAST else f"; fewer than {_LEAST} decide nothing: evaluation.episodes={_LEAST}"
    return found_text + few


def within_noise(folder: BenchFolder) -> Iterator[str]:
    """A line for each policy of a benchmark that has scenarios where it is within noise of a constant window
    of one BDP; none where no controller of the suite is that."""
    suite = folder.suite
    for case in suite.scenarios:
        entries = suite.entries_of(case)
        yardstick = next((entry.name for entry in entries if _is_constant(entry)), None)
        if yardstick is None:
            continue
        cells = {
            (cell.controller, cell.seed): cell.metrics for cell in folder.cells if cell.scenario == case.name
        }
        for entry in entries:
            both = [
                seed
                for seed in suite.seeds_of(case)
                if (entry.name, seed) in cells and (yardstick, seed) in cells
            ]
            if entry.controller is not None or not both:
                continue
            rows, constant = ([cells[name, seed] for seed in both] for name in (entry.name, yardstick))
            found = _differences(rows, constant)
            if _all_alike(found):
                yield f"{case.name}: {entry.name} is within noise of {yardstick}: {_listed(found)}"


def _is_constant(entry: Entry) -> bool:
    return entry.controller == CONSTANT_WINDOW.name and entry.attributes == CONSTANT_WINDOW.attributes


def _differences(rows: Rows, constant: Rows) -> dict[str, Difference]:
    """By what a line calls it; what no episode defines is left out."""
    found = {
        name: paired(
            np.array([row.get(metric, math.nan) for row in rows]),
            np.array([row.get(metric, math.nan) for row in constant]),
            comparisons=len(_COMPARED),
        )
        for metric, name in _COMPARED.items()
    }
    return {name: difference for name, difference in found.items() if difference.pairs}


def _all_alike(found: Mapping[str, Difference]) -> bool:
    return bool(found) and all(_alike(x) for x in found.values())


def _listed(found: Mapping[str, Difference]) -> str:
    return ", ".join(f"{name} {_shown(x)}" for name, x in found.items())


def _alike(found: Difference) -> bool:
    """Whether the interval reaches what is no difference; with too few pairs for one, the estimate itself."""
    none = (1 - _NO_DIFFERENCE, 1 + _NO_DIFFERENCE) if found.is_ratio else (0.0, 0.0)
    low, high = (found.low, found.high) if found.pairs >= _LEAST else (found.estimate, found.estimate)
    return low <= none[1] and high >= none[0]


def _shown(found: Difference) -> str:
    """ "× 0.940 (0.921–0.963)", or "+3 (−1 to 5)" where there are zeros; no interval of too few pairs."""
    form, joint = (".3f", "–") if found.is_ratio else ("+,.3g", " to ")
    estimate = ("× " if found.is_ratio else "") + format(found.estimate, form)
    if found.pairs < _LEAST:
        return estimate
    return f"{estimate} ({format(found.low, form)}{joint}{format(found.high, form)})"

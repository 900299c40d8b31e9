# SPDX-License-Identifier: GPL-2.0-or-later
"""Yardsticks: a constant window of one BDP, the share of the gap to the oracle closed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ns3_env.eval.benchmark.folder import BenchFolder
from ns3_env.eval.benchmark.statistics import Difference, least_pairs, paired
from ns3_env.policies.released import CONSTANT_WINDOW
from ns3_env.programs.transport import Transport

#: Row of the constant window in a table: a policy that learned nothing easily behaves like one.
ROW = "constant window"

#: Metrics to compare, and their names in a line.
_COMPARED = {"fct_slowdown_avg": "slowdown", "queue_avg_bytes": "queue", "goodput": "goodput"}
#: A ratio this near to 1 is no difference, however significant: a policy's telemetry headers cost a percent.
_NO_DIFFERENCE = 0.02
_LEAST = least_pairs(len(_COMPARED))

Rows = Sequence[Mapping[str, float]]


def beside(name: str, rows: Rows, constant: Rows) -> str:
    """A line on a policy compared with the constant window, from metrics of the same episodes under both."""
    differences = _differences(rows, constant)
    count = f"{len(rows)} episode{'s' * (len(rows) != 1)}"
    if _all_alike(differences):
        return f"{name} is within noise of a constant window of one BDP: {_listed(differences)} over {count}"
    found_text = f"{name} beside a constant window of one BDP: {_listed(differences)} over {count}"
    few = "" if len(rows) >= _LEAST else f"; fewer than {_LEAST} decide nothing: evaluation.episodes={_LEAST}"
    return found_text + few


def within_noise(folder: BenchFolder) -> Iterator[str]:
    """A line for each policy of a benchmark that is within noise of a constant window of one BDP
    in some scenarios; nothing without such a window in the suite."""
    suite = folder.suite
    for case in suite.scenarios:
        entries = suite.entries_of(case)
        constant = CONSTANT_WINDOW.name, CONSTANT_WINDOW.attributes
        yardstick = next((x.name for x in entries if (x.controller, x.attributes) == constant), None)
        if yardstick is None:
            continue
        base = {cell.seed: cell.metrics for cell in folder.cells_of(case.name, yardstick)}
        for entry in (entry for entry in entries if entry.controller is None):
            cells = [cell for cell in folder.cells_of(case.name, entry.name) if cell.seed in base]
            differences = _differences([x.metrics for x in cells], [base[x.seed] for x in cells])
            if _all_alike(differences):
                yield f"{case.name}: {entry.name} is within noise of {yardstick}: {_listed(differences)}"


def _differences(rows: Rows, constant: Rows) -> dict[str, Difference]:
    """Compares each metric, by the name in a line; metrics that no episode defines are left out."""
    differences = {
        name: paired(
            np.array([row.get(metric, math.nan) for row in rows]),
            np.array([row.get(metric, math.nan) for row in constant]),
            comparisons=len(_COMPARED),
        )
        for metric, name in _COMPARED.items()
    }
    return {name: difference for name, difference in differences.items() if difference.pairs}


def _all_alike(differences: Mapping[str, Difference]) -> bool:
    return bool(differences) and all(_alike(x) for x in differences.values())


def _listed(differences: Mapping[str, Difference]) -> str:
    """Lists them with their intervals, but for those of too few pairs."""
    return ", ".join(f"{name} {x.text(',.3g', x.pairs >= _LEAST)}" for name, x in differences.items())


def _alike(difference: Difference) -> bool:
    """Returns whether the interval (the estimate if pairs are too few) reaches the range of no difference."""
    none = (1 - _NO_DIFFERENCE, 1 + _NO_DIFFERENCE) if difference.is_ratio else (0.0, 0.0)
    ends = (difference.low, difference.high)
    low, high = ends if difference.pairs >= _LEAST else (difference.estimate,) * 2
    return low <= none[1] and high >= none[0]


#: The deployed controller of each transport.
DEPLOYED: Mapping[Transport, str] = {"rdma": "dcqcn", "tcp": "dctcp"}
ORACLE = "oracle"
#: The metric in which the gap is measured.
METRIC = "slowdown_charged"
HEADING = "way to the oracle (%)"


def ways(values: Mapping[str, Mapping[int, float]], transport: Transport) -> dict[str, float]:
    """Returns 100 ln(deployed / own) / ln(deployed / oracle) by name, of geometric means over the same seeds.

    Args:
        values: values of ``METRIC``, by name and seed.
        transport: transport of the scenario.

    Returns:
        0 for the deployed controller, 100 for the oracle, perhaps below 0 or above 100; NaN without a seed of
        both. Empty if either of the two was not run, or the oracle is no better.
    """
    base, best = values.get(DEPLOYED[transport], {}), values.get(ORACLE, {})
    shares = {name: _way(by_seed, base, best) for name, by_seed in values.items()}
    return shares if not math.isnan(shares.get(ORACLE, math.nan)) else {}


def _way(by_seed: Mapping[int, float], base: Mapping[int, float], best: Mapping[int, float]) -> float:
    seeds = [seed for seed in by_seed if seed in base and seed in best]
    logs = (
        np.log([[x[seed] for seed in seeds] for x in (base, by_seed, best)]).mean(axis=1) if seeds else None
    )
    if logs is None or not logs[0] > logs[2]:
        return math.nan
    return float(100 * (logs[0] - logs[1]) / (logs[0] - logs[2]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of an episode, each declared once, computed from the simulator's results.

A metric that the results (``ns3_env.simulator.results``) do not define (no flow finished, flows never all
active) is NaN. Definitions are in a file for each subject; their order here is that of tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ns3_env.eval.metrics import (  # noqa: F401, the order of tables
    convergence,
    goodput,
    job_times,
    losses,
    queues,
    slowdown,
)
from ns3_env.eval.metrics.registry import (
    METRICS,
    Metric,
    Shared,
    load_metrics,
    metric,
    own_metrics,
    own_names,
    own_sources,
)
from ns3_env.simulator.results import Results, groups_of, of_group

__all__ = [
    "METRICS",
    "OF_FLOWS",
    "TABLE",
    "Metric",
    "brief",
    "by_group",
    "line",
    "load_metrics",
    "mean",
    "measure",
    "metric",
    "own_metrics",
    "own_names",
    "own_sources",
    "without_nan",
]

#: Metrics of a line of a table that compares on one scenario.
TABLE = (
    "fct_slowdown_avg",
    "fct_slowdown_p99",
    "slowdown_charged",
    "queue_avg_bytes",
    "queue_p99_bytes",
    "goodput",
    "unfair_ratio",
    "unfair_ratio_lifetime",
    "jain_index",
    "pfc_frames",
    "pfc_pause_fraction",
    "unfinished_flows",
    "dropped_packets",
)

#: Metrics that need only flows, and so are a group's as well.
OF_FLOWS = (
    "fct_slowdown_avg",
    "fct_slowdown_p50",
    "fct_slowdown_p95",
    "fct_slowdown_p99",
    "slowdown_charged",
    "goodput",
    "pfc_pause_fraction",
    "unfinished_flows",
)


def measure(results: Results, names: Iterable[str] | None = None) -> dict[str, float]:
    """Metrics of one episode by name; NaN if the results do not define one.

    By default all metrics except those of a section (``Metric.section``) that the results lack.

    Raises KeyError for an unknown name.
    """
    shared = Shared(results)
    if names is None:
        names = [name for name, one in METRICS.items() if not one.section or one.section in results]
    return {name: float(METRICS[name].of(shared)) for name in names}


def line(results: Results) -> dict[str, float]:
    """The metrics of ``TABLE`` for one episode, those of sections that not all results have, and one's own.
    Percentiles interpolate linearly between order statistics."""
    more = [name for name, one in METRICS.items() if one.section and one.section in results]
    return measure(results, dict.fromkeys((*TABLE, *more, *own_names())))


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Metric by metric, the mean over the episodes that define it; counts of events are summed."""
    values: dict[str, float] = {}
    for name in rows[0]:
        column = np.array([row[name] for row in rows], dtype=np.float64)
        defined = column[~np.isnan(column)]
        if METRICS[name].over_episodes == "sum":
            values[name] = float(defined.sum())
        else:
            values[name] = float(defined.mean()) if len(defined) else math.nan
    return values


def by_group(
    results: Results, measured: Callable[[Results], Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Metrics of each group's flows as if there were no other flows; metrics of ports stay the network's.

    Args:
        results: results of an episode.
        measured: function from such results to metrics.

    Returns:
        Group -> metric -> value, with ``flows``, their number; empty if the scenario has no groups.
    """
    rows = {}
    for name in groups_of(results):
        group_results = of_group(results, name)
        rows[name] = {"flows": float(len(group_results["flows"]["src"])), **measured(group_results)}
    return rows


def without_nan(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers by name, for JSON: undefined ones are None, integers are written as such."""
    return {
        name: None if math.isnan(value) else int(value) if float(value).is_integer() else value
        for name, value in values.items()
    }


def brief(results: Results) -> dict[str, float]:
    """The few numbers a training run logs of each episode."""
    row = measure(results, ("fct_slowdown_avg", "queue_avg_bytes", "goodput", "unfinished_flows"))
    return {
        "fct_slowdown": row["fct_slowdown_avg"],
        "queue_bytes": row["queue_avg_bytes"],
        "goodput": row["goodput"],
        "unfinished_flows": row["unfinished_flows"],
    }

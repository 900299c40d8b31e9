# SPDX-License-Identifier: GPL-2.0-or-later
"""How good was an episode? Each metric of the field, defined once, from the simulator's results.

``results`` is the mapping the simulator writes at an episode's end: ``flows`` (columns: src, dst,
size_bytes, start_ns, end_ns, fct_ns, standalone_ns, acked_bytes, retransmitted_bytes, pause_ns; −1 where a
flow did not finish), ``queues`` (one record for each port), ``incast`` (the interval in which all flows were
active) and ``totals``. A metric that the results do not define (no flow finished, flows never all active) is
NaN.

The definitions stand by what they look at: ``flows``, ``queues``, ``fairness``,
``convergence``. Here are their names and what one line of a table holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from eval.metrics.convergence import Change, changes, convergence_ns, convergence_summary
from eval.metrics.fairness import incast_bandwidths, jain_index, lifetime_bandwidths, unfair_ratio
from eval.metrics.flows import (
    SIZE_BUCKETS,
    STATISTICS,
    Floats,
    Results,
    duration_ns,
    fct_slowdowns,
    fct_slowdowns_by_size,
    goodput,
    goodput_ceiling,
    statistics_of,
    total,
    unfinished_flows,
)
from eval.metrics.queues import bottleneck, link_utilisation, pfc_pause_fraction, pfc_pause_ns, queue_cdf
from eval.metrics.registry import METRICS, MetricInfo

__all__ = [
    "METRICS",
    "SIZE_BUCKETS",
    "STATISTICS",
    "Change",
    "Floats",
    "MetricInfo",
    "Metrics",
    "Results",
    "bottleneck",
    "brief",
    "changes",
    "compute",
    "convergence_ns",
    "convergence_summary",
    "duration_ns",
    "fct_slowdowns",
    "fct_slowdowns_by_size",
    "goodput",
    "goodput_ceiling",
    "incast_bandwidths",
    "jain_index",
    "lifetime_bandwidths",
    "link_utilisation",
    "mean",
    "measure",
    "pfc_pause_fraction",
    "pfc_pause_ns",
    "queue_cdf",
    "unfair_ratio",
    "unfinished_flows",
    "without_nan",
]


def measure(results: Results) -> dict[str, float]:
    """Every metric of ``METRICS`` for one episode; NaN where the results do not define it."""
    values = {**_core(results), **_more(results)}
    return {name: values[name] for name in METRICS}


def _core(results: Results) -> dict[str, float]:
    """What ``Metrics`` holds; cheap, for it is computed after every episode of a training."""
    slowdowns = statistics_of(fct_slowdowns(results))
    port = bottleneck(results)
    shared = incast_bandwidths(results)
    return {
        "fct_slowdown_avg": slowdowns["avg"],
        "fct_slowdown_p99": slowdowns["p99"],
        "queue_avg_bytes": _of(port, "mean_bytes"),
        "queue_p99_bytes": _of(port, "p99_bytes"),
        "goodput": goodput(results),
        "unfair_ratio": unfair_ratio(shared),
        "unfair_ratio_lifetime": unfair_ratio(lifetime_bandwidths(results)),
        "jain_index": jain_index(shared),
        "pfc_frames": int(results["totals"]["pfc_frames"]),
        "pfc_pause_fraction": pfc_pause_fraction(results),
        "unfinished_flows": unfinished_flows(results),
        "dropped_packets": int(results["totals"]["dropped_packets"]),
    }


def _more(results: Results) -> dict[str, float]:
    slowdowns = statistics_of(fct_slowdowns(results))
    port = bottleneck(results)
    values: dict[str, float] = {f"fct_slowdown_{name}": slowdowns[name] for name in ("p50", "p95")}
    for bucket, of_size in fct_slowdowns_by_size(results).items():
        values |= {f"fct_slowdown_{bucket}_{name}": x for name, x in statistics_of(of_size).items()}
    values |= {f"queue_{name}_bytes": _of(port, f"{name}_bytes") for name in ("p50", "p95", "max")}
    converged = convergence_summary(results)
    return values | {
        "link_utilisation": link_utilisation(results),
        "convergence_mean_ns": converged["mean_ns"],
        "convergence_max_ns": converged["max_ns"],
        "unconverged_changes": converged["never"],
        "pfc_pause_ns": pfc_pause_ns(results),
        "retransmitted_bytes": total(results, "retransmitted_bytes"),
        "timeouts": total(results, "timeouts"),
        "duration_ns": duration_ns(results),
    }


def _of(port: Mapping[str, float] | None, name: str) -> float:
    return math.nan if port is None else float(port.get(name, math.nan))


@dataclass(frozen=True)
class Metrics:
    """One row of the table; the field's metadata is its heading. Lengths in bytes, the rest without unit."""

    fct_slowdown_avg: float
    fct_slowdown_p99: float
    queue_avg_bytes: float
    queue_p99_bytes: float
    goodput: float
    unfair_ratio: float
    unfair_ratio_lifetime: float
    jain_index: float
    pfc_frames: float
    pfc_pause_fraction: float
    unfinished_flows: float
    dropped_packets: float

    def as_dict(self) -> dict[str, float | None]:
        """Numbers by name, for JSON: what is not defined is None."""
        return without_nan(asdict(self))


def without_nan(values: Mapping[str, float]) -> dict[str, float | None]:
    """Numbers by name, for JSON: what is not defined is None."""
    return {
        name: None if isinstance(value, float) and math.isnan(value) else value
        for name, value in values.items()
    }


def compute(results: Results) -> Metrics:
    """The table's metrics of one episode. Percentiles interpolate linearly between order statistics."""
    return Metrics(**_core(results))


def mean(rows: list[Metrics]) -> Metrics:
    """Metric by metric, the mean over episodes that define it; flows, frames and packets are summed."""
    summed = {"pfc_frames", "unfinished_flows", "dropped_packets"}
    values: dict[str, float] = {}
    for name in asdict(rows[0]):
        column = np.array([getattr(row, name) for row in rows], dtype=np.float64)
        defined = column[~np.isnan(column)]
        if name in summed:
            values[name] = int(defined.sum())
        else:
            values[name] = float(defined.mean()) if len(defined) else math.nan
    return Metrics(**values)


def brief(results: Results) -> dict[str, float]:
    """The few numbers a training run logs of each episode."""
    row = compute(results)
    return {
        "fct_slowdown": row.fct_slowdown_avg,
        "queue_bytes": row.queue_avg_bytes,
        "goodput": row.goodput,
        "unfinished_flows": row.unfinished_flows,
    }

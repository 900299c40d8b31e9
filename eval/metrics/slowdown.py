# SPDX-License-Identifier: GPL-2.0-or-later
"""FCT slowdown, over all flows and by size, and with the cost of unfinished flows so far."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ns3_env.eval.metrics.registry import declare_each, metric
from ns3_env.simulator.results import Floats, Results, charged_slowdowns, counted, flow_column

#: Sizes (bytes) at which the field cuts WebSearch and FB_Hadoop: (name, in words, above, up to).
SIZE_BUCKETS: tuple[tuple[str, str, float, float], ...] = (
    ("to_10kB", "≤ 10 kB", 0, 10_000),
    ("to_100kB", "10–100 kB", 10_000, 100_000),
    ("to_1MB", "100 kB–1 MB", 100_000, 1_000_000),
    ("over_1MB", "> 1 MB", 1_000_000, math.inf),
)

#: Statistics of a distribution: name -> percentile (None: the mean).
STATISTICS: dict[str, float | None] = {"avg": None, "p50": 50, "p95": 95, "p99": 99}
_WORDS = {"avg": "mean", "p50": "p50", "p95": "p95", "p99": "p99"}


def _finished(results: Results) -> npt.NDArray[np.bool_]:
    return counted(results) & (flow_column(results, "fct_ns") >= 0)


def fct_slowdowns(results: Results) -> Floats:
    """FCT / standalone FCT on the same path, of the counted flows that finished: (m,)."""
    fct, standalone = flow_column(results, "fct_ns"), flow_column(results, "standalone_ns")
    finished = _finished(results)
    slowdowns: Floats = fct[finished] / standalone[finished]
    return slowdowns


def fct_slowdowns_by_size(results: Results) -> dict[str, Floats]:
    """``fct_slowdowns`` of the flows in each of ``SIZE_BUCKETS``, by the bucket's name."""
    finished = _finished(results)
    sizes, slowdowns = flow_column(results, "size_bytes")[finished], fct_slowdowns(results)
    return {name: slowdowns[(sizes > above) & (sizes <= up_to)] for name, _, above, up_to in SIZE_BUCKETS}


def statistics_of(values: Floats) -> dict[str, float]:
    """Mean (avg), p50, p95 and p99, interpolated linearly between order statistics; NaN of nothing."""
    if not len(values):
        return dict.fromkeys(STATISTICS, math.nan)
    return {
        name: float(values.mean() if percent is None else np.percentile(values, percent))
        for name, percent in STATISTICS.items()
    }


def _overall(results: Results) -> dict[str, float]:
    return statistics_of(fct_slowdowns(results))


def _by_size(results: Results) -> dict[str, float]:
    return {
        f"{bucket}_{statistic}": value
        for bucket, slowdowns in fct_slowdowns_by_size(results).items()
        for statistic, value in statistics_of(slowdowns).items()
    }


declare_each(
    _overall,
    (
        (
            f"fct_slowdown_{name}",
            name,
            f"FCT slowdown, {word}",
            f"{word} over finished flows of FCT / FCT of the same flow alone",
        )
        for name, word in _WORDS.items()
    ),
    format=".2f",
    of_finished=True,
)
declare_each(
    _by_size,
    (
        (
            f"fct_slowdown_{bucket}_{name}",
            f"{bucket}_{name}",
            f"FCT slowdown of flows {words}, {word}",
            f"{word} over finished flows of {words} of FCT / FCT of the same flow alone",
        )
        for bucket, words, _, _ in SIZE_BUCKETS
        for name, word in _WORDS.items()
    ),
    format=".2f",
    of_finished=True,
)


@metric(
    "FCT slowdown, all charged",
    "mean over flows of FCT / FCT of the same flow alone; one that is cut: time lived / FCT alone + share of "
    "its bytes left",
    "lower",
    format=".2f",
)
def slowdown_charged(results: Results) -> float:
    """The mean of ``charged_slowdowns``: minus the mean return under the reward "slowdown"."""
    charged = charged_slowdowns(results)
    numbers = charged[~np.isnan(charged)]
    return float(numbers.mean()) if len(numbers) else math.nan

# SPDX-License-Identifier: GPL-2.0-or-later
"""How long did the flows take, and how much of the link did they fill? FCT slowdown, by size too, goodput."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Results = Mapping[str, Any]
Floats = npt.NDArray[np.float64]

#: Payload of a full packet and its headers, bytes (Ethernet 14, IPv4 20, UDP 8, RoCE and padding 6).
PAYLOAD_BYTES, HEADER_BYTES = 1000, 48

#: Sizes (bytes) at which the field cuts WebSearch and FB_Hadoop: (name, in words, above, up to).
SIZE_BUCKETS: tuple[tuple[str, str, float, float], ...] = (
    ("to_10kB", "≤ 10 kB", 0, 10_000),
    ("to_100kB", "10–100 kB", 10_000, 100_000),
    ("to_1MB", "100 kB–1 MB", 100_000, 1_000_000),
    ("over_1MB", "> 1 MB", 1_000_000, math.inf),
)

#: What is told of a distribution, and how.
STATISTICS: dict[str, float | None] = {"avg": None, "p50": 50, "p95": 95, "p99": 99}


def flow_column(results: Results, name: str) -> Floats:
    """A column of the results' flows: (n,)."""
    return np.asarray(results["flows"][name], dtype=np.float64)


def flow_ends(results: Results) -> Floats:
    """When each flow ended, ns; the episode's end where it did not: (n,)."""
    end = flow_column(results, "end_ns")
    return np.where(end < 0, float(results["totals"]["end_ns"]), end)


def fct_slowdowns(results: Results) -> Floats:
    """FCT / FCT of the same flow alone on the same path, of the flows that finished: (m,)."""
    fct, standalone = flow_column(results, "fct_ns"), flow_column(results, "standalone_ns")
    finished = fct >= 0
    slowdowns: Floats = fct[finished] / standalone[finished]
    return slowdowns


def fct_slowdowns_by_size(results: Results) -> dict[str, Floats]:
    """``fct_slowdowns`` of the flows in each of ``SIZE_BUCKETS``, by the bucket's name."""
    finished = flow_column(results, "fct_ns") >= 0
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


def unfinished_flows(results: Results) -> int:
    """Flows without an end. They are missing in every FCT figure, so the two are reported side by side."""
    return int(np.count_nonzero(flow_column(results, "fct_ns") < 0))


def total(results: Results, name: str) -> int:
    """The sum of a column over all flows; 0 where the results do not have it."""
    return int(sum(results["flows"].get(name, ())))


def duration_ns(results: Results) -> float:
    """From the first flow's start to the last one's end (to the episode's end where one did not finish)."""
    end = flow_column(results, "end_ns")
    last = float(results["totals"]["end_ns"]) if (end < 0).any() else float(end.max(initial=0.0))
    return last - float(flow_column(results, "start_ns").min(initial=last))


def goodput(results: Results) -> float:
    """Σ in-order payload bytes · 8 / (duration · Σ rates of the receivers' links), in [0,
    ``goodput_ceiling``].

    A receiver's link is the port whose peer is a flow's destination.
    """
    rate = {int(port["peer"]): float(port["rate_bps"]) for port in results["queues"]}
    receivers = sum(rate.get(int(dst), math.nan) for dst in set(results["flows"]["dst"]))
    seconds = duration_ns(results) / 1e9
    return (
        float(flow_column(results, "acked_bytes").sum()) * 8 / (seconds * receivers)
        if seconds > 0
        else math.nan
    )


def goodput_ceiling(telemetry_bytes: int) -> float:
    """Payload's share of the wire: 1000 / (1000 + 48 + telemetry); 0.954 without, 0.926 with 32 B."""
    return PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADER_BYTES + telemetry_bytes)

# SPDX-License-Identifier: GPL-2.0-or-later
"""How long were the queues, how busy the links, how often paused? The bottleneck port, and PFC."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from eval.metrics.flows import Floats, Results, duration_ns, flow_column, flow_ends

#: Percentiles that the simulator keeps of each port, where no series was recorded.
_KEPT = (("p50_bytes", 0.5), ("p95_bytes", 0.95), ("p99_bytes", 0.99), ("max_bytes", 1.0))


def bottleneck(results: Results) -> Mapping[str, Any] | None:
    """The port with the longest time-weighted mean queue (among equals, that sent most); None without."""
    queues = results["queues"]
    if not queues:
        return None
    longest: Mapping[str, Any] = max(queues, key=lambda port: (port["mean_bytes"], port["tx_bytes"]))
    return longest


def queue_cdf(port: Mapping[str, Any], points: int = 200) -> tuple[Floats, Floats]:
    """Share of time for which a port's queue was no longer than so many bytes.

    From the recorded series, whose samples are equally far apart, so that each stands for the same time; of
    a port without one, from the percentiles that the simulator keeps (time-weighted, four points).

    Args:
        port: one of the results' ``queues``.
        points: most points; more are thinned evenly, the first and the last stay.

    Returns:
        Lengths (bytes, ascending, all different) and shares in (0, 1]; the last share is 1.
    """
    series = port.get("series")
    if series and len(series["bytes"]):
        lengths, counts = np.unique(np.asarray(series["bytes"], dtype=np.float64), return_counts=True)
        shares = np.cumsum(counts) / counts.sum()
    else:
        kept = {float(port[name]): share for name, share in _KEPT if name in port}
        lengths, shares = np.array(sorted(kept)), np.array([kept[length] for length in sorted(kept)])
    if len(lengths) > points:
        chosen = np.unique(np.linspace(0, len(lengths) - 1, points).round().astype(int))
        lengths, shares = lengths[chosen], shares[chosen]
    return lengths, shares


def link_utilisation(results: Results) -> float:
    """Bytes that the bottleneck port sent · 8 / (duration · its rate); headers and resent bytes count."""
    port, seconds = bottleneck(results), duration_ns(results) / 1e9
    if port is None or seconds <= 0:
        return math.nan
    return float(port["tx_bytes"]) * 8 / (seconds * float(port["rate_bps"]))


def pfc_pause_fraction(results: Results) -> float:
    """Time PFC kept the flows' sender links paused / the flows' lifetimes, each summed over the flows."""
    life = float((flow_ends(results) - flow_column(results, "start_ns")).sum())
    return float(flow_column(results, "pause_ns").sum()) / life if life > 0 else math.nan


def pfc_pause_ns(results: Results) -> float:
    """Time for which PFC kept a link from sending, summed over all links (hosts' and switches')."""
    switches = sum(float(port.get("paused_ns", 0)) for port in results["queues"])
    return switches + float(results["totals"].get("host_pause_ns", 0))

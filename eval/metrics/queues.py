# SPDX-License-Identifier: GPL-2.0-or-later
"""Priority flow control (PFC), the bottleneck's queue, reordering and duplicates (RDMA), RTTs (TCP)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ns3_env.eval.metrics.registry import count, declare_each, metric
from ns3_env.simulator.results import Floats, Results, bottleneck, flow_column, flow_ends


@count("PFC pause frames", "pause frames sent by all switches", resolution=10)
def pfc_frames(results: Results) -> float:
    """Pause frames that switches sent, to hosts and to switches."""
    return float(results["totals"]["pfc_frames"])


@metric(
    "PFC pause time",
    "Σ over links of the time PFC kept them silent",
    "lower",
    unit="ns",
    format=",.0f",
    resolution=10_000,
)
def pfc_pause_ns(results: Results) -> float:
    """Time for which PFC kept a link from sending, summed over all links (hosts' and switches')."""
    switches = sum(float(port.get("paused_ns", 0)) for port in results["queues"])
    return switches + float(results["totals"].get("host_pause_ns", 0))


@metric(
    "PFC pause share",
    "Σ time flows' sender links were paused / Σ lifetimes",
    "lower",
    format=".3g",
    resolution=0.01,
)
def pfc_pause_fraction(results: Results) -> float:
    """Time PFC kept the flows' sender links paused / the flows' lifetimes, each summed over the flows."""
    life = float((flow_ends(results) - flow_column(results, "start_ns")).sum())
    return float(flow_column(results, "pause_ns").sum()) / life if life > 0 else math.nan


#: Percentiles that the simulator computes for each port; used if no series was recorded.
_KEPT = (("p50_bytes", 0.5), ("p95_bytes", 0.95), ("p99_bytes", 0.99), ("max_bytes", 1.0))


def queue_cdf(
    port: Mapping[str, Any], points: int = 200, span_ns: tuple[float, float] | None = None
) -> tuple[Floats, Floats]:
    """Share of time for which a port's queue was at most this many bytes.

    From the recorded series, whose samples are equally far apart, so that each represents the same time; for
    a port without one, from the percentiles that the simulator computes (time-weighted, four points).

    Args:
        port: one of the results' ``queues``.
        points: most points; more are thinned evenly, the first and the last stay.
        span_ns: start and end of the interval that counts, such as a measurement window; None: the whole
            series.

    Returns:
        Lengths (bytes, ascending, all different) and shares in (0, 1]; the last share is 1.
    """
    series = port.get("series")
    sampled = np.asarray(series["bytes"] if series else [], dtype=np.float64)
    if series and span_ns is not None:
        times = np.asarray(series["t_ns"], dtype=np.float64)
        sampled = sampled[(times >= span_ns[0]) & (times < span_ns[1])]
    if len(sampled):
        lengths, counts = np.unique(sampled, return_counts=True)
        shares = np.cumsum(counts) / counts.sum()
    else:
        shares_by_length = {float(port[name]): share for name, share in _KEPT if name in port}
        lengths, shares = (
            np.array(sorted(shares_by_length)),
            np.array([shares_by_length[length] for length in sorted(shares_by_length)]),
        )
    if len(lengths) > points:
        chosen = np.unique(np.linspace(0, len(lengths) - 1, points).round().astype(int))
        lengths, shares = lengths[chosen], shares[chosen]
    return lengths, shares


def _of_bottleneck(results: Results) -> Mapping[str, float]:
    return defaultdict(lambda: math.nan, bottleneck(results) or {})


_PORT = "time-weighted, of the port with the longest mean queue"
declare_each(
    _of_bottleneck,
    (
        ("queue_avg_bytes", "mean_bytes", "queue, mean", f"mean length, {_PORT}"),
        ("queue_p50_bytes", "p50_bytes", "queue, p50", f"median length, {_PORT}"),
        ("queue_p95_bytes", "p95_bytes", "queue, p95", f"95th percentile of the length, {_PORT}"),
        ("queue_p99_bytes", "p99_bytes", "queue, p99", f"99th percentile of the length, {_PORT}"),
        ("queue_max_bytes", "max_bytes", "queue, longest", "longest length of that port"),
    ),
    unit="B",
    format=",.0f",
    resolution=1000,
)


@metric(
    "out-of-order packets",
    "Σ data packets that came before an earlier one of their flow",
    "lower",
    format=",.0f",
    resolution=1,
    section="reordering",
)
def out_of_order_packets(results: Results) -> float:
    """Data packets that came before an earlier one of their flow."""
    return float(results["reordering"]["out_of_order_packets"])


@metric(
    "duplicates",
    "Σ payload bytes that came though their receiver had them",
    "lower",
    unit="B",
    format=",.0f",
    resolution=1000,
    section="reordering",
)
def duplicate_bytes(results: Results) -> float:
    """Payload bytes that came though their receiver had them."""
    return float(results["reordering"]["duplicate_bytes"])


def _rtts_us(results: Results) -> dict[str, float]:
    """Statistics of RTTs in µs; NaN if the results have no RTTs, or none was measured."""
    measured = results.get("rtt", {})
    values = {word: float(measured.get(f"{word}_ns", -1)) for word in ("mean", "p50", "p99")}
    return {word: value / 1e3 if value >= 0 else math.nan for word, value in values.items()}


declare_each(
    _rtts_us,
    (
        (
            f"rtt_{word}_us",
            word,
            f"RTT, {word}",
            f"{word} over all data segments of the RTT as senders measure it",
        )
        for word in ("mean", "p50", "p99")
    ),
    unit="µs",
    format=",.1f",
    resolution=1,
    section="rtt",
)

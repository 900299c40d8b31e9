# SPDX-License-Identifier: GPL-2.0-or-later
"""Convergence, the time to the fair share after a join or leave; duration of all flows; fairness."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ns3_env import _native
from ns3_env.eval.metrics.registry import Metric, declare, declare_each, metric
from ns3_env.simulator.results import (
    Floats,
    Results,
    Windows,
    bottleneck,
    flow_column,
    flow_ends,
    packet_bytes,
    stream_rates_bps,
    stream_times,
)

#: Rates are averaged over this number of base RTTs, so that oscillation around the fair share counts as fair.
BIN_RTTS = 10
#: Intervals between two changes that are shorter (bins) cannot tell convergence from chance.
MIN_BINS = 5
#: Means "as fast as possible".
_ANY_RATE = 1e15
#: Largest relative error of the bytes that the recorded windows and rates explain, of any flow.
MAX_UNEXPLAINED = 0.2


@dataclass(frozen=True)
class Change:
    """One change of the set of active flows, or of the background that they share the link with.

    Attributes:
        at_ns: time at which a flow or a stream started or ended.
        until_ns: time of the next change.
        active: flows (indices) that share the link until then.
        joined: true if a flow started and none ended.
        after_ns: time from ``at_ns`` until the share is fair and stays so; NaN if it never is before
            ``until_ns``.
    """

    at_ns: float
    until_ns: float
    active: tuple[int, ...]
    joined: bool
    after_ns: float


def allowed_bps(results: Results, windows: Windows) -> Floats:
    """The rate that each of these windows and pacing rates allows its flow: min(rate, 8 · window / base RTT),
    (n,)."""
    rtts = flow_column(results, "base_rtt_ns")[windows.flow]
    by_window = np.divide(8e9 * windows.window, rtts, out=np.full(len(rtts), np.inf), where=rtts > 0)
    rates: Floats = np.minimum(np.minimum(windows.rate, by_window), _ANY_RATE)
    return rates


def changes(results: Results, tolerance: float = 0.05) -> list[Change]:
    """Every change of the set of active flows and streams, and the time from each to a fair share.

    For flows into one receiver, whose bottleneck (rate C) all share. Flow i of the active set A is allowed
    x_i = min(rate_i, 8 · window_i / base RTT_i); a FIFO port serves y_i = x_i · min(1, C / (b + Σ x)), where
    b is the rate of streams to the same receiver (other streams may not share the port). Averaged over
    bins of ``BIN_RTTS`` base RTTs, the share is fair from the first bin from which on, until the next change,
    every |y_i − F| ≤ ``tolerance`` · F. The new fair share is F = S / |A|, where S is Σ y in the last quarter
    of the interval: a controller that aims at 95 % of the link (HPCC) is not penalised for that.

    Returns:
        The changes that can be judged: not the start of a first and only flow, nor one with less than
        ``MIN_BINS`` bins to the next. Empty if windows and rates were not recorded, flows have several
        receivers, or the recording does not explain the bytes delivered (``MAX_UNEXPLAINED``).
    """
    port = bottleneck(results)
    if port is None or len(set(results["flows"]["dst"])) != 1:
        return []
    windows = Windows.of(results)
    if not len(windows.time_ns):
        return []
    receiver = results["flows"]["dst"][0]
    into = [float(p["rate_bps"]) for p in results["queues"] if p["peer"] == receiver]
    capacity = min([float(port["rate_bps"]), *into])
    rtts = flow_column(results, "base_rtt_ns")
    starts, ends = flow_column(results, "start_ns"), flow_ends(results)
    step = BIN_RTTS * float(rtts.max())
    stream_starts, stream_ends = stream_times(results, receiver)
    edges = np.concatenate([stream_starts, stream_ends])
    edges = edges[(edges > starts.min()) & (edges < ends.max())]
    moments = np.unique(np.concatenate([starts, ends, edges]))
    if step <= 0 or len(moments) < 2:
        return []
    allowed = _steps(results, windows)
    stream_rates = stream_rates_bps(results, receiver)
    judged: list[Change] = []
    explained = np.zeros(len(starts))
    for number, (at, until) in enumerate(itertools.pairwise(moments)):
        active = np.flatnonzero((starts <= at) & (ends > at))
        if not len(active):
            continue
        bins = max(1, int((until - at) // step))
        running = (stream_starts <= at) & (stream_ends > at)
        beside = float(stream_rates[running].sum())
        served = allowed.served(active, np.linspace(at, until, bins + 1), capacity, beside)
        explained[active] += served.mean(axis=1) * (until - at) / 8e9
        if (number == 0 and len(active) == 1) or bins < MIN_BINS:
            continue
        settled = served[:, -max(1, bins // 4) :].sum(axis=0).mean()
        fair = settled / len(active)
        near = (np.abs(served - fair) <= tolerance * fair).all(axis=0)
        outside = np.flatnonzero(~near)
        first = int(outside[-1]) + 1 if len(outside) else 0
        after = first * (until - at) / bins if first < bins else math.nan
        joined = bool((starts == at).any() and not (ends == at).any())
        judged.append(Change(float(at), float(until), tuple(active.tolist()), joined, float(after)))
    wire = flow_column(results, "acked_bytes") * packet_bytes(results) / flow_column(results, "payload_bytes")
    unexplained = np.abs(explained - wire) > MAX_UNEXPLAINED * np.maximum(wire, 1.0)
    return [] if unexplained.any() else judged


def _steps(results: Results, windows: Windows) -> _native.Steps:
    """Rates that the recorded windows and rates allow each flow, as steps in time."""
    count = len(results["flows"]["src"])
    flow = windows.flow.astype(np.uint16 if count < 2**16 else np.int64)  # short ones are sorted by digits
    order = np.argsort(flow, kind="stable")  # rows are in the order of time
    begin = np.searchsorted(flow[order], np.arange(count + 1))
    return _native.Steps(begin, windows.time_ns[order], allowed_bps(results, windows)[order])


def convergence_summary(results: Results, tolerance: float = 0.05) -> dict[str, float]:
    """``mean_ns``, ``max_ns`` and ``never`` over ``changes``; NaN without a change to judge.

    A change after which the share never became fair counts with the whole time until the next change, a
    lower bound, so that leaving it out cannot flatter; ``never`` counts these changes.
    """
    judged = changes(results, tolerance)
    if not judged:
        return {"mean_ns": math.nan, "max_ns": math.nan, "never": math.nan}
    never = [math.isnan(change.after_ns) for change in judged]
    times = [
        change.until_ns - change.at_ns if missed else change.after_ns
        for change, missed in zip(judged, never, strict=True)
    ]
    return {"mean_ns": float(np.mean(times)), "max_ns": float(max(times)), "never": sum(never)}


declare_each(
    convergence_summary,
    (
        (
            "convergence_mean_ns",
            "mean_ns",
            "convergence, mean",
            "mean over joins and leaves of the time until all are within 5 % of the new fair share",
        ),
        (
            "convergence_max_ns",
            "max_ns",
            "convergence, longest",
            "longest time after a join or leave until all are within 5 % of the new fair share",
        ),
    ),
    unit="ns",
    format=",.0f",
    resolution=10_000,
)
_FORMULA = "joins and leaves after which the share was not fair before the next"
declare_each(
    convergence_summary,
    [("unconverged_changes", "never", "never converged", _FORMULA)],
    format=",.1f",
    resolution=1,
)


@metric(
    "duration",
    "first start to last end (the episode's end where a flow has none)",
    None,
    unit="ns",
    format=",.0f",
)
def duration_ns(results: Results) -> float:
    """Time from the first flow's start to the last one's end (to the episode's end if one did not finish)."""
    end = flow_column(results, "end_ns")
    last = float(results["totals"]["end_ns"]) if (end < 0).any() else float(end.max(initial=0.0))
    return last - float(flow_column(results, "start_ns").min(initial=last))


def unfair_ratio(bandwidths: Floats) -> float:
    """(BW_max − BW_avg) / BW_avg; 0 is fair (Zhang 2023, section 5.4)."""
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    return max(0.0, (float(bandwidths.max()) - mean) / mean) if mean > 0 else math.nan


def jain_index(bandwidths: Floats) -> float:
    """(Σ x)² / (n Σ x²); 1 is fair, 1/n is worst."""
    squares = float((bandwidths**2).sum())
    return float(bandwidths.sum()) ** 2 / (len(bandwidths) * squares) if squares > 0 else math.nan


def common_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s while all flows were active; empty if they never were."""
    start, end = results["all_active"]["interval_ns"]
    if start >= end:
        return np.zeros(0)
    received: Floats = np.asarray(results["all_active"]["received_bytes"], dtype=np.float64)
    bandwidths: Floats = received * 8e9 / (end - start)
    return bandwidths


def lifetime_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s over its whole life (to the episode's end if it did not finish)."""
    life = flow_ends(results) - flow_column(results, "start_ns")
    acked = flow_column(results, "acked_bytes")
    return np.divide(acked * 8e9, life, out=np.zeros_like(acked), where=life > 0)


def _unfair_ratios(results: Results) -> dict[str, float]:
    return {
        "common": unfair_ratio(common_bandwidths(results)),
        "lifetime": unfair_ratio(lifetime_bandwidths(results)),
    }


declare_each(
    _unfair_ratios,
    (
        (
            "unfair_ratio",
            "common",
            "unfair ratio",
            "(BW_max − BW_avg) / BW_avg while all flows are active",
        ),
        (
            "unfair_ratio_lifetime",
            "lifetime",
            "unfair ratio, lifetimes",
            "(BW_max − BW_avg) / BW_avg over whole lives",
        ),
    ),
    format=".2g",
    resolution=0.01,
)
declare(
    Metric(
        "jain_index",
        "Jain's index",
        "(Σ x)² / (n Σ x²) of bandwidths while all flows are active",
        lambda shared: jain_index(shared.once(common_bandwidths)),
        "higher",
    )
)

# SPDX-License-Identifier: GPL-2.0-or-later
"""How good was an episode? Each metric of the field, defined once, from the simulator's results.

``results`` is the mapping the simulator writes at an episode's end: ``flows`` (columns: src, dst,
size_bytes, start_ns, end_ns, fct_ns, standalone_ns, acked_bytes, retransmitted_bytes, pause_ns; −1 where a
flow did not finish), ``queues`` (one record for each port), ``incast`` (the interval in which all flows were
active) and ``totals``. A metric that the results do not define (no flow finished, flows never all active) is
NaN.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Results = Mapping[str, Any]
Floats = npt.NDArray[np.float64]

#: Payload of a full packet and its headers, bytes (Ethernet 14, IPv4 20, UDP 8, RoCE and padding 6).
PAYLOAD_BYTES, HEADER_BYTES = 1000, 48


def _flow_column(results: Results, name: str) -> Floats:
    return np.asarray(results["flows"][name], dtype=np.float64)


def fct_slowdowns(results: Results) -> Floats:
    """FCT / FCT of the same flow alone on the same path, of the flows that finished: (m,)."""
    fct, standalone = _flow_column(results, "fct_ns"), _flow_column(results, "standalone_ns")
    finished = fct >= 0
    slowdowns: Floats = fct[finished] / standalone[finished]
    return slowdowns


def unfinished_flows(results: Results) -> int:
    """Flows without an end. They are missing in every FCT figure, so the two are reported side by side."""
    return int(np.count_nonzero(_flow_column(results, "fct_ns") < 0))


def bottleneck(results: Results) -> Mapping[str, Any] | None:
    """The port with the longest time-weighted mean queue (among equals, that sent most); None without."""
    queues = results["queues"]
    if not queues:
        return None
    longest: Mapping[str, Any] = max(queues, key=lambda port: (port["mean_bytes"], port["tx_bytes"]))
    return longest


def duration_ns(results: Results) -> float:
    """From the first flow's start to the last one's end (to the episode's end where one did not finish)."""
    end = _flow_column(results, "end_ns")
    last = float(results["totals"]["end_ns"]) if (end < 0).any() else float(end.max(initial=0.0))
    return last - float(_flow_column(results, "start_ns").min(initial=last))


def goodput(results: Results) -> float:
    """Σ in-order payload bytes · 8 / (duration · Σ rates of the receivers' links), in [0,
    ``goodput_ceiling``].

    A receiver's link is the port whose peer is a flow's destination.
    """
    rate = {int(port["peer"]): float(port["rate_bps"]) for port in results["queues"]}
    receivers = sum(rate.get(int(dst), math.nan) for dst in set(results["flows"]["dst"]))
    seconds = duration_ns(results) / 1e9
    return (
        float(_flow_column(results, "acked_bytes").sum()) * 8 / (seconds * receivers)
        if seconds > 0
        else math.nan
    )


def goodput_ceiling(telemetry_bytes: int) -> float:
    """Payload's share of the wire: 1000 / (1000 + 48 + telemetry); 0.954 without, 0.926 with 32 B."""
    return PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADER_BYTES + telemetry_bytes)


def unfair_ratio(bandwidths: Floats) -> float:
    """(BW_max − BW_avg) / BW_avg; 0 is fair."""
    mean = float(bandwidths.mean()) if len(bandwidths) else 0.0
    return (float(bandwidths.max()) - mean) / mean if mean > 0 else math.nan


def jain_index(bandwidths: Floats) -> float:
    """(Σ x)² / (n Σ x²); 1 is fair, 1/n is worst."""
    squares = float((bandwidths**2).sum())
    return float(bandwidths.sum()) ** 2 / (len(bandwidths) * squares) if squares > 0 else math.nan


def incast_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s while all flows were active; empty where they never were."""
    start, end = results["incast"]["all_active_ns"]
    if start >= end:
        return np.zeros(0)
    acked: Floats = np.asarray(results["incast"]["acked_bytes_in_window"], dtype=np.float64)
    bandwidths: Floats = acked * 8e9 / (end - start)
    return bandwidths


def lifetime_bandwidths(results: Results) -> Floats:
    """Each flow's payload bit/s over its whole life (to the episode's end where it did not finish)."""
    end = _flow_column(results, "end_ns")
    end = np.where(end < 0, float(results["totals"]["end_ns"]), end)
    life = end - _flow_column(results, "start_ns")
    acked = _flow_column(results, "acked_bytes")
    return np.divide(acked * 8e9, life, out=np.zeros_like(acked), where=life > 0)


def pfc_pause_fraction(results: Results) -> float:
    """Time PFC kept the flows' sender links paused / the flows' lifetimes, each summed over the flows."""
    end = _flow_column(results, "end_ns")
    end = np.where(end < 0, float(results["totals"]["end_ns"]), end)
    life = float((end - _flow_column(results, "start_ns")).sum())
    return float(_flow_column(results, "pause_ns").sum()) / life if life > 0 else math.nan


def convergence_ns(results: Results, tolerance: float = 0.05) -> float:
    """Time from when all n flows are active until every window is and stays within ``tolerance`` of their
    mean.

    Needs the recorded windows (``windows``: rows of time ns, flow, window bytes, rate bit/s), else NaN.
    Looked at until the first flow ends; NaN where it never converges before.
    """
    start, end = results["incast"]["all_active_ns"]
    rows = results.get("windows")
    if not rows or start >= end:
        return math.nan
    windows = np.full(len(results["flows"]["src"]), math.nan)
    since = math.nan
    for time, flow, window, _ in sorted(rows, key=lambda row: row[0]):
        if time >= end:
            break
        windows[int(flow)] = window
        mean = windows.mean()
        close = bool(np.all(np.abs(windows - mean) <= tolerance * mean))  # NaN: a flow has no window yet
        if not close:
            since = math.nan
        elif math.isnan(since):
            since = max(time, start)
    return float(since - start)


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
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def compute(results: Results) -> Metrics:
    """All metrics of one episode. Percentiles interpolate linearly between order statistics."""
    slowdowns = fct_slowdowns(results)
    port = bottleneck(results)
    shared = incast_bandwidths(results)
    return Metrics(
        fct_slowdown_avg=float(slowdowns.mean()) if len(slowdowns) else math.nan,
        fct_slowdown_p99=float(np.percentile(slowdowns, 99)) if len(slowdowns) else math.nan,
        queue_avg_bytes=float(port["mean_bytes"]) if port else math.nan,
        queue_p99_bytes=float(port["p99_bytes"]) if port else math.nan,
        goodput=goodput(results),
        unfair_ratio=unfair_ratio(shared),
        unfair_ratio_lifetime=unfair_ratio(lifetime_bandwidths(results)),
        jain_index=jain_index(shared),
        pfc_frames=int(results["totals"]["pfc_frames"]),
        pfc_pause_fraction=pfc_pause_fraction(results),
        unfinished_flows=unfinished_flows(results),
        dropped_packets=int(results["totals"]["dropped_packets"]),
    )


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

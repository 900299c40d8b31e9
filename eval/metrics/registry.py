# SPDX-License-Identifier: GPL-2.0-or-later
"""What is each metric called, and which direction is good? Names, headings, units, formulas in a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eval.metrics.flows import SIZE_BUCKETS


@dataclass(frozen=True)
class MetricInfo:
    """What a table says of a metric.

    Attributes:
        name: key in ``measure`` and in a cell's metrics.json.
        heading: in words.
        unit: "" for a ratio or a count.
        formula: one line.
        better: which direction is good; None where neither is by itself.
        format: of the number, as ``format(value, ...)`` takes it.
    """

    name: str
    heading: str
    unit: str
    formula: str
    better: Literal["lower", "higher"] | None
    format: str


_WORDS = {"avg": "mean", "p50": "p50", "p95": "p95", "p99": "p99"}


def _slowdown_infos() -> list[MetricInfo]:
    infos = [
        MetricInfo(
            f"fct_slowdown_{name}",
            f"FCT slowdown, {word}",
            "",
            f"{word} over finished flows of FCT / FCT of the same flow alone",
            "lower",
            ".2f",
        )
        for name, word in _WORDS.items()
    ]
    infos += [
        MetricInfo(
            f"fct_slowdown_{bucket}_{name}",
            f"FCT slowdown of flows {words}, {word}",
            "",
            f"{word} over finished flows of {words} of FCT / FCT of the same flow alone",
            "lower",
            ".2f",
        )
        for bucket, words, _, _ in SIZE_BUCKETS
        for name, word in _WORDS.items()
    ]
    return infos


def _infos() -> list[MetricInfo]:
    info = MetricInfo
    port = "time-weighted, of the port with the longest mean queue"
    return [
        *_slowdown_infos(),
        info("queue_avg_bytes", "queue, mean", "B", f"mean length, {port}", "lower", ",.0f"),
        info("queue_p50_bytes", "queue, p50", "B", f"median length, {port}", "lower", ",.0f"),
        info("queue_p95_bytes", "queue, p95", "B", f"95th percentile of the length, {port}", "lower", ",.0f"),
        info("queue_p99_bytes", "queue, p99", "B", f"99th percentile of the length, {port}", "lower", ",.0f"),
        info("queue_max_bytes", "queue, longest", "B", "longest length of that port", "lower", ",.0f"),
        info(
            "goodput", "goodput", "", "in-order payload · 8 / (duration · receivers' links)", "higher", ".3f"
        ),
        info(
            "link_utilisation",
            "link utilisation",
            "",
            "bytes sent by the bottleneck · 8 / (duration · its rate)",
            "higher",
            ".3f",
        ),
        info(
            "unfair_ratio",
            "unfair ratio",
            "",
            "(BW_max − BW_avg) / BW_avg while all flows are active",
            "lower",
            ".2g",
        ),
        info(
            "unfair_ratio_lifetime",
            "unfair ratio, lifetimes",
            "",
            "(BW_max − BW_avg) / BW_avg over whole lives",
            "lower",
            ".2g",
        ),
        info(
            "jain_index",
            "Jain's index",
            "",
            "(Σ x)² / (n Σ x²) of bandwidths while all flows are active",
            "higher",
            ".3f",
        ),
        info(
            "convergence_mean_ns",
            "convergence, mean",
            "ns",
            "mean over joins and leaves of the time until all are within 5 % of the new fair share",
            "lower",
            ",.0f",
        ),
        info(
            "convergence_max_ns",
            "convergence, longest",
            "ns",
            "longest time after a join or leave until all are within 5 % of the new fair share",
            "lower",
            ",.0f",
        ),
        info(
            "unconverged_changes",
            "never converged",
            "",
            "joins and leaves after which the share was not fair before the next",
            "lower",
            ",.1f",
        ),
        info("pfc_frames", "PFC pause frames", "", "pause frames sent by all switches", "lower", ",.0f"),
        info(
            "pfc_pause_ns",
            "PFC pause time",
            "ns",
            "Σ over links of the time PFC kept them silent",
            "lower",
            ",.0f",
        ),
        info(
            "pfc_pause_fraction",
            "PFC pause share",
            "",
            "Σ time flows' sender links were paused / Σ lifetimes",
            "lower",
            ".3g",
        ),
        info("retransmitted_bytes", "retransmitted", "B", "Σ payload bytes sent again", "lower", ",.0f"),
        info("timeouts", "time-outs", "", "Σ retransmission time-outs of all flows", "lower", ",.0f"),
        info(
            "dropped_packets", "dropped packets", "", "packets lost in switches and on links", "lower", ",.0f"
        ),
        info(
            "unfinished_flows",
            "unfinished flows",
            "",
            "flows without an end at the time limit",
            "lower",
            ",.1f",
        ),
        info(
            "duration_ns",
            "duration",
            "ns",
            "first start to last end (the episode's end where a flow has none)",
            None,
            ",.0f",
        ),
    ]


#: Every metric of a cell, by name, in the order in which a table shows them.
METRICS: dict[str, MetricInfo] = {info.name: info for info in _infos()}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Losses: dropped packets, time-outs, unfinished flows; failures and reordering with several paths."""

from __future__ import annotations

import math

import numpy as np

from ns3_env.eval.metrics.registry import count, metric
from ns3_env.simulator.results import Results, counted, endless, flow_column


@metric("retransmitted", "Σ payload bytes sent again", "lower", unit="B", format=",.0f", resolution=1000)
def retransmitted_bytes(results: Results) -> float:
    """Payload bytes sent again, over all flows."""
    return float(sum(results["flows"].get("retransmitted_bytes", ())))


@metric("time-outs", "Σ retransmission time-outs of all flows", "lower", format=",.0f", resolution=1)
def timeouts(results: Results) -> float:
    """Retransmission time-outs, over all flows."""
    return float(sum(results["flows"].get("timeouts", ())))


@count("dropped packets", "packets lost in switches and on links")
def dropped_packets(results: Results) -> float:
    """Packets lost in switches and on links."""
    return float(results["totals"]["dropped_packets"])


def lost_by(results: Results, cause: str) -> float:
    """Packets lost by one cause of ``ns3_env.simulator.results``."""
    return float(sum(lost["packets"] for lost in results.get("losses", ()) if lost["cause"] == cause))


@count("lost to full buffers", "packets for which a switch had no room")
def buffer_losses(results: Results) -> float:
    """Packets for which a switch had no room: of the dropped ones, those that a full buffer cost."""
    return lost_by(results, "buffer_full")


@count("lost on links", "packets lost on links, as loss_probability and corruption have it")
def link_losses(results: Results) -> float:
    """Packets lost on links that corrupt them."""
    return lost_by(results, "link")


@metric(
    "unfinished flows",
    "flows without an end at the time limit",
    "lower",
    format=",.1f",
    over_episodes="sum",
    resolution=1,
)
def unfinished_flows(results: Results) -> float:
    """Flows without an end. They are missing in every FCT figure, so the two are reported side by side.

    Flows that never end by themselves are not among them. With a measurement window, as those figures, of the
    flows that start within it.
    """
    missing = counted(results) & ~endless(results) & (flow_column(results, "fct_ns") < 0)
    return float(np.count_nonzero(missing))


SECTION = "paths"


@count("lost to failures", "packets lost to links and switches that were down", section=SECTION)
def failure_losses(results: Results) -> float:
    """Packets lost by a failed link or switch: on the wire, waiting, or sent to it; or without a path."""
    return lost_by(results, "failure")


@metric(
    "reordered packets",
    "data packets that arrived after one that was sent later / those that arrived",
    "lower",
    format=".2%",
    resolution=0.001,
    section=SECTION,
)
def reordered_fraction(results: Results) -> float:
    """Share of the data packets that arrived after one that was sent later (RFC 4737)."""
    paths = results.get(SECTION, {"arrived_packets": 0})
    arrivals = paths["arrived_packets"]
    return float(paths["reordered_packets"] / arrivals) if arrivals else math.nan


@metric(
    "reorder distance",
    "most packets between one and the first that overtook it",
    "lower",
    format=",.0f",
    resolution=1,
    section=SECTION,
)
def reorder_distance(results: Results) -> float:
    """The most packets that arrived between one and the first that overtook it."""
    return float(results[SECTION]["reorder_distance"]) if SECTION in results else math.nan

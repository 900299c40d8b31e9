# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets out of order and bytes that came twice (RDMA), and round-trip times (TCP)."""

from __future__ import annotations

import math
from functools import partial

from ns3_env.eval.metrics.registry import Metric, Shared, declare


def _total(shared: Shared, key: str) -> float:
    return float(shared.results["reordering"][key])


for _name, _heading, _formula, _unit, _resolution in (
    (
        "out_of_order_packets",
        "out-of-order packets",
        "Σ data packets that came before an earlier one of their flow",
        "",
        1,
    ),
    (
        "duplicate_bytes",
        "duplicates",
        "Σ payload bytes that came though their receiver had them",
        "B",
        1000,
    ),
):
    declare(
        Metric(
            _name,
            _heading,
            _formula,
            partial(_total, key=_name),
            "lower",
            _unit,
            ",.0f",
            resolution=_resolution,
            section="reordering",
        )
    )


def _of_samples(shared: Shared, key: str) -> float:
    """A value in µs; NaN if the results have no RTTs, or none was measured."""
    value = float(shared.results.get("rtt", {}).get(key, -1))
    return value / 1e3 if value >= 0 else math.nan


for _name, _key, _word in (
    ("rtt_mean_us", "mean_ns", "mean"),
    ("rtt_p50_us", "p50_ns", "p50"),
    ("rtt_p99_us", "p99_ns", "p99"),
):
    declare(
        Metric(
            _name,
            f"RTT, {_word}",
            f"{_word} over all data segments of the RTT as senders measure it",
            partial(_of_samples, key=_key),
            "lower",
            "µs",
            ",.1f",
            resolution=1,
            section="rtt",
        )
    )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Packets out of order and bytes that came twice, as receivers of RDMA's flows count them."""

from __future__ import annotations

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of a job of two ranks, as a simulator returns them."""

from typing import Any


def two_ranks(last_ns: int = 90) -> dict[str, Any]:
    """Rank 0 computes until 40, rank 1 until 60; each sends to the other, until 80 and ``last_ns``."""
    return {
        "flows": {"start_ns": [40, 60], "delivered_ns": [80, last_ns]},
        "steps": {"start_ns": [0, 0], "end_ns": [40, 60]},
        "jobs": {
            "names": ["a"],
            "parts": ["ring", "compute"],
            "job": [0] * 4,
            "iteration": [0] * 4,
            "part": [0, 0, 1, 1],
            "rank": [0, 1, 0, 1],
            "peer": [1, 0, -1, -1],
        },
        "totals": {"end_ns": 100},
    }

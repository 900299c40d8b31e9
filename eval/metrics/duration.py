# SPDX-License-Identifier: GPL-2.0-or-later
"""Duration of all flows."""

from __future__ import annotations

from ns3_env.eval.metrics.registry import metric
from ns3_env.simulator.results import Results, flow_column


@metric(
    "duration",
    "first start to last end (the episode's end where a flow has none)",
    None,
    unit="ns",
    format=",.0f",
)
def duration_ns(results: Results) -> float:
    """From the first flow's start to the last one's end (to the episode's end where one did not finish)."""
    end = flow_column(results, "end_ns")
    last = float(results["totals"]["end_ns"]) if (end < 0).any() else float(end.max(initial=0.0))
    return last - float(flow_column(results, "start_ns").min(initial=last))

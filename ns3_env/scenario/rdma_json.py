# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON sections that only the RDMA simulator reads: timing, switches and packets."""

from __future__ import annotations

from typing import Any

from ns3_env.scenario.declared import CONGESTION_POINTS, MARKING
from ns3_env.scenario.derived import buffer_bytes, headroom_frames, min_rate_bps, most_kmax_bytes, timing
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.topology import Network


def rdma_sections(scenario: ScenarioFields, network: Network, controllers: list[int]) -> dict[str, Any]:
    """RDMA's keys; ``controllers``: each flow's, as an index."""
    points, ecn = CONGESTION_POINTS.of(scenario, controllers), MARKING.of(scenario, controllers)
    marking = None
    if ecn is not None:
        most = most_kmax_bytes(scenario, network, ecn)
        marking = {**ecn.model_dump(), **({} if most is None else {"most_kmax_bytes": most})}
    content: dict[str, Any] = {
        "timing": timing(scenario),
        "payload_bytes": scenario.payload_bytes,
        "priority_group": next(iter(scenario.traffic.priority_groups())),
        "switch": {
            **scenario.switch.model_dump(),
            "buffer_bytes": buffer_bytes(scenario, network),
            "headroom_frames": headroom_frames(scenario),
            "ecn": marking,
            "congestion_points": None if points is None else points.model_dump(),
        },
        "retransmission_timeout_ns": scenario.retransmission_timeout_ns,
    }
    min_rate = min_rate_bps(scenario, network)
    if min_rate is not None:
        content["min_rate_bps"] = min_rate
    return content

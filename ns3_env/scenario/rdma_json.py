# SPDX-License-Identifier: GPL-2.0-or-later
"""What does the simulator of RDMA read beside what both transports do? Timing, switches and packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ns3_env.scenario.declared import CONGESTION_POINTS, MARKING
from ns3_env.scenario.derived import buffer_bytes, headroom_frames, marking, min_rate_bps, timing
from ns3_env.topology import Network

if TYPE_CHECKING:
    from ns3_env.scenario.scenario import Scenario


def rdma_sections(scenario: Scenario, network: Network, controllers: list[int]) -> dict[str, Any]:
    """RDMA's keys; ``controllers``: each flow's, as an index."""
    declared = {
        MARKING.key: marking(scenario, network, MARKING.of(scenario, controllers)),
        CONGESTION_POINTS.key: CONGESTION_POINTS.of(scenario, controllers),
    }
    content: dict[str, Any] = {
        "timing": timing(scenario),
        "payload_bytes": scenario.payload_bytes,
        "switch": {
            **scenario.switch.model_dump(),
            "buffer_bytes": buffer_bytes(scenario, network),
            "headroom_frames": headroom_frames(scenario),
            **{key: None if value is None else value.model_dump() for key, value in declared.items()},
        },
        "retransmission_timeout_ns": scenario.retransmission_timeout_ns,
    }
    min_rate = min_rate_bps(scenario, network)
    if min_rate is not None:
        content["min_rate_bps"] = min_rate
    return content

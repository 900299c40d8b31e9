# SPDX-License-Identifier: GPL-2.0-or-later
"""A star of eight hosts, with only a job's traffic, and the duration of a message there."""

from typing import Any

from ns3_env.scenario import Scenario

RATE_GBPS, DELAY_NS = 100, 1000


def scenario(topology: dict[str, Any] | None = None, **traffic: Any) -> Scenario:
    """This traffic under windows that never fill, on another topology if one is named."""
    star = {"kind": "leaf_spine", "leaves": 1, "spines": 1, "hosts_per_leaf": 8}
    star |= {"rate_bps": f"{RATE_GBPS}Gbps", "delay_ns": DELAY_NS}
    controllers = [{"name": "fixed-window", "attributes": {"WindowBdp": 1000}}]
    content = {"topology": topology or star, "controllers": controllers, "traffic": traffic}
    return Scenario.from_mapping({**content, "time_limit_ns": "1s"}, "x")


def one_way_ns(size_bytes: int) -> float:
    """A message of whole packets (1000 B, 48 B of headers): its bytes, a packet at the switch, two links."""
    return (size_bytes // 1000 + 1) * 1048 * 8 / RATE_GBPS + 2 * DELAY_NS

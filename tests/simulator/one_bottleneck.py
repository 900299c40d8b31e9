# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows over one bottleneck of 100 Gb/s, and the times of their closed forms."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ns3_env.scenario import Scenario
from ns3_env.simulator.results import Floats


def dumbbell(controller: str, senders: int, flows: Sequence[Mapping[str, Any]], **more: Any) -> Scenario:
    data = {
        "topology": {"kind": "dumbbell", "senders": senders},
        "traffic": {"kind": "list", "flows": [{"dst": senders, **flow} for flow in flows]},
        "controllers": [controller],
        "time_limit_ns": 100_000_000,
        **more,
    }
    return Scenario.from_mapping(data, "closed")


def waited(results: Mapping[str, Any]) -> Floats:
    """Waiting time of each flow in ns: its FCT minus its standalone FCT."""
    flows = results["flows"]
    return np.array(flows["fct_ns"], float) - np.array(flows["standalone_ns"], float)


def work_ns(size_bytes: int) -> float:
    """Time of a flow's bytes at the bottleneck, with headers."""
    return (size_bytes + 48 * -(-size_bytes // 1000)) * 8 / 100

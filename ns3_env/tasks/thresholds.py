# SPDX-License-Identifier: GPL-2.0-or-later
"""Network and traffic of the task whose agents set ECN thresholds of ports."""

from __future__ import annotations

from ns3_env.tasks.draws import Keys, Random, log_uniform

_HOSTS = 16
_DURATION_NS = 3_000_000


def thresholds(random: Random) -> Keys:
    """WebSearch, Hadoop or incasts under DCQCN for 3 ms, 16 hosts at 25 Gb/s; agents at all 20 ports."""
    kind = random.integers(3)
    background = {
        "kind": "poisson",
        "sizes": "fb_hadoop" if kind == 1 else "websearch",
        "load": 0.2 if kind == 2 else random.uniform(0.3, 0.7),
        "duration_ns": _DURATION_NS,
    }
    parts = [background, *([{"kind": "list", "flows": _incasts(random)}] if kind == 2 else [])]
    return {
        "time_limit_ns": "8ms",
        "topology": {
            "kind": "leaf_spine",
            "leaves": 2,
            "spines": 1,
            "hosts_per_leaf": _HOSTS // 2,
            "rate_bps": "25Gbps",
            "uplink_bps": "100Gbps",
        },
        "traffic": {"kind": "mix", "parts": parts},
        "controllers": ["dcqcn"],
        "switch": {"ecn_agents": {"interval_ns": 50_000}},
    }


def _incasts(random: Random) -> list[Keys]:
    """Each half a millisecond 4 to 15 hosts send 50 to 500 kB each to another one."""
    flows = []
    for start in range(100_000, _DURATION_NS, 500_000):
        receiver, *senders = random.permutation(_HOSTS)[: int(random.integers(5, _HOSTS + 1))].tolist()
        size = round(log_uniform(random, 5e4, 5e5))
        flows += [
            {
                "src": sender,
                "dst": receiver,
                "start_ns": start + round(random.uniform(0, 10_000)),
                "size_bytes": size,
            }
            for sender in senders
        ]
    return flows

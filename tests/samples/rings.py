# SPDX-License-Identifier: GPL-2.0-or-later
"""Rings of switches in which PFC pauses come to wait for each other."""

from typing import Any


def ring(switches: int, **changes: Any) -> dict[str, Any]:
    """Switches in a ring with two hosts each, which send two switches further: no path leads back."""
    link = {"rate_bps": "100Gbps", "delay_ns": "1us"}
    hosts = range(switches, 3 * switches)
    home = {host: (host - switches) // 2 for host in hosts}
    return {
        "topology": {
            "kind": "graph",
            "nodes": ["switch"] * switches + ["host"] * len(hosts),
            "links": [
                *({"a": i, "b": (i + 1) % switches, **link} for i in range(switches)),
                *({"a": host, "b": switch, **link} for host, switch in home.items()),
            ],
        },
        "traffic": {
            "kind": "list",
            "flows": [
                {"src": host, "dst": switches + (host - switches + 4) % len(hosts), "size_bytes": "1MB"}
                for host in hosts
            ],
        },
        "switch": {"buffer_bytes": "400kB"},
        "time_limit_ns": "2ms",
        "controllers": [{"name": "dcqcn"}],
        **changes,
    }

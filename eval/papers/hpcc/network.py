# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC's network of 320 hosts, its two loads, and who plays (Li 2019, sec. 5.1 and 5.3)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

from ns3_env.eval.papers.experiment import Entries
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Topology
from ns3_env.scenario.topology.kind import Graph, GraphLink
from ns3_env.scenario.traffic import Mix, Poisson, PoissonIncast

HOST_BPS, FABRIC_BPS, DELAY_NS = 100e9, 400e9, 1000
_PODS, _TORS, _AGGREGATION, _CORES, _HOSTS = 5, 4, 4, 16, 16
#: Of each flow of an incast.
INCAST_BYTES = 500_000
#: In the order of the figure's panels.
INCAST, BUSY = "30 % and 60-to-1 incasts", "50 %"
#: The paper's six, a window added to two of them.
PAPER = Entries(
    {
        "dcqcn": {},
        "dcqcn+window": {"RateWindow": True},
        "timely": {},
        "timely+window": {"RateWindow": True},
        "dctcp": {},
        "hpcc": {},
    }
)
#: With the project's other controllers, and released policies.
ENTRIES = Entries(
    {**PAPER.controllers, "hpcc-pint": {}, "powertcp": {}, "nscc": {}},
    released=("fdcc", "rlcc", "courier"),
)
#: A controller, and itself with a window.
WINDOWS = {"dcqcn": "dcqcn+window", "timely": "timely+window"}
#: Links, each both ways.
DIRECTIONS = 2 * (_PODS * _TORS * (_HOSTS + _AGGREGATION) + _PODS * _CORES)
_PATIENCE_NS = 4_000_000_000


def topology() -> Topology:
    """Five pods of four top-of-rack and four aggregation switches, the i-th of which has the i-th four of the
    16 cores: nothing is oversubscribed (docs/sources/baselines.md, "Li 2019")."""
    hosts = _PODS * _TORS * _HOSTS
    first = hosts + _PODS * _TORS
    cores = first + _PODS * _AGGREGATION
    nodes: list[Literal["host", "switch"]] = [
        "host" if node < hosts else "switch" for node in range(cores + _CORES)
    ]

    def pairs() -> Iterator[tuple[int, int, float]]:
        for host in range(hosts):
            yield host, hosts + host // _HOSTS, HOST_BPS
        for pod, tor, up in itertools.product(range(_PODS), range(_TORS), range(_AGGREGATION)):
            yield hosts + pod * _TORS + tor, first + pod * _AGGREGATION + up, FABRIC_BPS
        each = _CORES // _AGGREGATION
        for pod, up, core in itertools.product(range(_PODS), range(_AGGREGATION), range(each)):
            yield first + pod * _AGGREGATION + up, cores + up * each + core, FABRIC_BPS

    links = [GraphLink(a=a, b=b, rate_bps=rate, delay_ns=DELAY_NS) for a, b, rate in pairs()]
    return Graph(nodes=nodes, links=links)


def cases(duration_ns: int) -> dict[str, Scenario]:
    """Either load of FB_Hadoop for so long; incasts add 2 % of what the hosts can send."""
    incasts = PoissonIncast(fan_in=60, size_bytes=INCAST_BYTES, load=0.02, duration_ns=duration_ns)
    return {
        title: Scenario(
            seed=1,
            time_limit_ns=duration_ns + _PATIENCE_NS,
            topology=topology(),
            traffic=Mix(parts=[Poisson(sizes="fb_hadoop", load=load, duration_ns=duration_ns), *added]),
        )
        for title, load, added in ((INCAST, 0.3, [incasts]), (BUSY, 0.5, []))
    }

# SPDX-License-Identifier: GPL-2.0-or-later
"""IRN's network, with and without PFC, by either recovery (Mittal 2018, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ns3_env.scenario import Ecn, Scenario, Switch
from ns3_env.scenario.reliability import GoBackN, Recovery, SelectiveRepeat
from ns3_env.scenario.topology import FatTree3
from ns3_env.scenario.traffic import Traffic

RATE_BPS, DELAY_NS = 40e9, 2000
#: Twice the BDP of 120 kB for each of a switch's six ports.
BUFFER_BYTES = 6 * 240_000
RTO_HIGH_NS = 320_000
#: Half of the flows are a packet, 15 % larger than 200 kB (Mittal 2018, sec. 4.1); evenly between points.
SIZES: list[tuple[float, float]] = [(32, 0), (1000, 50), (200_000, 85), (3_000_000, 100)]
#: The recovery, and whether switches pause.
WITH, WITHOUT = "go-back-N with PFC", "go-back-N without"
IRN_WITH, IRN = "selective repeat with PFC", "selective repeat without"
NETWORKS: Mapping[str, tuple[Recovery, bool]] = {
    WITH: (GoBackN(), True),
    WITHOUT: (GoBackN(), False),
    IRN_WITH: (SelectiveRepeat(), True),
    IRN: (SelectiveRepeat(), False),
}
#: Who controls congestion, with DCQCN's attributes as its paper has them.
NONE, DCQCN, TIMELY = "no control", "DCQCN", "TIMELY"
CONTROLLERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    NONE: ("fixed-window", {}),
    DCQCN: (
        "dcqcn",
        {
            "AlphaInterval": "55us",
            "DecreaseInterval": "50us",
            "IncreaseInterval": "55us",
            "FastRecoveryStages": 5,
            "AdditiveIncrease": 1e-3,
            "HyperIncrease": 1e-2,
        },
    ),
    TIMELY: ("timely", {}),
}
#: DCQCN's marking as its paper has it (Zhu 2015), at 40 Gb/s.
MARKING = Ecn(kmin_bytes=5e3, kmax_bytes=200e3, pmax=0.01, at_rate_bps=RATE_BPS)


def scenario(name: str, controller: str, traffic: Traffic, limit_ns: int) -> Scenario:
    """One run in a network of :data:`NETWORKS`, under a controller of :data:`CONTROLLERS`."""
    recovery, pfc = NETWORKS[name]
    base = Scenario(
        time_limit_ns=limit_ns,
        topology=FatTree3(
            pods=6,
            tors_per_pod=3,
            aggregation_per_pod=3,
            cores=3,
            hosts_per_tor=3,
            rate_bps=RATE_BPS,
            fabric_bps=RATE_BPS,
            delay_ns=DELAY_NS,
        ),
        traffic=traffic,
        switch=Switch(pfc=pfc, buffer_bytes=BUFFER_BYTES, ecn=MARKING if controller == DCQCN else None),
        recovery=recovery,
        # the simulator's own is longer than any packet is late without losses
        retransmission_timeout_ns=0 if name == WITH else RTO_HIGH_NS,
    )
    own, attributes = CONTROLLERS[controller]
    return base.under(own, attributes)

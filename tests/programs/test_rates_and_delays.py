# SPDX-License-Identifier: GPL-2.0-or-later
"""Lone flows under every controller on any network: from 1 Mb/s to 8 Tb/s, from 100 ns to 1 s."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest

from ns3_env.scenario import AGENT, Controller, Record, Scenario
from ns3_env.scenario.switch import Switch
from ns3_env.scenario.tcp_queue import Tcp
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import Simulator, list_controllers

pytestmark = pytest.mark.filterwarnings("ignore:tcp.queue.limit")  # nothing waits there

#: More than the unit of HPCC's telemetry on bytes sent, 41 kB at 8 Tb/s.
PAYLOAD = 60_000
HOURS_NS = 4_000_000_000_000
RATES_BPS = (1e6, 1e10, 8e11, 8e12)
#: Delays of each of a path's three links.
DELAYS_NS = (33, 3_000, 80_000, 333_000_000)
#: Rates and delays, with BDPs of 200 packets.
MODERATE = [(rate, round(200 * PAYLOAD * 8 / 6 / rate * 1e9)) for rate in (1e8, 1e10, 1e12, 8e12)]

#: Why a lone flow is slower than its link lets it be.
SLOW_STARTS = {
    "bcn": "its congestion points begin to answer at 64 kB, a packet or two",
    "qcn": "its congestion points begin to answer at 64 kB, a packet or two",
    "bbr": "it paces what it has no estimate for",
    "cubic": "it leaves slow start when RTTs grow",
    "rttmpc": "it begins at 10 Mb/s, and grows from there",
    "tdctcp": "RTTs above 50 ms at 100 Mb/s are congestion to it",
}
SLOW_LATER = {
    "timely": "RTTs above 500 us are congestion to it",
    "rttmpc": SLOW_STARTS["rttmpc"],
    "tdctcp": SLOW_STARTS["tdctcp"],
    "bbr": SLOW_STARTS["bbr"],
    "vegas": "it doubles its window every other RTT",
    "cubic": SLOW_STARTS["cubic"],
}
RDMA = [name for name in list_controllers() if name not in (AGENT, "policy")]
TCP = [name for name in list_controllers(transport="tcp") if name not in (AGENT, "policy")]


def played(simulator: Simulator, name: str, rate_bps: float, delay_ns: int, packets: int) -> dict[str, Any]:
    """Results of a flow of this many packets without other flows."""
    tcp = Tcp(mtu_bytes=PAYLOAD + 40, min_rto_ns=10**11, initial_rto_ns=10**11, socket_buffer_bytes=1 << 30)
    # If a link's BDP exceeds the maximum buffer, there is no headroom.
    pfc = rate_bps * delay_ns < 1e18
    scenario = Scenario(
        transport="rdma" if name in RDMA else "tcp",
        time_limit_ns=HOURS_NS,
        payload_bytes=PAYLOAD if name in RDMA else 1000,
        topology=Dumbbell(senders=1, rate_bps=rate_bps, delay_ns=delay_ns),
        traffic=Incast(size_bytes=packets * PAYLOAD),
        switch=Switch(buffer_bytes=10**12, pfc=pfc) if name in RDMA else Switch(),
        tcp=Tcp() if name in RDMA else tcp,
        controllers=[Controller(name=name)],
        record=Record(windows=True),
    )
    results = simulator.play(scenario, columns=True)
    windows = results["windows"]
    assert results["totals"]["unfinished"] == 0
    assert (windows.window > 0).all()
    assert (windows.rate[:1] > 0).all()
    assert (windows.rate >= 0).all()  # a fluid ends with none
    return results


def slowdown(results: dict[str, Any]) -> float:
    return float(results["flows"]["fct_ns"][0] / results["flows"]["standalone_ns"][0])


@pytest.mark.parametrize("name", RDMA)
def test_a_flow_below_a_bdp_leaves_within_a_round_trip(simulator: Simulator, name: str) -> None:
    """Initial windows are the path's BDP, or there is no window."""
    for rate, delay in itertools.product(RATES_BPS, DELAYS_NS):
        bdp = rate / 8 * 6 * delay * 1e-9
        packets = max(1, min(math.floor(0.9 * bdp / PAYLOAD), 200))
        results = played(simulator, name, rate, delay, packets)
        where = f"{rate:g} bit/s, {delay} ns"
        assert name in SLOW_STARTS or slowdown(results) < 1.05, where
        window = results["windows"].window
        assert len(window) == 0 or window[0] > 0.98 * bdp, where


@pytest.mark.parametrize("name", TCP)
def test_a_flow_of_tcp_needs_the_round_trips_of_slow_start(simulator: Simulator, name: str) -> None:
    for rate, delay in itertools.product(RATES_BPS, DELAYS_NS):
        packets = max(1, min(math.floor(0.9 * rate / 8 * 6 * delay * 1e-9 / PAYLOAD), 200))
        flows = played(simulator, name, rate, delay, packets)["flows"]
        round_trips = (flows["fct_ns"][0] - flows["standalone_ns"][0]) / flows["base_rtt_ns"][0]
        assert name in SLOW_STARTS or round_trips < 1 + math.ceil(math.log2(packets / 10 + 1)), (rate, delay)


@pytest.mark.parametrize("name", RDMA + TCP)
def test_a_long_flow_has_nearly_the_whole_link(simulator: Simulator, name: str) -> None:
    for rate, delay in MODERATE:
        results = played(simulator, name, rate, delay, 800)
        most = 1.1 if name in RDMA else 1.8  # slow start fills the BDP in four round trips
        assert name in SLOW_LATER or slowdown(results) < most, (rate, delay)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Every controller: values of its attributes, and lone flows at any rate and delay."""

import itertools
import json
import math
import re
from typing import Any

import numpy as np
import pytest

from ns3_env.errors import ScenarioError
from ns3_env.scenario import AGENT, Controller, Record, Scenario
from ns3_env.scenario.switch import Switch
from ns3_env.scenario.tcp_queue import Tcp
from ns3_env.scenario.topology import Dumbbell
from ns3_env.scenario.traffic import Incast
from ns3_env.simulator import DecisionBatch, Simulator, default_attributes, list_controllers
from tests.paths import DATA

TRIED = ["-1", "0", "1e30", "-1e30", "nan", "inf", "5", "", " ", "1e-300"]
TRIED += ["5 us", "0s", "-5us", "1e30s", "5e300y", "x" * 10_000]

#: A policy's file is tested in tests/policies/test_placement.py.
ATTRIBUTES = {name: [x for x in default_attributes(name) if x != "File"] for name in list_controllers()}
for both in (AGENT, "policy"):
    ATTRIBUTES[both] += ["Quantised", "InitialWindow"]
SMALL_POLICY = DATA / "policy.safetensors"


def two_flows(controller: str, attributes: dict[str, str], duration_ns: int = 50_000) -> dict[str, Any]:
    content = Scenario(
        time_limit_ns=duration_ns,
        topology=Dumbbell(senders=2),
        traffic=Incast(flows=2, size_bytes=1_000_000, spread_ns=0),
        controllers=[Controller(name=controller)],
    ).to_simulator_json()
    needed = {"File": str(SMALL_POLICY)} if controller == "policy" else {}
    content["controllers"] = [{"name": controller, "attributes": {**needed, **attributes}}]
    content["record"] = {"windows": True}
    return content


def played(simulator: Simulator, content: dict[str, Any]) -> dict[str, Any]:
    """The results; flows under "agent" are given ten packets and a tenth of the link at each decision."""
    simulator.send_reset(content)
    while isinstance(answer := simulator.receive(), DecisionBatch):
        simulator.send_actions(np.tile([10_000.0, 1e10, 0.5], (int(answer.due.sum()), 1)))
    return answer.results


def wrong(simulator: Simulator, controller: str, attribute: str, value: str) -> str:
    """The sentence on a controller's attribute of this value."""
    with pytest.raises(ScenarioError) as error:
        simulator.play(two_flows(controller, {attribute: value}))
    return str(error.value)


@pytest.mark.parametrize("controller", ATTRIBUTES)
def test_a_value_works_or_is_an_error_with_attribute_and_range(controller: str, simulator: Simulator) -> None:
    simulator.start()
    pid = simulator.pid
    for attribute, value in itertools.product(ATTRIBUTES[controller], TRIED):
        try:
            results = played(simulator, two_flows(controller, {attribute: value}))
        except ScenarioError as error:
            message = str(error)
            assert f"controller '{controller}': cannot set attribute '{attribute}' to '" in message
            assert re.search(r"; it takes (Time |double |u?int32_t )?[^ ]+", message)
            assert "\n" not in message
            assert len(message) < 600
        else:
            numbers = [x for row in results["windows"] for x in row[2:] if x is not None]
            assert all(math.isfinite(x) and x >= 0 for x in numbers)
            assert results["totals"]["packets_sent"] > 0
            json.dumps(results, allow_nan=False)
        assert simulator.pid == pid


@pytest.mark.parametrize(
    "name", ["", " ", "x", "Gain|x", "rdma::Gain", "../Gain", "Gain\n", "\0", "%s%n", "é", "x" * 10_000]
)
def test_what_is_no_attribute_is_named_on_a_line(name: str, simulator: Simulator) -> None:
    simulator.start()
    pid = simulator.pid
    for controller in list_controllers():
        message = wrong(simulator, controller, name, "1")
        assert simulator.pid == pid
        assert f"controller '{controller}'" in message
        assert "\n" not in message
        assert len(message) < 600


def test_telemetry_of_an_agent_may_be_nothing_and_a_kilobyte(simulator: Simulator) -> None:
    for value in ("0", "1000"):
        results = played(simulator, two_flows(AGENT, {"TelemetryBytes": value}, 1_000_000))
        assert results["flows"]["header_bytes"] == [48 + int(value)] * 2


TARGET = "it takes Time 0s:1000s with its unit, as in 20us: Target delay before hops and flows are counted"
INTERVALS = ("0s", "-5us", "9ns", "1001s", "5 us", "1e300s", "nans", "us", "5us5", "0x5us")


@pytest.mark.parametrize(
    ("controller", "attribute", "value", "range_text"),
    [
        *((AGENT, "TelemetryBytes", x, "it takes uint32_t 0:1000") for x in ("-1", "1001", "4294967338")),
        *(("swift", "BaseTarget", x, TARGET) for x in ("20000000", "5", "0", "1e3")),
        *(("dcqcn", "AlphaInterval", x, "it takes Time 10ns:1000s with its unit") for x in INTERVALS),
        ("mpcc", "Horizon", "2.5", "it takes int32_t 1:100: P, steps predicted"),
        ("mpcc", "Horizon", "five", "it takes int32_t 1:100"),
        ("mpcc", "Horizon", "101", "it takes int32_t 1:100"),
        ("mpcc", "WeightQueue", "1,5", "it takes double 1e-09:1e+09: W_Q, the cost"),
        ("mpcc", "ComputationTime", "5 minutes", "it takes Time"),
        ("mpcc", "Shortcut", "maybe", "it takes bool"),
        ("mpcc", "Solver", "Exact", "it takes Qp|Lqr"),
        ("mpcc", "Horizn", "5", "its attributes: WeightQueue, WeightWindow, "),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_what_would(
    controller: str, attribute: str, value: str, range_text: str, simulator: Simulator
) -> None:
    refusal = f"controller '{controller}': cannot set attribute '{attribute}' to '{value}'; {range_text}"
    assert refusal in wrong(simulator, controller, attribute, value)


def test_the_shortest_intervals_are_worked_off(simulator: Simulator) -> None:
    shortest = dict.fromkeys(("AlphaInterval", "DecreaseInterval", "IncreaseInterval"), "10ns")
    for timers in ("false", "true"):
        results = simulator.play(two_flows("dcqcn", {**shortest, "TimerEvents": timers}, 500_000))
        assert results["totals"]["unfinished"] == 0


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


def lone_flow(
    simulator: Simulator, name: str, rate_bps: float, delay_ns: int, packets: int
) -> dict[str, Any]:
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
        results = lone_flow(simulator, name, rate, delay, packets)
        where = f"{rate:g} bit/s, {delay} ns"
        assert name in SLOW_STARTS or slowdown(results) < 1.05, where
        window = results["windows"].window
        assert len(window) == 0 or window[0] > 0.98 * bdp, where


@pytest.mark.parametrize("name", TCP)
def test_a_flow_of_tcp_needs_the_round_trips_of_slow_start(simulator: Simulator, name: str) -> None:
    for rate, delay in itertools.product(RATES_BPS, DELAYS_NS):
        packets = max(1, min(math.floor(0.9 * rate / 8 * 6 * delay * 1e-9 / PAYLOAD), 200))
        flows = lone_flow(simulator, name, rate, delay, packets)["flows"]
        round_trips = (flows["fct_ns"][0] - flows["standalone_ns"][0]) / flows["base_rtt_ns"][0]
        assert name in SLOW_STARTS or round_trips < 1 + math.ceil(math.log2(packets / 10 + 1)), (rate, delay)


@pytest.mark.parametrize("name", RDMA + TCP)
def test_a_long_flow_has_nearly_the_whole_link(simulator: Simulator, name: str) -> None:
    for rate, delay in MODERATE:
        results = lone_flow(simulator, name, rate, delay, 800)
        most = 1.1 if name in RDMA else 1.8  # slow start fills the BDP in four round trips
        assert name in SLOW_LATER or slowdown(results) < most, (rate, delay)

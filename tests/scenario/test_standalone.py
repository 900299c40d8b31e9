# SPDX-License-Identifier: GPL-2.0-or-later
"""Standalone times: a slowdown of 1 is the ideal, the same for every controller.

A single flow at line rate has this FCT to the picosecond, and no flow has less.
"""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ns3_env.scenario import AGENT, Controller, Ecmp, Flowlet, Scenario, Spray
from ns3_env.scenario.reliability import GoBackN, Nic, SelectiveRepeat
from ns3_env.scenario.switch import TrafficClass
from ns3_env.scenario.topology import Graph
from ns3_env.scenario.topology.kind import GraphLink
from ns3_env.scenario.traffic import Flow, FlowList
from ns3_env.simulator import Simulator, list_controllers
from tests.samples.policy_files import needed_attributes

CONTROLLERS = [name for name in list_controllers() if name != AGENT]
RATES = (1e9, 7.3e9, 10e9, 25e9, 100e9, 400e9)
HOSTS = 4


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Hosts at either end of a chain of switches, at one place with two paths, with random links."""
    link = st.tuples(st.sampled_from(RATES), st.integers(1, 3000))
    switches = draw(st.integers(1, 4))
    ends = [(host, HOSTS + (switches - 1) * (host % 2)) for host in range(HOSTS)]
    ends += [(HOSTS + i, HOSTS + i + 1) for i in range(switches - 1)]
    if switches > 2:  # the switch after the first one has a twin
        ends += [(HOSTS, HOSTS + switches), (HOSTS + switches, HOSTS + 2)]
    links = []
    for a, b in ends:
        rate, delay = draw(link)
        links.append(GraphLink(a=a, b=b, rate_bps=rate, delay_ns=delay))
    return Graph(nodes=["host"] * HOSTS + ["switch"] * (switches + (switches > 2)), links=links)


@st.composite
def flows(draw: st.DrawFn, size: st.SearchStrategy[int], most: int) -> list[Flow]:
    pair = st.tuples(st.integers(0, HOSTS - 1), st.integers(0, HOSTS - 1)).filter(lambda x: x[0] != x[1])
    rows = draw(st.lists(st.tuples(pair, size, st.integers(0, 50_000)), min_size=1, max_size=most))
    return [Flow(src=a, dst=b, size_bytes=bytes_, start_ns=start) for (a, b), bytes_, start in rows]


def play(
    simulator: Simulator, controller: str, graph: Graph, of: list[Flow], payload: int, **more: Any
) -> dict[str, Any]:
    results = simulator.play(
        Scenario(
            topology=graph,
            traffic=FlowList(flows=of),
            payload_bytes=payload,
            controllers=[Controller(name=controller, attributes=dict(needed_attributes(controller)))],
            time_limit_ns=20_000_000_000,
            **more,
        )
    )
    assert results["totals"]["unfinished"] == 0
    columns: dict[str, Any] = results["flows"]
    return columns


SIZES = st.one_of(st.integers(1, 3000), st.integers(1, 100_000))
#: Controllers without telemetry, and packets that leave at line rate under them: all, or the first.
AT_LINE_RATE = {"fixed-window": 300, "dcqcn": 1, "dctcp": 1}


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(list(AT_LINE_RATE)), graphs(), st.data(), st.sampled_from([1, 64, 1000, 4096]))
def test_a_flow_alone_at_line_rate_takes_its_standalone_time(
    simulator: Simulator, controller: str, graph: Graph, data: st.DataObject, payload: int
) -> None:
    alone = data.draw(flows(st.integers(1, AT_LINE_RATE[controller] * payload), most=1))
    columns = play(simulator, controller, graph, alone, payload)
    assert columns["fct_ns"] == columns["standalone_ns"]


SPRAYS = get_args(Spray.model_fields["by"].annotation)
#: Paths of packets, of ACKs and of queues by which flows could be faster than one path allows.
WAYS: dict[str, Any] = {
    "load_balancing": [Ecmp(), Flowlet(gap_ns=0), *(Spray(by=by) for by in SPRAYS)],
    "recovery": [GoBackN(), SelectiveRepeat(reorder_packets=1000, bdp_cap=None)],
    "nic": [Nic(), Nic(ack_every=2), Nic(ack_every=16, ack_delay_ns=300)],
    "classes": [[], [TrafficClass(name="one"), TrafficClass(name="two")]],
}
STEERABLE = ["fixed-window", "dctcp", "dcqcn", "hpcc", "swift"]
#: A controller, and paths for it.
CHOICES = st.one_of(
    st.tuples(st.sampled_from(CONTROLLERS), st.just({})),
    st.tuples(
        st.sampled_from(STEERABLE),
        st.fixed_dictionaries({key: st.sampled_from(ways) for key, ways in WAYS.items()}),
    ),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CHOICES, graphs(), flows(SIZES, most=6), st.sampled_from([1, 64, 1000, 4096]))
def test_no_flow_is_faster_than_alone_on_all_its_paths(
    simulator: Simulator, choice: tuple[str, dict[str, Any]], graph: Graph, several: list[Flow], payload: int
) -> None:
    controller, ways = choice
    several = [
        flow.model_copy(update={"size_bytes": min(flow.size_bytes, 300 * payload)}) for flow in several
    ]
    columns = play(simulator, controller, graph, several, payload, **ways)
    pairs = zip(columns["fct_ns"], columns["standalone_ns"], strict=True)
    assert min(fct / alone for fct, alone in pairs) >= 1 - (1e-9 if ways else 0)


def test_a_sprayed_flow_alone_takes_what_its_paths_have_together(simulator: Simulator) -> None:
    """Four paths of a quarter of the host's rate each: as fast as the host, plus the delay of one path."""
    ends = [(0, 2, 40e9), (1, 3, 40e9), *((a, b, 10e9) for b in range(4, 8) for a in (2, 3))]
    links = [GraphLink(a=a, b=b, rate_bps=rate, delay_ns=1000) for a, b, rate in ends]
    graph = Graph(nodes=["host"] * 2 + ["switch"] * 6, links=links)
    alone = [Flow(src=0, dst=1, size_bytes=1_000_000, start_ns=0)]
    ways = {
        "load_balancing": Spray(by="round_robin"),
        "recovery": SelectiveRepeat(reorder_packets=100, bdp_cap=None),
    }
    columns = play(simulator, "fixed-window", graph, alone, 1000, **ways)
    slowdown = columns["fct_ns"][0] / columns["standalone_ns"][0]
    assert 1 <= slowdown < 1.01

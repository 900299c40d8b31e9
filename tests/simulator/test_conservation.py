# SPDX-License-Identifier: GPL-2.0-or-later
"""Random networks: bytes are conserved whatever fails, and no flow is faster than alone.

A slowdown of 1 is the ideal, the same for every controller: a single flow at line rate has its standalone
time to the picosecond.
"""

from typing import Any, get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ns3_env.scenario import (
    AGENT,
    Controller,
    Ecmp,
    Ecn,
    Failures,
    FatTree2,
    FatTree3,
    Flowlet,
    Outage,
    ParkingLot,
    Reps,
    Scenario,
    Spray,
    Switch,
)
from ns3_env.scenario.reliability import GoBackN, Nic, SelectiveRepeat
from ns3_env.scenario.switch import TrafficClass
from ns3_env.scenario.topology import Dumbbell, Graph, GraphLink
from ns3_env.scenario.topology.network import Network
from ns3_env.scenario.traffic import ConstantRate, Flow, FlowList, Group, Mix
from ns3_env.simulator import Simulator, list_controllers
from tests.samples.policy_files import needed_attributes
from tests.samples.scenarios import conserved

LIMIT_NS = 20_000_000
CLASSES = [
    TrafficClass(name="urgent"),
    TrafficClass(name="heavy", weight=3),
    TrafficClass(name="light", weight=1),
]
GROUPS = {traffic_class.name: Group(traffic_class=traffic_class.name) for traffic_class in CLASSES}
BALANCING = (
    Ecmp(),
    Flowlet(gap_ns=2000),
    Spray(by="random"),
    Spray(by="round_robin"),
    Spray(by="least_queue"),
    Reps(freezing_ns=50_000),
)


@st.composite
def graphs(draw: st.DrawFn, rates: tuple[float, ...] = (10e9, 40e9, 100e9)) -> Graph:
    """Two to five switches joined in a ring and across, hosts at each."""
    switches = draw(st.integers(2, 5))
    hosts = draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=6))
    first = len(hosts)
    pairs = [(i, j) for i in range(switches) for j in range(i + 1, switches)]
    ring = [(i, i + 1) for i in range(switches - 1)]
    across = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6))
    ends = [(i, first + at) for i, at in enumerate(hosts)]
    ends += [(first + i, first + j) for i, j in sorted({*ring, *across})]
    links = [
        GraphLink(a=a, b=b, rate_bps=draw(st.sampled_from(rates)), delay_ns=draw(st.integers(1, 3000)))
        for a, b in ends
    ]
    return Graph(nodes=["host"] * len(hosts) + ["switch"] * switches, links=links)


@st.composite
def flows(draw: st.DrawFn, network: Network, size: st.SearchStrategy[int], most: int) -> list[Flow]:
    hosts = st.sampled_from(network.hosts)
    pairs = st.tuples(hosts, hosts).filter(lambda pair: pair[0] != pair[1])
    rows = draw(st.lists(st.tuples(pairs, size, st.integers(0, 60_000)), min_size=1, max_size=most))
    return [Flow(src=a, dst=b, size_bytes=bytes_, start_ns=start) for (a, b), bytes_, start in rows]


topologies = st.one_of(
    graphs(),
    st.just(FatTree2(access=2, aggregation=3, hosts_per_access=3)),
    st.just(FatTree3()),
    st.just(Dumbbell(senders=5, rate_bps=25e9, bottleneck_bps=10e9)),
    st.just(Dumbbell(senders=5, rate_bps=1e9)),
    st.just(ParkingLot(switches=3, hosts_per_switch=2)),
)


@st.composite
def outages(draw: st.DrawFn, network: Network) -> list[Outage]:
    failures = []
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, 120_000))
        until = draw(st.none() | st.integers(at + 1, at + 400_000))
        if draw(st.booleans()):
            link = draw(st.sampled_from(network.links))
            ends = draw(st.permutations((link.a, link.b)))
            failures.append(Outage(link=(ends[0], ends[1]), at_ns=at, until_ns=until))
        else:
            node = draw(st.sampled_from([i for i, kind in enumerate(network.nodes) if kind == "switch"]))
            failures.append(Outage(switch=node, at_ns=at, until_ns=until))
    return failures


@st.composite
def streams(draw: st.DrawFn, pair: tuple[int, int]) -> ConstantRate:
    """A tenth of the slowest link, at most."""
    stop_ns = draw(st.none() | st.integers(200_001, 900_000))
    times = {"start_ns": draw(st.integers(0, 200_000)), "stop_ns": stop_ns}
    return ConstantRate(src=pair[0], dst=pair[1], rate_bps=draw(st.floats(1e6, 1e8)), **times)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    topology = draw(topologies)
    network = topology.build()
    hosts = st.sampled_from(network.hosts)
    pairs = st.tuples(hosts, hosts).filter(lambda pair: pair[0] != pair[1])
    groups = st.sampled_from(sorted(GROUPS))
    listed = [
        flow.model_copy(update={"group": draw(groups)})
        for flow in draw(flows(network, st.integers(1, 80_000), most=8))
    ]
    classes = draw(st.sampled_from([[], CLASSES]))
    recovery = draw(st.sampled_from([GoBackN(), SelectiveRepeat()]))
    trims = draw(st.booleans()) and isinstance(recovery, SelectiveRepeat)
    return Scenario(
        seed=draw(st.integers(0, 2**31)),
        topology=topology,
        traffic=Mix(
            parts=[FlowList(flows=listed), *(draw(streams(x)) for x in draw(st.lists(pairs, max_size=2)))]
        ),
        classes=classes,
        groups=GROUPS if classes else {name: Group() for name in GROUPS},
        controllers=[Controller(name=draw(st.sampled_from(["fixed-window", "hpcc", "dcqcn", "mpcc"])))],
        switch=draw(
            st.sampled_from(
                [
                    Switch(),
                    Switch(pfc=False, buffer_bytes=60_000, reserve_bytes=1500, trimming=trims),
                    Switch(buffer_bytes=2_500_000, ecn=Ecn(kmin_bytes=5e3, kmax_bytes=20e3)),
                ]
            )
        ),
        load_balancing=draw(st.sampled_from(BALANCING)),
        failures=Failures(
            convergence_ns=draw(st.sampled_from([0, 3000, 50_000])), outages=draw(outages(network))
        ),
        recovery=recovery,
        loss_probability=draw(st.sampled_from([0.0, 0.02])),
        retransmission_timeout_ns=100_000,
        time_limit_ns=LIMIT_NS,
    )


def reached(scenario: Scenario) -> list[bool]:
    """Whether a flow's ends are connected after the end of the last outage."""
    assert scenario.failures is not None
    assert isinstance(scenario.traffic, Mix)
    flows = scenario.traffic.parts[0]
    assert isinstance(flows, FlowList)
    network = scenario.topology.build()
    for_ever = [x for x in scenario.failures.outages if x.until_ns is None]
    gone = {frozenset(link) for outage in for_ever for link in outage.links(network)}
    part = {node: {node} for node in range(len(network.nodes))}
    for link in network.links:
        if frozenset((link.a, link.b)) not in gone and part[link.a] is not part[link.b]:
            joined = part[link.a] | part[link.b]
            for node in joined:
                part[node] = joined
    return [flow.dst in part[flow.src] for flow in flows.flows]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenario=scenarios())
def test_bytes_are_conserved_through_losses_and_failures(simulator: Simulator, scenario: Scenario) -> None:
    results = simulator.play(scenario)
    conserved(results)
    totals, flows = results["totals"], results["flows"]
    assert scenario.failures is not None
    finished = [fct >= 0 for fct in flows["fct_ns"]]
    for done, joined in zip(finished, reached(scenario), strict=True):
        assert done or not joined  # a flow whose ends are joined in the end gets there
    if all(finished):
        sent = sum(flows["size_bytes"]) + sum(flows["retransmitted_bytes"])
        sent += sum(results.get("streams", {}).get("sent_bytes", ()))
        assert totals["transmitted_payload_bytes"] == sent
    causes = {row["cause"] for row in results["losses"]}
    possible = {"failure"} if scenario.failures.outages else set()
    possible |= {"link"} if scenario.loss_probability > 0 else set()
    possible |= set() if scenario.switch.pfc else {"buffer_full", "trimmed"}
    assert causes <= possible
    if not scenario.switch.pfc:
        assert totals["pfc_frames"] == 0


CONTROLLERS = [name for name in list_controllers() if name != AGENT]
RATES = (1e9, 7.3e9, 10e9, 25e9, 100e9, 400e9)


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
@given(st.sampled_from(list(AT_LINE_RATE)), graphs(RATES), st.data(), st.sampled_from([1, 64, 1000, 4096]))
def test_a_flow_alone_at_line_rate_takes_its_standalone_time(
    simulator: Simulator, controller: str, graph: Graph, data: st.DataObject, payload: int
) -> None:
    alone = data.draw(flows(graph.build(), st.integers(1, AT_LINE_RATE[controller] * payload), most=1))
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
@given(CHOICES, graphs(RATES), st.data(), st.sampled_from([1, 64, 1000, 4096]))
def test_no_flow_is_faster_than_alone_on_all_its_paths(
    simulator: Simulator, choice: tuple[str, dict[str, Any]], graph: Graph, data: st.DataObject, payload: int
) -> None:
    controller, ways = choice
    several = data.draw(flows(graph.build(), SIZES, most=6))
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

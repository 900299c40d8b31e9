# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures of links and switches: bytes are conserved through any sequence, flows arrive in the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ns3_env.eval.metrics import measure
from ns3_env.scenario import (
    Controller,
    DrawnOutages,
    Ecmp,
    Failures,
    FatTree2,
    FatTree3,
    Flowlet,
    Outage,
    ParkingLot,
    Poisson,
    Scenario,
    Spray,
    Switch,
)
from ns3_env.scenario.reliability import GoBackN, SelectiveRepeat
from ns3_env.scenario.switch import TrafficClass
from ns3_env.scenario.topology import Graph, GraphLink
from ns3_env.scenario.topology.network import Network
from ns3_env.scenario.traffic import Flow, FlowList, Group
from ns3_env.simulator import Simulator
from tests.samples.sums import conserved

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
)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Two to five switches joined in a ring and across, hosts at each."""
    switches = draw(st.integers(2, 5))
    hosts = draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=6))
    first = len(hosts)
    pairs = [(i, j) for i in range(switches) for j in range(i + 1, switches)]
    ring = [(i, i + 1) for i in range(switches - 1)]
    across = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=6))
    joined = sorted({*ring, *across})
    rates = st.sampled_from([10e9, 40e9, 100e9])
    links = [GraphLink(a=i, b=first + at, rate_bps=draw(rates), delay_ns=1000) for i, at in enumerate(hosts)]
    links += [GraphLink(a=first + i, b=first + j, rate_bps=draw(rates), delay_ns=500) for i, j in joined]
    return Graph(nodes=["host"] * len(hosts) + ["switch"] * switches, links=links)


topologies = st.one_of(
    graphs(),
    st.just(FatTree2(access=2, aggregation=3, hosts_per_access=3)),
    st.just(FatTree3()),
    st.just(ParkingLot(switches=3, hosts_per_switch=2)),
)


@st.composite
def outages(draw: st.DrawFn, network: Network) -> list[Outage]:
    failures = []
    for _ in range(draw(st.integers(1, 8))):
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
def scenarios(draw: st.DrawFn) -> Scenario:
    topology = draw(topologies)
    network = topology.build()
    hosts = st.sampled_from(network.hosts)
    pairs = st.tuples(hosts, hosts).filter(lambda pair: pair[0] != pair[1])
    sizes, starts = st.integers(1, 80_000), st.integers(0, 60_000)
    groups = st.sampled_from(sorted(GROUPS))
    rows = draw(st.lists(st.tuples(pairs, sizes, starts, groups), min_size=1, max_size=8))
    flows = [
        Flow(src=src, dst=dst, size_bytes=size, start_ns=start, group=group)
        for (src, dst), size, start, group in rows
    ]
    classes = draw(st.sampled_from([[], CLASSES]))
    return Scenario(
        seed=draw(st.integers(0, 2**31)),
        topology=topology,
        traffic=FlowList(flows=flows),
        classes=classes,
        groups=GROUPS if classes else {name: Group() for name in GROUPS},
        controllers=[Controller(name=draw(st.sampled_from(["fixed-window", "hpcc", "dcqcn", "mpcc"])))],
        switch=draw(
            st.sampled_from(
                [
                    Switch(),
                    Switch(pfc=False, buffer_bytes=60_000, reserve_bytes=1500),
                    Switch(buffer_bytes=2_500_000),
                ]
            )
        ),
        load_balancing=draw(st.sampled_from(BALANCING)),
        failures=Failures(
            convergence_ns=draw(st.sampled_from([0, 3000, 50_000])), outages=draw(outages(network))
        ),
        recovery=draw(st.sampled_from([GoBackN(), SelectiveRepeat()])),
        loss_probability=draw(st.sampled_from([0.0, 0.02])),
        retransmission_timeout_ns=100_000,
        time_limit_ns=LIMIT_NS,
    )


def reached(scenario: Scenario) -> list[bool]:
    """Whether a flow's ends are joined once no outage is to end any more."""
    assert scenario.failures is not None
    assert isinstance(scenario.traffic, FlowList)
    network = scenario.topology.build()
    for_ever = [x for x in scenario.failures.outages if x.until_ns is None]
    gone = {frozenset(link) for outage in for_ever for link in outage.links(network)}
    part = {node: {node} for node in range(len(network.nodes))}
    for link in network.links:
        if frozenset((link.a, link.b)) not in gone and part[link.a] is not part[link.b]:
            joined = part[link.a] | part[link.b]
            for node in joined:
                part[node] = joined
    return [flow.dst in part[flow.src] for flow in scenario.traffic.flows]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scenario=scenarios())
def test_bytes_are_conserved_through_any_failures(simulator: Simulator, scenario: Scenario) -> None:
    results = simulator.play(scenario)
    conserved(results)
    finished = [fct >= 0 for fct in results["flows"]["fct_ns"]]
    for done, joined in zip(finished, reached(scenario), strict=True):
        assert done or not joined  # a flow whose ends are joined in the end gets there
    if all(finished) and scenario.loss_probability == 0 and not scenario.switch.pfc:
        assert {row["cause"] for row in results["losses"]} <= {"failure", "buffer_full"}


def drawn(seed: int = 1, **values: Any) -> Scenario:
    up, down = values.pop("mean_up_ns", 2_000_000), values.pop("mean_down_ns", 300_000)
    of = values.pop("of", "fabric_links")
    return Scenario(
        seed=seed,
        topology=FatTree3(),
        traffic=Poisson(sizes="websearch", load=0.2, duration_ns=1_000_000),
        controllers=[Controller(name="dcqcn")],
        failures=Failures(convergence_ns=50_000, drawn=DrawnOutages(of=of, mean_up_ns=up, mean_down_ns=down)),
        retransmission_timeout_ns=500_000,
        time_limit_ns=100_000_000,
        **values,
    )


def test_drawn_failures_are_exponential_and_the_seeds_own() -> None:
    """Up for 2 ms and down for 0.3, on average: 16 links between switches are down 13 % of the time."""
    network = FatTree3().build()
    fabric = [x for x in network.links if network.nodes[x.a] == network.nodes[x.b] == "switch"]
    rows = [x for seed in range(20) for x in drawn(seed).to_simulator_json()["failures"]["outages"]]
    whole = [(row["at_ns"], row["until_ns"]) for row in rows if row["until_ns"] >= 0]
    down = np.array([until - at for at, until in whole])
    assert len(whole) == pytest.approx(20 * len(fabric) * 100 / 2.3, rel=0.05)
    assert down.mean() == pytest.approx(300_000, rel=0.05)
    assert down.std() == pytest.approx(300_000, rel=0.05)
    assert {frozenset((row["a"], row["b"])) for row in rows} == {frozenset((x.a, x.b)) for x in fabric}
    assert drawn(1).to_simulator_json()["failures"] == drawn(1).to_simulator_json()["failures"]
    assert drawn(1).to_simulator_json()["failures"] != drawn(2).to_simulator_json()["failures"]
    # Whatever fails, the flows are the same.
    assert drawn(1).to_simulator_json()["flows"] == drawn(1, of="switches").to_simulator_json()["flows"]


@pytest.mark.parametrize("of", ["fabric_links", "links", "switches"])
def test_flows_go_on_through_failures_that_are_drawn(simulator: Simulator, of: str) -> None:
    results = simulator.play(drawn(of=of))
    conserved(results)
    assert results["totals"]["unfinished"] == 0
    assert results["paths"]["outages"] > 100
    metrics = measure(results)
    assert metrics["failure_losses"] == results["totals"]["dropped_packets"] > 0
    assert metrics["link_losses"] == metrics["buffer_losses"] == 0


def test_failures_that_do_not_come_change_nothing(simulator: Simulator) -> None:
    """But what tells of them: and flows are counted by a timeout, which HPCC does not ask for."""
    calm = drawn().model_copy(update={"failures": None, "controllers": [Controller(name="hpcc")]})
    later = Failures(outages=[Outage(switch=24, at_ns=99_000_000)])
    plain = simulator.play(calm)
    results = dict(simulator.play(calm.model_copy(update={"failures": later})))
    assert results.pop("paths")["outages"] == 4
    results["flows"] = dict(results["flows"])
    assert (
        set(results["flows"].pop("reordered_packets")) == set(results["flows"].pop("reorder_distance")) == {0}
    )
    assert results == plain
    assert "failure_losses" not in measure(plain)

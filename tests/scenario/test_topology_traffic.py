# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies and traffic, as published, by their distributions and in the files of other simulators."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.config.folders import DATA
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import (
    Dragonfly,
    Dumbbell,
    FatTree2,
    FatTree3,
    LeafSpine,
    Network,
    ParkingLot,
    Torus,
)
from ns3_env.scenario.traffic import (
    SIZE_CDFS,
    ConstantRate,
    Incast,
    Mix,
    Poisson,
    PoissonIncast,
    mean_size_bytes,
    sample_sizes,
)
from ns3_env.simulator import Simulator
from tests.cpu_time import within_cpu_s
from tests.samples import idle_star
from tests.samples.files import dumped
from tests.samples.idle_star import one_way_ns
from tests.samples.published_texts import (
    FLOWS,
    MATRIX,
    RING_OF_ASTRA_SIM,
    STAR_OF_ASTRA_SIM,
    THREE_TIERS,
    TOPOLOGY,
    TWO_TIERS,
)

RANDOM = np.random.default_rng


def test_dumbbell_is_numbered_as_the_reference() -> None:
    net = Dumbbell(senders=4, rate_bps=1e10, bottleneck_bps=1e9).build()
    assert [link.rate_bps for link in net.links] == [1e10] * 4 + [1e9, 1e10]
    assert net.nodes == ["host"] * 5 + ["switch"] * 2
    assert [(link.a, link.b) for link in net.links] == [(0, 5), (1, 5), (2, 5), (3, 5), (5, 6), (6, 4)]
    assert not net.faults()


def test_fat_tree_3_is_that_of_the_reference() -> None:
    net = FatTree3().build()
    assert net.nodes == ["host"] * 16 + ["switch"] * 10
    pairs = {(min(x.a, x.b), max(x.a, x.b)): x.rate_bps for x in net.links}
    expected = {(host, 16 + host // 4): 100e9 for host in range(16)}
    expected |= {(tor, agg): 400e9 for tor in (16, 17) for agg in (20, 21)}
    expected |= {(tor, agg): 400e9 for tor in (18, 19) for agg in (22, 23)}
    expected |= {(agg, core): 400e9 for agg in (20, 21, 22, 23) for core in (24, 25)}
    assert pairs == expected
    assert len(net.links) == len(expected)
    assert all(link.delay_ns == 1000 for link in net.links)


@pytest.mark.parametrize(
    ("topology", "ports"),
    [
        (Torus(sizes=[4, 3], hosts_per_switch=2), 2 + 4),
        (Torus(sizes=[5, 2, 1]), 1 + 2 + 1),
        (Torus(sizes=[3]), 1 + 2),
        (Dragonfly(), 2 + 3 + 2),
        (Dragonfly(hosts_per_switch=1, switches_per_group=2, links_to_groups=1), 1 + 1 + 1),
    ],
)
def test_direct_networks_are_regular(topology: Torus | Dragonfly, ports: int) -> None:
    """Each switch has as many ports, and no two links are between the same ones."""
    net = topology.build()
    assert not net.faults()
    assert topology.counts() == (len(net.hosts), len(net.nodes) - len(net.hosts), len(net.links))
    degree = Counter(end for link in net.links for end in (link.a, link.b))
    assert {degree[i] for i, kind in enumerate(net.nodes) if kind == "switch"} == {ports}


def test_any_two_groups_of_a_dragonfly_have_one_link() -> None:
    for groups in (None, 5):
        topology = Dragonfly(groups=groups, global_delay_ns=7000)
        net = topology.build()
        hosts = len(net.hosts)
        between = [x for x in net.links if x.delay_ns == 7000]
        pairs = {((x.a - hosts) // 4, (x.b - hosts) // 4) for x in between}
        assert len(pairs) == len(between) == (36 if groups is None else 10)
        assert not net.faults()


def test_neighbours_on_a_torus_are_a_link_apart_around_the_ends() -> None:
    net = Torus(sizes=[2, 3]).build()
    links = {(x.a - 6, x.b - 6) for x in net.links[6:]}
    assert links == {(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)}


def test_fat_tree_2_is_that_of_zhang_2023_and_a_parking_lot_is_a_chain() -> None:
    net = FatTree2().build()
    assert (len(net.hosts), len(net.links)) == (64, 64 + 16)
    assert {link.rate_bps for link in net.links} == {100e9}
    assert Incast()._ends(net) == (list(range(48)), 63)  # the first three racks
    net = ParkingLot(switches=3, hosts_per_switch=2).build()
    assert [net.access_switch(host) for host in net.hosts] == [7, 7, 7, 8, 8, 9, 9]
    assert not net.faults()


@pytest.mark.parametrize("distribution", ["gaussian", "uniform"])
def test_incast_starts_lie_in_the_spread(distribution: str) -> None:
    net = Dumbbell(senders=4).build()
    incast = Incast.model_validate(
        {"flows": 1000, "size_bytes": 7, "start_ns": 50, "spread_ns": 1_000_000, "distribution": distribution}
    )
    flows = incast.generate(net, RANDOM(1))
    starts = np.array(flows.start_ns)
    assert starts.min() >= 50
    assert starts.max() <= 1_000_050
    assert abs(starts.mean() - 500_050) < 40_000
    assert abs(starts.std() - (1e6 / 6 if distribution == "gaussian" else 1e6 / 12**0.5)) < 20_000
    assert flows.src == [i % 4 for i in range(1000)]
    assert set(flows.dst) == {4}
    assert incast.generate(net, RANDOM(1)) == flows
    assert incast.generate(net, RANDOM(2)) != flows


@pytest.mark.parametrize(("name", "mean"), [("websearch", 1_711_250), ("fb_hadoop", 120_421)])
def test_size_distributions_have_the_published_mean(name: str, mean: int) -> None:
    assert mean_size_bytes(SIZE_CDFS[name]) == pytest.approx(mean, abs=1)
    sizes = sample_sizes(SIZE_CDFS[name], 200_000, RANDOM(3))
    assert sizes.mean() == pytest.approx(mean, rel=0.02)
    assert sizes.min() >= 1


def test_poisson_meets_its_load() -> None:
    net = FatTree3().build()
    flows = Poisson(sizes="fb_hadoop", load=0.5, duration_ns=50_000_000).generate(net, RANDOM(4))
    offered = sum(flows.size_bytes) * 8e9 / 50_000_000 / (16 * 100e9)
    assert offered == pytest.approx(0.5, rel=0.05)
    assert flows.start_ns == sorted(flows.start_ns)
    assert all(a != b for a, b in zip(flows.src, flows.dst, strict=True))
    gaps = np.diff(flows.start_ns)
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.1)  # exponential
    assert len(Poisson(duration_ns=1).generate(Dumbbell().build(), RANDOM(5))) == 1


def test_parts_of_a_mix_do_not_disturb_each_other() -> None:
    net = FatTree3().build()
    poisson = Poisson(duration_ns=1_000_000)
    alone = Mix(parts=[poisson]).generate(net, RANDOM(6))
    stream = ConstantRate(src=0, dst=1, rate_bps=1e6)
    both = Mix(parts=[poisson, stream, Incast(flows=8, size_bytes=300_000)]).generate(net, RANDOM(6))
    assert both.start_ns[: len(alone)] == alone.start_ns
    assert both.size_bytes[len(alone) :] == [300_000] * 8


@pytest.mark.parametrize("seed", range(12))
def test_hosts_too_far_apart_are_found_in_any_network(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(30, 90))
    net = Network()
    switches = net.add("switch", n)
    pairs = {(int(random.integers(max(0, b - 4), b)), b) for b in range(1, n)}  # a long tree
    pairs |= {(0, int(random.integers(1, n))) for _ in range(seed % 3)}
    distance = np.where(np.eye(n, dtype=bool), 0, n)
    for a, b in sorted(pairs):
        net.mesh([switches[a]], [switches[b]], 1e9, 1)
        distance[a, b] = distance[b, a] = 1
    places = [int(place) for place in random.integers(0, n, 5)]
    for host, place in zip(net.add("host", len(places)), places, strict=True):
        net.mesh([host], [switches[place]], 1e9, 1)
    for k in range(n):
        distance = np.minimum(distance, distance[:, [k]] + distance[[k], :])
    first = next((p for p in places if distance[p, places].max() > 31), None)
    if first is None:
        assert net.faults() == []
    else:
        (fault,) = net.faults()
        assert fault.startswith(f"links: the path from host {n + places.index(first)} to host ")
        assert f" has {1 + distance[first, places].max()} switches; there may be 32" in fault


def test_a_network_near_the_limits_is_checked_in_seconds() -> None:
    net = FatTree2(access=1000, aggregation=50, hosts_per_access=2).build()
    with within_cpu_s(2):  # a search from each access switch needs several times that
        assert net.faults() == []


def test_a_leaf_spine_has_the_links_and_the_oversubscription_that_it_says() -> None:
    fabric = LeafSpine(
        leaves=3, spines=2, hosts_per_leaf=8, rate_bps=25e9, uplink_bps=50e9, uplink_delay_ns=5000
    )
    assert fabric.oversubscription == 2
    network = fabric.build()
    assert Counter(network.nodes) == {"host": 24, "switch": 5}
    assert Counter((x.rate_bps, x.delay_ns) for x in network.links) == {(25e9, 1000): 24, (50e9, 5000): 6}
    assert network.faults() == []
    assert [network.access_switch(host) for host in (0, 7, 8, 23)] == [24, 24, 25, 26]


def sizes_of(folder: Path, text: str, **more: Any) -> Poisson:
    """The traffic of a file of sizes beside its scenario."""
    (folder / "cdf.txt").write_text(text)
    poisson = {"kind": "poisson", "sizes": {"file": "cdf.txt", **more}, "load": 0.3, "duration_ns": "1ms"}
    traffic = Scenario.load(dumped(folder / "my.yaml", {"traffic": poisson})).traffic
    assert isinstance(traffic, Poisson)
    return traffic


def test_a_distribution_with_its_mean_first_begins_at_its_first_size(tmp_path: Path) -> None:
    """Homa's files have this form."""
    traffic = sizes_of(tmp_path, "6400.5\n100 0.25\n500 0.5\n30000 1.0\n")
    sizes = traffic.generate(FatTree3().build(), RANDOM(1)).size_bytes
    assert (min(sizes), max(sizes) <= 30_000) == (100, True)
    assert 0.2 < sum(size == 100 for size in sizes) / len(sizes) < 0.3


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("# sizes\n\n0 0\n1000 25\n2000 100\n", {}),
        ("0\t.0\r\n1000\t2.5e-1 # a quarter\r\n\r\n2e+3 1.000", {}),
        ("bytes,fraction\n0,0\n1000,0.25\n2000,1\n", {}),
        ("0 1 0\n1000 1 0.25\n2000 1 1", {"unit_bytes": 1}),
        ("0 1 0\n1 1 0.25\n2 1 1", {"unit_bytes": "1kB"}),
    ],
)
def test_each_form_of_a_distribution_is_the_same(text: str, more: dict[str, Any], tmp_path: Path) -> None:
    """Shares that end at 1 are fractions; Opera's files have commas, ns-2's three columns."""
    assert sizes_of(tmp_path, text, **more).cdf == [(0, 0), (1000, 25), (2000, 100)]
    assert Poisson(sizes=[(0, 0), ("1kB", 0.25), ("2kB", 1)]).cdf == [(0, 0), (1000, 25), (2000, 100)]


def test_recurring_incasts_offer_their_load() -> None:
    """HPCC's evaluation: 60-to-1 of 500 kB at 2 % of the network's capacity."""
    network = LeafSpine().build()
    incasts = PoissonIncast(load=0.02, duration_ns=100_000_000)
    flows = incasts.generate(network, np.random.default_rng(1))
    starts = Counter(flows.start_ns)
    expected = 0.02 * 64 * 100e9 * 0.1 / (8 * 60 * 500_000)
    assert incasts.expected_flows(network) == pytest.approx(60 * expected)
    assert len(starts) == pytest.approx(expected, rel=4 / np.sqrt(expected))  # four standard deviations
    assert set(starts.values()) == {60}
    events: dict[int, list[tuple[int, int]]] = {}
    for src, dst, start in zip(flows.src, flows.dst, flows.start_ns, strict=True):
        events.setdefault(start, []).append((src, dst))
    for pairs in events.values():
        senders, receivers = {src for src, _ in pairs}, {dst for _, dst in pairs}
        assert len(senders) == 60
        assert len(receivers) == 1
        assert not senders & receivers
    assert len({pairs[0][1] for pairs in events.values()}) > 25  # of 64, with some 53 incasts
    gaps = np.diff(sorted(events))
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.4)  # exponential


def matrix(folder: Path, text: str) -> Scenario:
    (folder / "m.cm").write_text(text)
    return idle_star.scenario(kind="connections", file=str(folder / "m.cm"))


def tree(folder: Path, text: str, *flows: dict[str, Any]) -> Scenario:
    (folder / "t.topo").write_text(text)
    topology = {"kind": "htsim", "file": str(folder / "t.topo")}
    return idle_star.scenario(topology, kind="list", flows=list(flows))


def test_connections_start_at_their_time_or_behind_others(tmp_path: Path, simulator: Simulator) -> None:
    """A message after another, and one after two other messages."""
    matrix_scenario = matrix(tmp_path, MATRIX)
    results = simulator.play(matrix_scenario)
    flows = results["flows"]
    assert flows["size_bytes"] == [4000, 4000, 2000, 1000]
    assert flows["start_ns"][:2] == [0, 10_000]
    assert flows["start_ns"][2] == pytest.approx(one_way_ns(4000), rel=1e-9)
    ends = [one_way_ns(4000), 10_000 + one_way_ns(4000)]
    assert flows["delivered_ns"][:2] == pytest.approx(ends, rel=1e-9)
    assert flows["start_ns"][3] == pytest.approx(max(ends), rel=1e-9)


MULTISHOT = """Nodes 8
Connections 6
Triggers 1
trigger multishot id 5
0->1 id 1 start 0 size 4000 send_done_trigger 5
2->3 id 2 start 10000000 size 4000 recv_done_trigger 5
4->5 id 3 trigger 5 size 2000 send_done_trigger 5 recv_done_trigger 5
6->7 id 4 trigger 5 size 1000
1->2 id 5 trigger 5 size 1000
7->0 id 6 trigger 5 size 1000
"""


def test_a_multishot_starts_the_next_connection_each_time_it_is_fired(
    tmp_path: Path, simulator: Simulator
) -> None:
    """The first starts the third, whose end fires twice, before the second's, which starts the last."""
    scenario = matrix(tmp_path, MULTISHOT)
    starts = simulator.play(scenario)["flows"]["start_ns"]
    first, twice, last = one_way_ns(4000), one_way_ns(4000) + one_way_ns(2000), 10_000 + one_way_ns(4000)
    assert starts == pytest.approx([0, 10_000, first, twice, twice, last], rel=1e-9)
    again = Scenario.from_mapping(scenario.without_files().model_dump(mode="json"), "again")
    assert simulator.play(again)["flows"]["start_ns"] == starts
    with pytest.raises(ScenarioError, match=r"is fired 4 times, and 5 connections wait .* never start"):
        matrix(tmp_path, MULTISHOT.replace("Connections 6", "Connections 7") + "3->4 trigger 5 size 1\n")
    itself = "0->1 trigger 5 size 1 send_done_trigger 5\ntrigger id 5 multishot\n"
    with pytest.raises(ScenarioError, match="waits for itself"):
        matrix(tmp_path, f"Nodes 2\nConnections 1\nTriggers 1\n{itself}")


def test_a_connection_without_a_size_never_ends(tmp_path: Path) -> None:
    flows = matrix(
        tmp_path, "Nodes 4\nConnections 2\n0->1 start 0\n1->2 id 3 start 1999 size 5 prio 1\n"
    ).flows()
    assert (flows.size_bytes, flows.start_ns) == ([0, 5], [0, 1])


def test_two_tiers_are_leaves_and_spines(tmp_path: Path, simulator: Simulator) -> None:
    """A switch's latency is halved between its links: a path over three switches has it three times."""
    text = TWO_TIERS.replace("Switch_Latency_ns 0", "Switch_Latency_ns 300")
    scenario = tree(tmp_path, text, {"src": 0, "dst": 31, "size_bytes": 1000})
    assert scenario.topology.counts() == (32, 4 + 2, 32 + 4 * 2)
    there = 4 * (1048 * 8 / 100 + 1000) + 3 * 300
    back = 4 * (60 * 8 / 100 + 1000) + 3 * 300
    assert simulator.play(scenario)["flows"]["fct_ns"] == pytest.approx([there + back], rel=1e-9)


def test_three_tiers_have_pods_and_links_side_by_side(tmp_path: Path, simulator: Simulator) -> None:
    flows = [{"src": 0, "dst": dst, "size_bytes": 1000, "start_ns": dst * 100_000} for dst in (1, 2, 7)]
    scenario = tree(tmp_path, THREE_TIERS, *flows)
    assert scenario.topology.counts() == (8, 4 + 4 + 4, 8 + 4 * 2 + 4 * 2)
    links = [2, 4, 6]
    expected = [hops * ((1048 + 60) * 8 / 200 + 2000) for hops in links]
    assert simulator.play(scenario)["flows"]["fct_ns"] == pytest.approx(expected, rel=1e-9)


#: Scenarios of RDMA without groups: the format has neither other transports nor groups.
SCENARIOS = [
    path
    for path in sorted((DATA / "configs" / "scenarios").glob("*.yaml"))
    if (scenario := Scenario.load(path)).transport == "rdma" and not scenario.groups
]


def published(scenario: Scenario) -> tuple[str, str]:
    """A scenario's network and flows as the published simulator has them."""
    network, flows = scenario.topology.build(), scenario.flows()
    switches = [str(i) for i, kind in enumerate(network.nodes) if kind == "switch"]
    topology = [f"{len(network.nodes)} {len(switches)} {len(network.links)}", " ".join(switches)]
    for link in network.links:
        rate, delay = f"{link.rate_bps / 1e9:g}Gbps", f"{link.delay_ns / 1e6:g}ms"
        topology.append(f"{link.a} {link.b} {rate} {delay} 0.000000")
    rows = [str(len(flows))]
    for src, dst, size, start in zip(flows.src, flows.dst, flows.size_bytes, flows.start_ns, strict=True):
        seconds = f"{start // 10**9}.{start % 10**9:09d}5"  # regardless of truncation of the double
        rows.append(f"{src} {dst} 3 100 {size} {seconds}")
    return "\n".join(topology) + "\n", "\n".join(rows) + "\n"


def written(folder: Path, topology: str = TOPOLOGY, flows: str = FLOWS, **others: Any) -> Path:
    (folder / "topology.txt").write_text(topology)
    (folder / "flow.txt").write_text(flows)
    content = {
        "time_limit_ns": "3s",
        "topology": {"kind": "published", "file": "topology.txt"},
        "traffic": {"kind": "published", "file": "flow.txt"},
        **others,
    }
    return dumped(folder / "published.yaml", content)


@pytest.mark.parametrize("file", SCENARIOS, ids=lambda file: file.stem)
def test_a_scenario_written_in_this_format_is_the_same_one(file: Path, tmp_path: Path) -> None:
    reference = Scenario.load(file)
    topology, flows = published(reference)
    others = {"preset": reference.preset, "time_limit_ns": reference.time_limit_ns}
    published_scenario = Scenario.load(written(tmp_path, topology, flows, **others))
    assert published_scenario.to_simulator_json() == reference.to_simulator_json()


def test_topologies_of_astra_sim_have_the_times_of_an_idle_network(
    tmp_path: Path, simulator: Simulator
) -> None:
    """A message over a star; a ring on a ring without switches, whose ACKs go in the other direction."""
    message = {"kind": "list", "flows": [{"src": 0, "dst": 7, "size_bytes": 1_000_000}]}
    ring = {"kind": "collective", "algorithm": "ring_all_reduce", "size_bytes": 8 * 10_000}
    window = [{"name": "fixed-window", "attributes": {"WindowBdp": 1000}}]
    star, circle = (
        Scenario.load(written(tmp_path, topology, traffic=traffic, controllers=window, time_limit_ns="1s"))
        for topology, traffic in ((STAR_OF_ASTRA_SIM, message), (RING_OF_ASTRA_SIM, ring))
    )
    assert star.topology.counts() == (8, 1, 8)
    alone = (1_000_000 // 1000 - 1 + 2) * 1048 * 8 / 400 + 2 * (60 * 8 / 400 + 2 * 500)
    assert simulator.play(star)["flows"]["fct_ns"] == pytest.approx([alone], rel=1e-9)
    # Each of 14 rounds lasts for its packets and a link.
    delivered = simulator.play(circle)["flows"]["delivered_ns"]
    assert max(delivered) == pytest.approx(14 * (10 * 1048 * 8 / 25 + 5000), rel=1e-9)


def test_rows_beyond_those_announced_are_a_comment(tmp_path: Path) -> None:
    more = "2 0 400Gbps 0.001ms 0.000000\n"
    file = written(tmp_path, topology=TOPOLOGY + more, flows="1" + FLOWS[1:])
    with pytest.warns(ScenarioWarning, match="rows more than the first line announces") as warnings:
        scenario = Scenario.load(file)
    texts = [str(warning.message) for warning in warnings]
    assert [text.partition(" rows")[0].rpartition("/")[2] for text in texts] == [
        "topology.txt:10: 1",
        "flow.txt:3: 1",
    ]
    assert len(scenario.flows()) == 1
    assert len(scenario.topology.build().links) == 4


def test_other_ports_and_flows_behind_the_time_limit_are_told(tmp_path: Path) -> None:
    with pytest.warns(ScenarioWarning, match="destination ports other than 100 are not kept"):
        Scenario.load(written(tmp_path, flows=FLOWS.replace(" 100 ", " 101 ")))
    with pytest.raises(
        ScenarioError, match="time_limit_ns: the first flow starts at 2000000000 ns, not before"
    ):
        Scenario.load(written(tmp_path, time_limit_ns=1_000_000))


def test_flows_may_have_an_id_before_their_source(tmp_path: Path) -> None:
    plain = Scenario.load(written(tmp_path)).to_simulator_json()
    number, *rows = FLOWS.splitlines()
    with_ids = "\n".join([number, *(f"{i} {row}" for i, row in enumerate(rows))])
    assert Scenario.load(written(tmp_path, flows=with_ids)).to_simulator_json() == plain

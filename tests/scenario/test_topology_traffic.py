# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies numbered and linked as published, traffic against its distributions and loads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Dumbbell, FatTree2, FatTree3, LeafSpine, Network, ParkingLot
from ns3_env.scenario.traffic import (
    SIZE_CDFS,
    ConstantRate,
    Incast,
    Joining,
    LongShort,
    Mix,
    Poisson,
    PoissonIncast,
    mean_size_bytes,
    sample_sizes,
)
from tests.cpu_time import within_cpu_s
from tests.samples.files import dumped

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


def test_fat_tree_2_is_that_of_zhang_2023() -> None:
    net = FatTree2().build()
    assert len(net.hosts) == 64
    assert len(net.links) == 64 + 16
    assert {link.rate_bps for link in net.links} == {100e9}
    senders, receiver = Incast()._ends(net)
    assert receiver == 63
    assert senders == list(range(48))  # the first three racks


def test_parking_lot_is_a_chain() -> None:
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


def test_poisson_of_a_short_time_has_a_flow() -> None:
    assert len(Poisson(duration_ns=1).generate(Dumbbell().build(), RANDOM(5))) == 1


def test_long_short_and_joining_start_as_published() -> None:
    net = Dumbbell(senders=4).build()
    assert LongShort().generate(net, RANDOM(1)).start_ns == [0, 1_000_000]
    joining = Joining().generate(net, RANDOM(1))
    assert joining.start_ns == [0, 35_000_000, 70_000_000, 105_000_000]
    assert joining.src == [0, 1, 2, 3]


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


POISSON = {"kind": "poisson", "sizes": {"file": "cdf.txt"}, "load": 0.3, "duration_ns": "1ms"}


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


def write_cdf(folder: Path, text: str | None = None) -> None:
    lines = [f"{size:.0f} {percent:g}" for size, percent in SIZE_CDFS["fb_hadoop"]]
    (folder / "cdf.txt").write_text(text if text is not None else "# sizes\n\n" + "\n".join(lines) + "\n")


def scenario_file(folder: Path, traffic: dict[str, Any]) -> Path:
    content = {"time_limit_ns": "1s", "topology": {"kind": "fat_tree_3"}, "traffic": traffic}
    return dumped(folder / "my.yaml", content)


def test_a_distribution_with_its_mean_first_begins_at_its_first_size(tmp_path: Path) -> None:
    """Homa's files have this form."""
    write_cdf(tmp_path, "6400.5\n100 0.25\n500 0.5\n30000 1.0\n")
    sizes = Scenario.load(scenario_file(tmp_path, POISSON)).flows().size_bytes
    assert (min(sizes), max(sizes) <= 30_000) == (100, True)
    assert 0.2 < sum(size == 100 for size in sizes) / len(sizes) < 0.3


def test_a_file_of_sizes_beside_the_scenario_is_its_distribution(tmp_path: Path) -> None:
    write_cdf(tmp_path)
    file = scenario_file(tmp_path, POISSON)
    flows = Scenario.load(scenario_file(tmp_path, {**POISSON, "sizes": "fb_hadoop"})).flows()
    file = scenario_file(tmp_path, POISSON)
    assert Scenario.load(file).flows() == flows
    assert main(["run", str(file), "--controllers", "dctcp", "--out", str(tmp_path / "out")]) == 0
    suite = {"controllers": ["hpcc"], "scenarios": [{"name": "a", "scenario": "my.yaml"}]}
    snapshot = Suite.load(dumped(tmp_path / "suite.yaml", suite)).scenarios[0].scenario
    (tmp_path / "cdf.txt").unlink()
    assert Scenario.from_mapping(snapshot.model_dump(mode="json"), "kept").flows() == flows
    assert isinstance(snapshot.traffic, Poisson)
    assert snapshot.traffic.sizes == SIZE_CDFS["fb_hadoop"]


@pytest.mark.parametrize(
    "text",
    [
        "0 0\n1000 25\n2000 100\n",
        "0 0\n1000 0.25\n2000 1\n",
        "0\t.0\r\n1000\t2.5e-1 # a quarter\r\n\r\n2e+3 1.000",
        [(0, 0), ("1kB", 0.25), ("2kB", 1)],
    ],
)
def test_shares_that_end_at_1_are_fractions(text: str | list[tuple[Any, float]], tmp_path: Path) -> None:
    if isinstance(text, str):
        write_cdf(tmp_path, text)
    sizes = {"file": "cdf.txt"} if isinstance(text, str) else text
    traffic = Scenario.load(scenario_file(tmp_path, {**POISSON, "sizes": sizes})).traffic
    assert isinstance(traffic, Poisson)
    assert traffic.cdf == [(0, 0), (1000, 25), (2000, 100)]


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

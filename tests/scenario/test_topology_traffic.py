# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies numbered and linked as published, and traffic against its distributions."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ns3_env.scenario.topology import Dumbbell, FatTree2, FatTree3, Network, ParkingLot
from ns3_env.scenario.traffic import (
    SIZE_CDFS,
    Incast,
    Joining,
    LongShort,
    Mix,
    Poisson,
    mean_size_bytes,
    sample_sizes,
)

RANDOM = np.random.default_rng


def test_dumbbell_is_numbered_as_the_reference() -> None:
    net = Dumbbell(senders=4).build()
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
    both = Mix(parts=[poisson, Incast(flows=8, size_bytes=300_000)]).generate(net, RANDOM(6))
    assert both.start_ns[: len(alone)] == alone.start_ns
    assert both.size_bytes[len(alone) :] == [300_000] * 8


@pytest.mark.parametrize("seed", range(40))
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
    net = FatTree2(access=2000, aggregation=100, hosts_per_access=2).build()
    began = time.process_time()
    assert net.faults() == []
    assert time.process_time() - began < 10  # a search from each access switch takes half a minute

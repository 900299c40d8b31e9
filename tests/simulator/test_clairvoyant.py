# SPDX-License-Identifier: GPL-2.0-or-later
"""Clairvoyant end hosts against closed forms: the least remaining first, or equal shares."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from ns3_env.programs.executable import network_bounds, references
from ns3_env.simulator import Simulator
from tests.simulator.one_bottleneck import dumbbell, waited, work_ns

ORDERED = ("clairvoyant", "clairvoyant-slowdown")
#: Bytes of a full packet, and its time at 100 Gb/s.
PACKET = 1048
PACKET_NS = PACKET * 8 / 100

ordered = pytest.mark.parametrize("controller", ORDERED)


@ordered
def test_flows_follow_each_other_without_a_round_trip_between(simulator: Simulator, controller: str) -> None:
    """Each flow waits for the work of all shorter ones: SRPT's minimum mean."""
    sizes = [int(size) for size in np.random.default_rng(3).integers(20_000, 2_000_000, 12)]
    flows = [{"src": i, "size_bytes": x} for i, x in enumerate(sizes)]
    results = simulator.play(dumbbell(controller, 12, flows))
    order = np.argsort(sizes)
    before = [0, *accumulate(work_ns(sizes[i]) for i in order[:-1])]
    assert waited(results)[order] == pytest.approx(before, abs=PACKET_NS)
    assert max(port["max_bytes"] for port in results["queues"]) < 10 * PACKET


@ordered
@pytest.mark.parametrize("source", [0, 1], ids=["same host", "another host"])
def test_a_short_flow_passes_a_long_one(simulator: Simulator, controller: str, source: int) -> None:
    long = {"src": 0, "size_bytes": 5_000_000}
    short = {"src": source, "size_bytes": 30_000, "start_ns": 123_457}
    length, delay = waited(simulator.play(dumbbell(controller, 2, [long, short])))
    assert 0 <= delay <= 2 * PACKET_NS
    assert length == pytest.approx(work_ns(30_000), abs=PACKET_NS)


def test_the_order_for_slowdowns_weighs_a_flows_bytes_by_its_size(simulator: Simulator) -> None:
    """0.5 MB are left of 2 MB when 0.6 MB come: fewer bytes, but a small share of a long flow's time.

    At each of three ports the packet in transmission has to end.
    """
    start = round(work_ns(1_500_000))
    flows = [{"src": 0, "size_bytes": 2_000_000}, {"src": 1, "size_bytes": 600_000, "start_ns": start}]
    results = {name: waited(simulator.play(dumbbell(name, 2, flows))) for name in ORDERED}
    assert results["clairvoyant"] == pytest.approx([0, work_ns(500_000)], abs=3 * PACKET_NS)
    assert results["clairvoyant-slowdown"] == pytest.approx([work_ns(600_000), 0], abs=3 * PACKET_NS)


def test_under_fair_shares_flows_end_as_max_min_has_it(simulator: Simulator) -> None:
    """A flow over two links, one more on the first, two on the second: 1/3, 2/3 and twice 1/3."""
    pairs = [(0, 5), (1, 4), (3, 6), (4, 6)]
    flows = [{"src": a, "dst": b, "size_bytes": 3_000_000} for a, b in pairs]
    topology = {"kind": "parking_lot", "switches": 3, "hosts_per_switch": 2}
    fair = dumbbell("clairvoyant-fair", 3, flows, topology=topology)
    times = {name: waited(simulator.play(fair.under(name))) for name in ("clairvoyant-fair", "max_min")}
    assert times["max_min"] == pytest.approx(work_ns(3_000_000) * np.array([2, 0.5, 2, 2]), rel=1e-6)
    assert times["clairvoyant-fair"] == pytest.approx(times["max_min"], abs=20 * PACKET_NS)


def test_a_flow_waits_for_a_shorter_one_of_another_controller_which_stays_there(simulator: Simulator) -> None:
    """The shorter one has the link, and the longer one follows at its end."""
    flows = [{"src": 0, "size_bytes": 2_000_000}, {"src": 1, "size_bytes": 1_000_000, "controller": "dcqcn"}]
    mixed = dumbbell("hpcc", 2, flows, controllers=["hpcc", "dcqcn"]).under("clairvoyant")
    assert [x.name for x in mixed.controllers] == ["clairvoyant", "hpcc", "dcqcn"]
    long, short = waited(results := simulator.play(mixed))
    assert short == pytest.approx(0, abs=PACKET_NS)
    assert long == pytest.approx(results["flows"]["fct_ns"][1], abs=PACKET_NS)


@ordered
@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_lost_packets_are_sent_again(simulator: Simulator, controller: str, recovery: str) -> None:
    flows = [{"src": i, "size_bytes": 500_000} for i in range(20)]
    lossy = {"loss_probability": 0.001, "recovery": {"kind": recovery}}
    totals = simulator.play(dumbbell(controller, 20, flows, **lossy))["totals"]
    assert totals["unfinished"] == 0
    assert totals["dropped_packets"] > 5


def test_they_are_references_that_other_controllers_may_join() -> None:
    assert {*ORDERED, "clairvoyant-fair"} == references() - network_bounds()

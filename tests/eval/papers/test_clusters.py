# SPDX-License-Identifier: GPL-2.0-or-later
"""Published comparisons of clusters: networks as they are described, and times on idle ones."""

from __future__ import annotations

from collections import Counter

import pytest

from ns3_env.eval.papers.clusters import rings
from ns3_env.eval.papers.runs import finished_ns
from ns3_env.simulator import Simulator


def test_fabrics_have_64_gpus_of_eight_nodes_below_a_leaf_or_32_of_one_rail_each() -> None:
    for kind, leaves, gpus in ((rings.RAILS, 8, 32), (rings.LEAVES, 4, 64)):
        network = rings.NETWORKS[kind][0].build()
        assert network.faults() == []
        below = Counter(network.access_switch(gpu) for gpu in range(256))
        assert (len(below), set(below.values())) == (leaves, {gpus})
        assert len(network.nodes) == 256 + leaves + 64
    assert network.access_switch(0) == network.access_switch(63) != network.access_switch(64)


def test_a_ring_in_a_node_takes_its_rounds(simulator: Simulator) -> None:
    """14 rounds of 2 us and 250 kB at 180 GB/s with headers, and a packet more at the switch."""
    scenario = rings.node_cases(2_000_000 / (512 * rings.MIB))[16]
    chunk, packets = 250_000, 28
    transfer = (chunk + 48 * packets) / 180 + 2 * 25 + (9048) / 180
    assert finished_ns(simulator.play(scenario)) == pytest.approx(14 * (2000 + transfer), rel=0.01)

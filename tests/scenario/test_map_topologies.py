# SPDX-License-Identifier: GPL-2.0-or-later
"""Networks of maps: GraphML of the Topology Zoo and of networkx, Rocketfuel's."""

from pathlib import Path
from typing import Any

import networkx
import pytest

from ns3_env.errors import ScenarioWarning
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import Network
from tests.samples.published_texts import file_text


def network(folder: Path, text: str, **topology: Any) -> Network:
    (folder / "map").write_text(text)
    content = {
        "topology": {"kind": "graphml", "file": "map", **topology},
        "traffic": {"kind": "list", "flows": [{"src": 0, "dst": 1, "size_bytes": 1000}]},
    }
    return Scenario.from_mapping(content, "s.yaml", folder).topology.build()


def test_nodes_of_the_topology_zoo_are_switches_with_a_host_each(tmp_path: Path) -> None:
    """New York and Chicago are 1,144 km apart; two links of 2.5 Gb/s are one of 5 Gb/s."""
    net = network(tmp_path, file_text("zoo.graphml"), rate_bps="40Gbps")
    assert net.nodes == ["host"] * 3 + ["switch"] * 3
    assert [(x.a, x.b) for x in net.links] == [(0, 3), (1, 4), (2, 5), (3, 4), (5, 4)]
    assert [x.rate_bps for x in net.links] == [40e9] * 3 + [10e9, 5e9]
    assert net.links[3].delay_ns == pytest.approx(1_144_000 / 2e8 * 1e9, rel=0.002)
    assert [x.delay_ns for i, x in enumerate(net.links) if i != 3] == [1000] * 4
    hosts = network(tmp_path, file_text("zoo.graphml"), hosts_per_switch=2).hosts
    assert hosts == list(range(6))


def test_a_graph_of_networkx_has_the_hosts_that_it_says(tmp_path: Path) -> None:
    """A directed graph has each link in both directions."""
    graph = networkx.DiGraph()
    graph.add_node("s", kind="switch")
    for name in ("a", "b"):
        graph.add_node(name, kind="host")
        for ends in ((name, "s"), ("s", name)):
            graph.add_edge(*ends, rate_bps=25_000_000_000, delay_ns=500)
    net = network(tmp_path, "\n".join(networkx.generate_graphml(graph)))
    assert net.nodes == ["host", "host", "switch"]
    assert [(x.rate_bps, x.delay_ns) for x in net.links] == [(25e9, 500)] * 2


def test_links_without_a_rate_are_warned_of(tmp_path: Path) -> None:
    text = "\n".join(networkx.generate_graphml(networkx.path_graph(3)))
    with pytest.warns(ScenarioWarning, match="2 of 2 links have no rate: each gets rate_bps, 1e\\+11 bit/s"):
        network(tmp_path, text)


def test_rocketfuel_has_routers_or_latencies(tmp_path: Path) -> None:
    """Routers outside, and those that nothing connects with the others, are left out."""
    keys = {"kind": "rocketfuel", "rate_bps": "10Gbps"}
    with pytest.warns(ScenarioWarning, match="2 of 5 routers are not connected with the others"):
        routers = network(tmp_path, file_text("routers.cch"), **keys, delay_ns="1ms")
    latencies = network(tmp_path, file_text("latencies.intra"), **keys)
    for net in (routers, latencies):
        assert net.nodes == ["host"] * 3 + ["switch"] * 3
        assert [(x.a, x.b) for x in net.links] == [(0, 3), (1, 4), (2, 5), (3, 4), (3, 5)]
    assert [x.delay_ns for x in routers.links] == [1_000_000] * 5
    assert [x.delay_ns for x in latencies.links[3:]] == [33_000_000, 1_500_000]

# SPDX-License-Identifier: GPL-2.0-or-later
"""htsim's connection matrices and topologies: read as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.samples import idle_star
from tests.samples.idle_star import one_way_ns
from tests.samples.published_texts import MATRIX, THREE_TIERS, TWO_TIERS


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

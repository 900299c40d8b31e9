# SPDX-License-Identifier: GPL-2.0-or-later
"""Topologies and flows as htsim and the published simulator have them: read as they are, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ns3_env.config.folders import DATA
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
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


def test_eval_run_plays_them_with_starts_as_their_doubles_are_cut(tmp_path: Path) -> None:
    file, out = written(tmp_path), tmp_path / "out"
    assert main(["run", str(file), "--controllers", "dctcp", "--out", str(out)]) == 0
    rows = [row.split(",") for row in (out / "dctcp" / "flows.csv").read_text().splitlines()]
    assert [row[:4] for row in rows[1:]] == [
        ["0", "2", "200000", "2000000000"],
        ["1", "2", "64000", "2000000122"],
    ]
    assert [row[-1] for row in rows] == ["finished", "1", "1"]


def test_a_suite_keeps_what_the_files_hold(tmp_path: Path) -> None:
    file = written(tmp_path)
    entry = {"name": "published", "scenario": file.name}
    suite = dumped(tmp_path / "suite.yaml", {"controllers": ["hpcc"], "scenarios": [entry]})
    snapshot = Suite.load(suite).scenarios[0].scenario
    before = Scenario.load(file).to_simulator_json()
    for name in ("topology.txt", "flow.txt"):
        (tmp_path / name).unlink()
    assert (snapshot.topology.kind, snapshot.traffic.kind) == ("graph", "list")
    assert Scenario.from_mapping(snapshot.model_dump(mode="json"), "kept").to_simulator_json() == before


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

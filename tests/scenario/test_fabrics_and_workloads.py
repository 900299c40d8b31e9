# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaf-spine fabrics, flow sizes from a file, and recurring incasts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.commands.evaluation import main
from ns3_env.scenario import Scenario
from ns3_env.scenario.topology import LeafSpine
from ns3_env.scenario.traffic import SIZE_CDFS, Poisson, PoissonIncast
from ns3_env.simulator import Simulator

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


def test_flows_spread_over_the_spines_and_share_what_these_carry() -> None:
    """Eight senders of one leaf at 25 Gb/s over 2 x 50: each gets half of its link, at the best."""
    flows = [{"src": i, "dst": 8 + i, "size_bytes": "2MB"} for i in range(8)]
    scenario = Scenario.from_mapping(
        {
            "time_limit_ns": "1s",
            "topology": {
                **{"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 8},
                **{"rate_bps": "25Gbps", "uplink_bps": "50Gbps"},
            },
            "traffic": {"kind": "list", "flows": flows},
        },
        "test",
    ).under("dctcp")
    with Simulator() as simulator:
        results = simulator.play(scenario)
    up = [port for port in results["queues"] if port["node"] == 16 and port["peer"] in (18, 19)]
    assert len(up) == 2  # ECMP uses both
    assert sum(port["tx_bytes"] for port in up) == pytest.approx(8 * 2e6 * 1.048, rel=0.01)
    assert max(results["flows"]["end_ns"]) > 8 * 2e6 * 8 / 100  # ns at 100 Gb/s


def write_cdf(folder: Path, text: str | None = None) -> None:
    lines = [f"{size:.0f} {percent:g}" for size, percent in SIZE_CDFS["fb_hadoop"]]
    (folder / "cdf.txt").write_text(text if text is not None else "# sizes\n\n" + "\n".join(lines) + "\n")


def scenario_file(folder: Path, traffic: dict[str, Any]) -> Path:
    content = {"time_limit_ns": "1s", "topology": {"kind": "fat_tree_3"}, "traffic": traffic}
    (folder / "my.yaml").write_text(yaml.safe_dump(content))
    return folder / "my.yaml"


def test_a_file_of_sizes_beside_the_scenario_is_its_distribution(tmp_path: Path) -> None:
    write_cdf(tmp_path)
    file = scenario_file(tmp_path, POISSON)
    named = Scenario.load(scenario_file(tmp_path, {**POISSON, "sizes": "fb_hadoop"})).flows()
    file = scenario_file(tmp_path, POISSON)
    assert Scenario.load(file).flows() == named
    assert main(["run", str(file), "--controllers", "dctcp", "--out", str(tmp_path / "out")]) == 0
    (tmp_path / "suite.yaml").write_text(
        yaml.safe_dump({"controllers": ["hpcc"], "scenarios": [{"name": "a", "scenario": "my.yaml"}]})
    )
    kept = Suite.load(tmp_path / "suite.yaml").scenarios[0].scenario
    (tmp_path / "cdf.txt").unlink()
    assert Scenario.from_mapping(kept.model_dump(mode="json"), "kept").flows() == named
    assert isinstance(kept.traffic, Poisson)
    assert kept.traffic.sizes == SIZE_CDFS["fb_hadoop"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("0 0\n10 50 x\n100 100\n", "cdf.txt:2: '10 50 x' is no point; a line holds size_bytes and percent"),
        ("0 0\n100 60\n50 100\n", "cdf.txt:3: sizes and percentages must ascend from line to line"),
        ("0 0\n100 1.0\n", "cdf.txt: points (bytes, percent) must ascend, from 0 to 100 percent"),
        ("", "cdf.txt: points (bytes, percent) must ascend, from 0 to 100 percent"),
        ("0 0\n1e16 100\n", "cdf.txt:2: size_bytes is 1e16, must be in [0, "),
    ],
)
def test_a_file_that_is_no_distribution_is_refused_with_its_line(
    text: str, wanted: str, tmp_path: Path
) -> None:
    write_cdf(tmp_path, text)
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(scenario_file(tmp_path, POISSON))
    assert f"traffic.sizes.file: {tmp_path}/{wanted}" in str(caught.value)


def test_a_missing_file_of_sizes_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=f"traffic.sizes.file: {tmp_path}/cdf.txt: No such file"):
        Scenario.load(scenario_file(tmp_path, POISSON))


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


def test_they_join_a_mix_and_are_played(tmp_path: Path) -> None:
    incasts = {"kind": "poisson_incast", "fan_in": 8, "size_bytes": "20kB", "duration_ns": "1ms"}
    mix = {"kind": "mix", "parts": [{**POISSON, "sizes": "fb_hadoop"}, {**incasts, "events_per_s": 5000}]}
    file = scenario_file(tmp_path, mix)
    assert Scenario.load(file).flow_count > 8
    assert main(["run", str(file), "--controllers", "hpcc", "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ({}, "give one of load and events_per_s; there is neither (HPCC's evaluation: load: 0.02)"),
        ({"load": 0.1, "events_per_s": 5}, "give one of load and events_per_s; there is both"),
        ({"load": 0.02}, "traffic.fan_in: 60 senders, but there are only 15 hosts beside the receiver"),
        ({"load": 1.0, "fan_in": 1, "size_bytes": 1, "duration_ns": "1s"}, "there may be at most 1000000"),
    ],
)
def test_incasts_that_cannot_be_are_refused(keys: dict[str, Any], wanted: str, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(scenario_file(tmp_path, {"kind": "poisson_incast", **keys}))
    assert wanted in str(caught.value)

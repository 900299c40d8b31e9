# SPDX-License-Identifier: GPL-2.0-or-later
"""The same network twice: scripts of ns-3 have the results of rdma-sim, bit for bit."""

import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ns3_env.errors import ScenarioError
from ns3_env.policies.released import released
from ns3_env.scenario import Scenario
from ns3_env.scenario.script import script_text
from ns3_env.simulator import Simulator
from tests.ns3module.building import build

#: The last of them under a policy's file, the one before with two cards at each host.
SCENARIOS = 14


def two_rails(hosts: int) -> dict[str, Any]:
    """Two switches, to each of which every host has a link: a host's two links are not adjacent there."""
    links = [
        {"a": host, "b": hosts + rail, "rate_bps": ("100Gbps", "40Gbps")[rail], "delay_ns": 1000}
        for rail in range(2)
        for host in reversed(range(hosts))
    ]
    return {"kind": "graph", "nodes": ["host"] * hosts + ["switch"] * 2, "links": links}


def drawn(number: int) -> Scenario:
    """A scenario with a network, traffic, controllers, switches and paths drawn by its number."""
    draw = random.Random(number)
    topology = draw.choice(
        [
            {"kind": "dumbbell", "senders": draw.randint(2, 6), "bottleneck_bps": "40Gbps"},
            {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 3, "uplink_bps": "100Gbps"},
            {"kind": "fat_tree_3", "hosts_per_tor": 1, "rate_bps": "25Gbps", "fabric_bps": "50Gbps"},
            {"kind": "parking_lot", "switches": 3, "hosts_per_switch": 2},
        ]
    )
    if number == SCENARIOS - 2:
        topology = two_rails(hosts=4)
    spread = draw.choice([0, 3000])
    traffic = draw.choice(
        [
            {"kind": "incast", "flows": 12, "size_bytes": draw.randint(1, 300_000), "spread_ns": spread},
            {"kind": "poisson", "load": 0.5, "duration_ns": 60_000, "sizes": "fb_hadoop"},
        ]
    )
    names = ["dcqcn", "hpcc", "timely", "swift", "powertcp", "dctcp", "nscc", "fixed-window", "qcn"]
    data: dict[str, Any] = {
        "topology": topology,
        "traffic": traffic,
        "controllers": [draw.choice(names)],
        "time_limit_ns": 3_000_000,
        "switch": draw.choice(
            [
                {"pfc": True, "buffer_bytes": 600_000, "pfc_alpha_shift": draw.choice([3, 6])},
                {"pfc": False, "buffer_bytes": 60_000},
                {},
            ]
        ),
        "load_balancing": draw.choice(["ecmp", {"kind": "spray", "by": "random"}, {"kind": "flowlet"}]),
        "loss_probability": draw.choice([0, 0, 1e-3]),
        "recovery": draw.choice(["go_back_n", "selective_repeat"]),
        "record": {"events": True, "windows": True},
    }
    if data["controllers"] == ["qcn"]:  # whose frames go back by a flow's one path
        data["load_balancing"] = "ecmp"
    scenario = Scenario.from_mapping(data, f"scenario {number}").with_seed(number + 1)
    return scenario.under("agent").playing(released("fdcc")) if number == SCENARIOS - 1 else scenario


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that runs any of the scenarios: their scripts, each in its own namespace."""
    folder = tmp_path_factory.mktemp("scripts")
    texts = [script_text(drawn(number)) for number in range(SCENARIOS)]
    heads = "".join(line + "\n" for line in texts[0].splitlines() if line.startswith("#include"))
    spaces = "".join(f"namespace s{i} {{\n{text}\n}}\n" for i, text in enumerate(texts))
    calls = "".join(f"case {i}: return s{i}::main(argc - 1, argv + 1);\n" for i in range(SCENARIOS))
    source = folder / "scripts.cc"
    source.write_text(
        f"{heads}{spaces}int main(int argc, char** argv)\n"
        f"{{ switch (std::atoi(argv[1])) {{ {calls}default: return 1; }} }}\n"
    )
    return build(source, folder / "scripts")


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator()


@pytest.mark.parametrize("number", range(SCENARIOS))
def test_a_script_comes_to_what_the_simulator_comes_to(
    scripts: Path, simulator: Simulator, tmp_path: Path, number: int
) -> None:
    scenario = drawn(number)
    file = tmp_path / "results.json"
    subprocess.run([scripts, str(number), f"--results={file}"], check=True, capture_output=True)
    script, simulated = json.loads(file.read_text()), simulator.play(scenario)
    for results in (script, simulated):
        del results["totals"]["events"]  # a script has additional events
    assert script == simulated


def test_the_scenarios_have_marks_pauses_drops_and_losses(simulator: Simulator) -> None:
    results = [simulator.play(drawn(number)) for number in range(SCENARIOS)]
    causes = {loss["cause"] for x in results for loss in x["losses"]}
    assert causes == {"buffer_full", "link"}
    assert sum(bool(x["marks"]) for x in results) >= 5
    assert sum(bool(x["pauses"]) for x in results) >= 2


def test_what_scripts_do_not_have_is_said() -> None:
    tcp = Scenario.from_mapping(
        {"transport": "tcp", "topology": {"kind": "dumbbell"}, "traffic": {"kind": "incast"}}, "a.yaml"
    )
    with pytest.raises(ScenarioError, match=r"a\.yaml: transport: scripts have RDMA's flows, not TCP's"):
        script_text(tcp)

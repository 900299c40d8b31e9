# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of docs/branching.md: what a branch costs. python docs/make/branching.py prints Markdown."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, Simulator

AGENT = [{"name": "agent"}]
INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 8},
    "traffic": {"kind": "incast", "size_bytes": 1_000_000, "spread_ns": 10_000},
    "controllers": AGENT,
}


def kib(pid: int | None, *names: str) -> float:
    """Sum of these entries of a process's memory."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.split(":")[0] in names)


#: Fat-trees by hosts: pods, switches of a pod, hosts of a switch.
TREES = {16: (2, 2, 4), 128: (4, 4, 8), 1024: (16, 4, 16)}


def fat_tree(hosts: int) -> dict[str, Any]:
    """WebSearch at 50 %, the first 50 flows under the agent."""
    pods, tors, under = TREES[hosts]
    topology = {"kind": "fat_tree_3", "pods": pods, "tors_per_pod": tors, "hosts_per_tor": under}
    return {
        "topology": {**topology, "aggregation_per_pod": tors, "cores": tors * max(pods // 4, 1)},
        "traffic": {"kind": "poisson", "sizes": "websearch", "load": 0.5, "duration_ns": 5_000_000},
        "time_limit_ns": 1_000_000_000,
        "controllers": [*AGENT, {"name": "hpcc"}],
        "controlled_flows": list(range(50)),
    }


def step(simulator: Simulator) -> None:
    """One message on; flows keep a window of 50 kB."""
    due = simulator._due
    simulator.send_actions(np.tile([50_000, 1e10, 0.0], (due, 1)))
    assert isinstance(simulator.receive(), DecisionBatch)


def cost() -> None:
    print(
        "| network, in mid-run | the original's memory | a branch takes | its own memory "
        "| after 10 decisions | 100 |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    cells = {"8-to-1, 1 MB each": INCAST} | {
        f"fat-tree of {hosts:,} hosts, WebSearch 50 %": fat_tree(hosts) for hosts in TREES
    }
    for name, keys in cells.items():
        with Simulator(1024) as simulator:
            simulator.send_reset(Scenario.from_mapping(keys, name).with_seed(1))
            assert isinstance(simulator.receive(), DecisionBatch)
            for _ in range(100):
                step(simulator)
            took, own = [], []
            for _ in range(21):
                began = time.perf_counter()
                (branch,) = simulator.branch()
                took.append(time.perf_counter() - began)
                grown = [private(branch)]
                for decisions in (10, 90):
                    for _ in range(decisions):
                        step(branch)
                    grown.append(private(branch))
                own.append(grown)
                branch.close()
            whole, extra = kib(simulator.pid, "Rss") / 1024, np.median(own, axis=0)
            print(
                f"| {name} | {whole:.0f} MB | {np.median(took) * 1e3:.1f} ms | "
                f"{' | '.join(f'{x:.2f} MB' for x in extra)} |",
                flush=True,
            )


def private(simulator: Simulator) -> float:
    """Memory that is the process's own, in MB."""
    return kib(simulator.pid, "Private_Dirty", "Private_Clean") / 1024


if __name__ == "__main__":
    cost()

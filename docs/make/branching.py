# SPDX-License-Identifier: GPL-2.0-or-later
"""Table of docs/branching.md: the cost of a branch. python docs/make/branching.py prints Markdown."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.eval.output.table import markdown_table
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, Simulator

AGENT = [{"name": "agent"}]
INCAST: dict[str, Any] = {
    "topology": {"kind": "dumbbell", "senders": 8},
    "traffic": {"kind": "incast", "size_bytes": 1_000_000, "spread_ns": 10_000},
    "controllers": AGENT,
}
#: Fat-trees by hosts: pods, switches of a pod, hosts of a switch.
TREES = {16: (2, 2, 4), 128: (4, 4, 8), 1024: (16, 4, 16)}
HEADS = "network, in mid-run|the original's memory|a branch takes|its own memory|after 10 decisions|100"


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


def mebibytes(simulator: Simulator, *names: str) -> float:
    """Sum of these entries of a process's memory."""
    lines = Path(f"/proc/{simulator.pid}/smaps_rollup").read_text().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.split(":")[0] in names) / 1024


def steps(simulator: Simulator, count: int) -> float:
    """The process's own memory after this number of messages, in which flows keep a window of 50 kB."""
    for _ in range(count):
        simulator.send_actions(np.tile([50_000, 1e10, 0.0], (simulator._due, 1)))
        assert isinstance(simulator.receive(), DecisionBatch)
    return mebibytes(simulator, "Private_Dirty", "Private_Clean")


def row(name: str, keys: dict[str, Any]) -> list[str]:
    """Medians of 21 branches."""
    with Simulator(1024) as simulator:
        simulator.send_reset(Scenario.from_mapping(keys, name).with_seed(1))
        assert isinstance(simulator.receive(), DecisionBatch)
        steps(simulator, 100)
        costs = []
        for _ in range(21):
            start = time.perf_counter()
            (branch,) = simulator.branch()
            seconds = time.perf_counter() - start
            costs.append((1e3 * seconds, *(steps(branch, count) for count in (0, 10, 90))))
            branch.close()
        ms, *memory = np.median(costs, axis=0)
        whole = mebibytes(simulator, "Rss")
        return [name, f"{whole:.0f} MB", f"{ms:.1f} ms", *(f"{x:.2f} MB" for x in memory)]


def main() -> None:
    trees = {f"fat-tree of {hosts:,} hosts, WebSearch 50 %": fat_tree(hosts) for hosts in TREES}
    rows = [row(name, keys) for name, keys in {"8-to-1, 1 MB each": INCAST, **trees}.items()]
    print(*markdown_table(HEADS.split("|"), rows), sep="\n")


if __name__ == "__main__":
    main()

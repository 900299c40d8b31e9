# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables and picture of docs/branching.md.

Usage: python docs/make/branching.py cost | planner | picture. The first two print Markdown, the planner after
some minutes; the last draws docs/images/branching.png.
"""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from pictures import save

from ns3_env.agents.planning.branched_play import BranchedPlay
from ns3_env.agents.planning.counterfactual import differences
from ns3_env.agents.planning.planner import Planner
from ns3_env.agents.planning.rollout import Plan
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import Scenario
from ns3_env.simulator import DecisionBatch, Simulator

ROOT = Path(__file__).parents[2]
AGENT = [{"name": "agent"}]
CELLS: dict[str, dict[str, Any]] = {
    "8-to-1, 200 kB each": {
        "topology": {"kind": "dumbbell", "senders": 8},
        "traffic": {"kind": "incast", "size_bytes": 200_000, "spread_ns": 10_000},
    },
    "four of 400 kB join within 160 µs": {
        "topology": {"kind": "dumbbell", "senders": 4},
        "traffic": {"kind": "incast", "size_bytes": 400_000, "spread_ns": 160_000},
    },
    "burst of 16, 60 kB each": {
        "topology": {"kind": "dumbbell", "senders": 16},
        "traffic": {"kind": "incast", "size_bytes": 60_000, "spread_ns": 5_000},
    },
    "burst of 16, 200 kB each": {
        "topology": {"kind": "dumbbell", "senders": 16},
        "traffic": {"kind": "incast", "size_bytes": 200_000, "spread_ns": 5_000},
    },
    "WebSearch at 50 %, 8 hosts, 0.2 ms": {
        "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4},
        "traffic": {"kind": "poisson", "sizes": "websearch", "load": 0.5, "duration_ns": 200_000},
        "time_limit_ns": 20_000_000,
    },
}
SEEDS = range(1, 6)
#: Base RTTs that the planner looks ahead, where it does not look to the end.
HORIZON = 10


def released(name: str) -> NetworkPolicy:
    return NetworkPolicy.load(ROOT / "checkpoints" / name / "policy.safetensors")


def scenario(keys: dict[str, Any], seed: int) -> Scenario:
    return Scenario.from_mapping({**keys, "controllers": AGENT}, "branching").with_seed(seed)


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
    cells = {"8-to-1, 1 MB each": {**CELLS["8-to-1, 200 kB each"], "controllers": AGENT}}
    cells["8-to-1, 1 MB each"]["traffic"] = {"kind": "incast", "size_bytes": 1_000_000, "spread_ns": 10_000}
    cells |= {f"fat-tree of {hosts:,} hosts, WebSearch 50 %": fat_tree(hosts) for hosts in TREES}
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


def planner() -> None:
    print(
        "| cell | base | slowdown | planned to the end | gain (95 %) | changed decisions "
        f"| gain, {HORIZON} RTTs ahead |"
    )
    print("|---|---|--:|--:|--:|--:|--:|")
    for cell, keys in CELLS.items():
        every = 4 if cell.startswith("WebSearch") else 2
        for base in ("hpcc", "mpcc", "fdcc", "dispatcher"):
            whole, ahead = (
                [
                    Planner(base=base, every=every, horizon_rtts=horizon).play(scenario(keys, seed))
                    for seed in SEEDS
                ]
                for horizon in (None, HORIZON)
            )
            changed = sum(one.changed for one in whole) / sum(one.decisions for one in whole)
            print(
                f"| {cell} | `{base}` | {np.mean([x.base for x in whole]):.2f} "
                f"| {np.mean([x.planned for x in whole]):.2f} | {gain(whole)} | {100 * changed:.0f} % "
                f"| {gain(ahead)} |",
                flush=True,
            )


def gain(plans: list[Plan]) -> str:
    """Of the plans over their bases, with an interval."""
    gains = 100 * np.array([1 - one.planned / one.base for one in plans])
    low, high = bootstrap_interval(gains)
    return f"{np.mean(gains):.1f} % ({low:.1f} to {high:.1f})"


def picture() -> None:
    import matplotlib.pyplot as plt

    keys = {**CELLS["8-to-1, 200 kB each"], "record": {"queue_series_ns": 500}}
    factors = (0.25, 0.5, 1.0, 2.0, 4.0)
    colours = ("#0072b2", "#56b4e9", "#333333", "#e69f00", "#d55e00")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(3, 2), layout="constrained")
    policy = released("dispatcher")
    with BranchedPlay(scenario(keys, 1), policy) as play:
        while play.waiting is not None and play.waiting.time_ns < 60_000:
            play.step()
        assert play.waiting is not None
        at_ns = play.waiting.time_ns
        for factor, colour in zip(factors, colours, strict=True):
            with play.branch() as future:
                flows = dict.fromkeys(range(8), factor)
                for _ in range(8):
                    if future.waiting is not None:
                        future.step(flows)
                slowdown = future.play_on()
                port = max(future.results["queues"], key=lambda one: one["mean_bytes"])
                series = port["series"]
            times, queue = np.divide(series["t_ns"], 1000), np.divide(series["bytes"], 1000)
            label = f"x {factor:g}: slowdown {slowdown:.2f}"
            left.plot(times, queue, color=colour, lw=2 if factor == 1 else 1.3, label=label)
    left.axvline(at_ns / 1000, color="#999999", lw=0.8, ls=":")
    left.set(
        xlabel="time, µs", ylabel="queue, kB", xlim=(0, 170), title="One network, branched at the dotted line"
    )
    left.legend(frameon=False, title="next windows of the policy")
    credits = list(differences(scenario(CELLS["8-to-1, 200 kB each"], 1), released("fdcc"), share=0.5))
    own, others = np.array([x.own for x in credits]), np.array([x.others for x in credits])
    right.axhline(0, color="#cccccc", lw=0.8)
    right.axvline(0, color="#cccccc", lw=0.8)
    right.plot([-1, 1], [1, -1], color="#cccccc", lw=0.8)
    right.scatter(own, others, s=12, color="#0072b2", alpha=0.6)
    reach = 1.1 * float(np.abs([own, others]).max())
    right.set(xlim=(-reach, reach), ylim=(-reach, reach))
    right.set(xlabel="own slowdown, against keeping the window", ylabel="change of all others', summed")
    right.set(title="Decisions of fdcc")
    save(figure, "branching")


if __name__ == "__main__":
    {"cost": cost, "planner": planner, "picture": picture}[sys.argv[1]]()

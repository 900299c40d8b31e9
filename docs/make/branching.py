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

from ns3_env.agents.baselines.hpcc import HpccOncePerRtt
from ns3_env.eval.benchmark.statistics import bootstrap_interval
from ns3_env.planning.branched_play import BranchedPlay
from ns3_env.planning.counterfactual import differences
from ns3_env.planning.rollout import plan
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
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
    "WebSearch at 50 %, 8 hosts, 0.2 ms": {
        "topology": {"kind": "leaf_spine", "leaves": 2, "spines": 2, "hosts_per_leaf": 4},
        "traffic": {"kind": "poisson", "sizes": "websearch", "load": 0.5, "duration_ns": 200_000},
        "time_limit_ns": 20_000_000,
    },
}
SEEDS = range(1, 6)


def released(name: str) -> NetworkPolicy:
    return NetworkPolicy.load(ROOT / "checkpoints" / name / "policy.safetensors")


def scenario(keys: dict[str, Any], seed: int) -> Scenario:
    return Scenario.from_mapping({**keys, "controllers": AGENT}, "branching").with_seed(seed)


def kib(pid: int | None, *names: str) -> float:
    """Sum of these entries of a process's memory."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.split(":")[0] in names)


def cost() -> None:
    print("| network, in mid-run | memory of the original | a branch takes | a branch's own memory |")
    print("|---|--:|--:|--:|")
    for name, file, decisions in (
        ("8-to-1", None, 40),
        ("fat-tree of 16 hosts, WebSearch 30 %", "fattree16_websearch30", 200),
        ("fat-tree of 1,024 hosts, WebSearch 50 %", "fattree1024_websearch50", 200),
    ):
        if file is None:
            given = scenario(CELLS["8-to-1, 200 kB each"], 1)
        else:
            one = Scenario.load(ROOT / "configs" / "scenarios" / f"{file}.yaml").model_dump()
            rule = {"controllers": [*AGENT, {"name": "hpcc"}], "controlled_flows": list(range(50))}
            given = Scenario.from_mapping({**one, **rule}, file).with_seed(1)
        with Simulator(1024) as simulator:
            simulator.send_reset(given)
            for _ in range(decisions):
                message = simulator.receive()
                assert isinstance(message, DecisionBatch)
                simulator.send_actions(np.tile([50_000, 1e10, 0.0], (int(message.due.sum()), 1)))
            simulator.receive()
            took, own = [], []
            for _ in range(21):
                began = time.perf_counter()
                (branch,) = simulator.branch()
                took.append(time.perf_counter() - began)
                own.append(kib(branch.pid, "Private_Dirty", "Private_Clean"))
                branch.close()
            whole, extra = kib(simulator.pid, "Rss") / 1024, np.median(own) / 1024
            print(f"| {name} | {whole:.0f} MB | {np.median(took) * 1e3:.1f} ms | {extra:.2f} MB |")


def planner() -> None:
    print("| cell | base policy | slowdown | planned | gain (95 %) | changed decisions | branches | s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    bases: dict[str, Policy] = {
        "HPCC's law once an RTT": HpccOncePerRtt(),
        "`fdcc`": released("fdcc"),
        "`courier`": released("courier"),
    }
    for cell, keys in CELLS.items():
        for name, policy in bases.items():
            began = time.perf_counter()
            plans = [plan(scenario(keys, seed), policy, every=2) for seed in SEEDS]
            took = (time.perf_counter() - began) / len(plans)
            gains = np.array([1 - one.planned / one.base for one in plans])
            low, high = bootstrap_interval(gains)
            changed = sum(one.changed for one in plans) / sum(one.decisions for one in plans)
            print(
                f"| {cell} | {name} | {np.mean([x.base for x in plans]):.2f} "
                f"| {np.mean([x.planned for x in plans]):.2f} "
                f"| {100 * np.mean(gains):.1f} % ({100 * low:.1f} % to {100 * high:.1f} %) "
                f"| {100 * changed:.0f} % | {np.mean([x.branches for x in plans]):,.0f} | {took:.1f} |",
                flush=True,
            )


def picture() -> None:
    import matplotlib.pyplot as plt

    keys = {**CELLS["8-to-1, 200 kB each"], "record": {"queue_series_ns": 500}}
    factors = (0.25, 0.5, 1.0, 2.0, 4.0)
    colours = ("#0072b2", "#56b4e9", "#333333", "#e69f00", "#d55e00")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(3, 2), layout="constrained")
    policy = released("courier")
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
    found = list(differences(scenario(CELLS["8-to-1, 200 kB each"], 1), released("fdcc"), share=0.5))
    own, others = np.array([x.own for x in found]), np.array([x.others for x in found])
    right.axhline(0, color="#cccccc", lw=0.8)
    right.axvline(0, color="#cccccc", lw=0.8)
    right.plot([-1, 1], [1, -1], color="#cccccc", lw=0.8)
    right.scatter(own, others, s=12, color="#0072b2", alpha=0.6)
    reach = 1.1 * float(np.abs([own, others]).max())
    right.set(xlim=(-reach, reach), ylim=(-reach, reach))
    right.set(xlabel="own slowdown, against keeping the window", ylabel="change of all others', summed")
    right.set(title="Decisions of fdcc")
    figure.savefig(ROOT / "docs" / "images" / "branching.png", dpi=110)


if __name__ == "__main__":
    {"cost": cost, "planner": planner, "picture": picture}[sys.argv[1]]()

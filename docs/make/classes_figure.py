# SPDX-License-Identifier: GPL-2.0-or-later
"""Figure of docs/classes.md: slowdowns of two groups by arrangement, and shares of a saturated link."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from pictures import BLUE, ORANGE, ROOT, save

from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.metrics import measure
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import of_group

SEEDS = range(1, 10)
PLAYER, P99 = "hpcc", "fct_slowdown_p99"
ARRANGEMENTS: dict[str, list[dict[str, Any]]] = {
    "one class": [{"name": "all"}],
    "1 : 1": [{"name": "urgent", "weight": 1}, {"name": "bulk", "weight": 1}],
    "9 : 1": [{"name": "urgent", "weight": 9}, {"name": "bulk", "weight": 1}],
    "strict": [{"name": "urgent"}, {"name": "bulk"}],
}
WEIGHTS = (0.25, 0.5, 1, 2, 4, 8)
COLOURS = {"rpc": BLUE, "storage": ORANGE}


def slowdowns(simulator: Simulator) -> dict[str, dict[str, list[float]]]:
    """Arrangement -> group -> p99 slowdown for each seed."""
    keys = read_mapping(ROOT / "configs" / "scenarios" / "storage_and_rpc.yaml", ScenarioError)
    keys["controllers"] = [PLAYER]
    values_of: dict[str, dict[str, list[float]]] = {}
    for name, classes in ARRANGEMENTS.items():
        groups = {
            group: {**own, "traffic_class": classes[-1 if group == "storage" else 0]["name"]}
            for group, own in keys["groups"].items()
        }
        scenario = Scenario.from_mapping({**keys, "classes": classes, "groups": groups}, name)
        runs = [simulator.play(scenario.with_seed(seed)) for seed in SEEDS]
        values_of[name] = {
            group: [measure(of_group(results, group), [P99])[P99] for results in runs] for group in COLOURS
        }
    return values_of


def share(simulator: Simulator, weight: float) -> float:
    """Share of a saturated link of the first of two classes, with this weight against one of 1."""
    flows = [{"src": i, "dst": 2, "size_bytes": "endless", "group": "ab"[i]} for i in range(2)]
    scenario = {
        "time_limit_ns": 2_000_000,
        "topology": {"kind": "dumbbell", "senders": 2},
        "traffic": {"kind": "list", "flows": flows},
        "groups": {name: {"traffic_class": name} for name in "ab"},
        "classes": [{"name": "a", "weight": weight}, {"name": "b", "weight": 1}],
        "controllers": [{"name": "fixed-window", "attributes": {"Window": 1_000_000}}],
    }
    results = simulator.play(Scenario.from_mapping(scenario, "share"))
    port = max(results["queues"], key=lambda queue: float(queue["mean_bytes"]))
    first, second = (float(own["tx_bytes"]) for own in port["classes"])
    return first / (first + second)


def main() -> None:
    """Simulates and draws it."""
    with Simulator() as simulator:
        by_arrangement = slowdowns(simulator)
        shares = [share(simulator, weight) for weight in WEIGHTS]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for i, (group, colour) in enumerate(COLOURS.items()):
        values = np.array([by_arrangement[name][group] for name in ARRANGEMENTS])
        places = np.arange(len(ARRANGEMENTS)) + (i - 0.5) * 0.36
        medians = np.median(values, axis=1)
        spread = np.abs(np.percentile(values, [25, 75], axis=1) - medians)
        left.bar(places, medians, 0.34, color=colour, label=group)
        left.errorbar(places, medians, spread, fmt="none", ecolor="#333333", capsize=2, linewidth=0.8)
        for place, median, top in zip(places, medians, medians + spread[1], strict=True):
            left.annotate(f"{median:.1f}", (place, top), (0, 3), textcoords="offset points", ha="center")
        print(group, dict(zip(ARRANGEMENTS, medians.round(2).tolist(), strict=True)))
    left.set_xticks(range(len(ARRANGEMENTS)), list(ARRANGEMENTS))
    left.set(ylim=(0, 14), xlabel="weights, rpc : storage", ylabel="FCT slowdown, p99")
    left.legend(frameon=False, ncols=2)
    line = np.geomspace(WEIGHTS[0], WEIGHTS[-1], 100)
    right.plot(line, line / (1 + line), color="#888888", label="w / (w + 1)")
    right.plot(WEIGHTS, shares, "o", color=BLUE, label="measured")
    right.set_xscale("log", base=2)
    right.set(xlabel="weight w beside 1", ylabel="share of a saturated link")
    right.legend(frameon=False)
    print("shares", dict(zip(WEIGHTS, np.round(shares, 5).tolist(), strict=True)))
    save(figure, "classes", dpi=130)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Groups and traffic classes in a simulation: attributes, isolation, shares, metrics of each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ns3_env.agents.training.checkpoint import env_of
from ns3_env.config.yaml import parse
from ns3_env.eval.commands.evaluation import main
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import Scenario
from ns3_env.simulator.results import groups_of, of_group
from tests.samples.files import dumped, rows
from tests.samples.policy_files import mlp_file
from tests.samples.scenarios import results_of

KEYS: dict[str, Any] = parse("""
seed: 3
time_limit_ns: 20000000
topology: {kind: dumbbell, senders: 4}
classes: [{name: urgent}, {name: bulk}]
groups:
  storage: {controller: dcqcn, traffic_class: bulk}
  rpc: {controller: hpcc, traffic_class: urgent}
traffic:
  kind: mix
  parts:
    - {kind: incast, senders: [0, 1], group: storage, size_bytes: 2000000}
    - {kind: poisson_incast, fan_in: 2, size_bytes: 5000, load: 0.05, duration_ns: 500000, group: rpc}
controllers: [swift]
""")


def play(**changes: Any) -> dict[str, Any]:
    return results_of({**KEYS, **changes})


def test_flows_of_mixed_controllers_share_one_network() -> None:
    results = play()
    assert results["totals"]["unfinished"] == 0
    assert groups_of(results) == ["storage", "rpc"]
    assert set(of_group(results, "storage")["flows"]["header_bytes"]) == {48}  # DCQCN's
    assert set(of_group(results, "rpc")["flows"]["header_bytes"]) == {48 + 42}  # HPCC's
    assert set(of_group(results, "rpc")["flows"]["class"]) == {"urgent"}
    early = {"time_limit_ns": 100_000}
    assert of_group(play(**early), "storage")["totals"]["unfinished"] == 2
    with pytest.raises(KeyError, match="there are storage, rpc"):
        of_group(results, "other")


def test_a_policy_plays_one_group_and_baselines_the_others(tmp_path: Path) -> None:
    policy = NetworkPolicy.load(mlp_file(tmp_path / "policy.safetensors"))
    groups = {**KEYS["groups"], "rpc": {"traffic_class": "urgent"}}
    scenario = Scenario.from_mapping({**KEYS, "groups": groups, "controllers": ["agent"]}, "x")
    inside, across = (
        run_policy(policy, env_of(policy.spec), scenario, 3, 1, placement=placement)[0].results
        for placement in ("simulator", "python")
    )
    assert inside["flows"]["fct_ns"] == across["flows"]["fct_ns"]
    assert set(of_group(inside, "storage")["flows"]["header_bytes"]) == {48}
    assert set(of_group(inside, "rpc")["flows"]["header_bytes"]) == {48 + 16}  # the policy's fields


def test_a_run_has_metrics_of_each_group_and_queues_of_each_class(tmp_path: Path) -> None:
    scenario = dumped(tmp_path / "s.yaml", KEYS)
    assert main(["run", str(scenario), "--out", str(tmp_path / "run")]) == 0
    folder = tmp_path / "run" / "swift"
    groups = {row["group"]: row for row in rows(folder / "groups.csv")}
    flows = rows(folder / "flows.csv")
    assert list(groups) == ["storage", "rpc"]
    for name, row in groups.items():
        durations_ns = [int(x["fct_ns"].partition(".")[0]) for x in flows if x["group"] == name]
        assert len(durations_ns) == int(row["flows"])
        alone = [float(x["fct_ns"]) / float(x["standalone_ns"]) for x in flows if x["group"] == name]
        assert float(row["fct_slowdown_avg"]) == pytest.approx(np.mean(alone))
    queues = rows(folder / "queues.csv")
    classes = rows(folder / "classes.csv")
    assert len(classes) == 2 * len(queues)
    for queue, urgent, bulk in zip(queues, classes[::2], classes[1::2], strict=True):
        both = float(urgent["mean_bytes"]) + float(bulk["mean_bytes"])
        assert both == pytest.approx(float(queue["mean_bytes"]))

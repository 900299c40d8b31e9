# SPDX-License-Identifier: GPL-2.0-or-later
"""What PPO makes of rewards per decision, for completion, and for serving short flows first; minutes each."""

from __future__ import annotations

from pathlib import Path

import pytest

import train
from ns3_env.eval.benchmark.constant_window import CONSTANT_WINDOW
from ns3_env.eval.metrics import measure
from ns3_env.policies.file import POLICY_FILE
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.tasks import task
from ns3_env.tasks.definition import TESTS
from tests.paths import ROOT
from tests.samples.runs import checkpoints

INCAST = Scenario.from_mapping(
    {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": 8},
        "traffic": {"kind": "incast", "size_bytes": "2MB", "spread_ns": "100us"},
    },
    "8-to-1",
)
#: Nothing is trained on these.
UNSEEN = {
    "Incast": [INCAST.with_seed(2**41 + i) for i in range(3)],
    "Bursts": [task("Bursts").test(i) for i in range(TESTS)],
}


def slowdown(name: str, policy: Path | None) -> float:
    """Mean over unseen scenarios; None: of a constant window, which a policy that learned nothing has."""
    with Simulator() as simulator:
        values = [
            measure(simulator.play(_under(policy, scenario)), ["slowdown_charged"])["slowdown_charged"]
            for scenario in UNSEEN[name]
        ]
    return sum(values) / len(values)


def _under(policy: Path | None, scenario: Scenario) -> Scenario:
    if policy is None:
        return scenario.under(CONSTANT_WINDOW.name, CONSTANT_WINDOW.attributes)
    return scenario.playing(policy)


def learned(name: str, folder: Path, *changes: str) -> float:
    """Mean slowdown of PPO that learned on one task, from the configuration of the leaderboard's entry."""
    curriculum = folder / "curriculum.yaml"
    curriculum.write_text(f"tasks: [{name}]")
    given = ["--config", str(ROOT / "configs/tasks/ppo.yaml"), "--curriculum", str(curriculum)]
    assert train.main([*given, "--runs", str(folder / "runs"), "--no-evaluation", *changes]) == 0
    (run,) = (folder / "runs").iterdir()
    return slowdown(name, checkpoints(run)[-1] / POLICY_FILE)


@pytest.mark.slow
@pytest.mark.parametrize(("reward", "decisions"), [("staged", 1_500_000), ("slowdown", 1_500_000)])
def test_ppo_crawls_where_decisions_pay_and_completes_where_completion_pays(
    reward: str, decisions: int, tmp_path: Path
) -> None:
    mean = learned("Incast", tmp_path, f"env.reward.name={reward}", f"train.decisions={decisions}")
    constant = slowdown("Incast", None)
    assert mean > 2 * constant if reward == "staged" else mean <= constant


@pytest.mark.slow
def test_ppo_that_is_paid_for_serving_short_flows_first_is_below_a_constant_window(tmp_path: Path) -> None:
    steps = ["agent.options.n_steps=40000", "agent.options.batch_size=2048", "agent.options.n_epochs=3"]
    longer = ["train.decisions=5000000", "env.clock.rtt_fraction=0.5", "agent.options.learning_rate=0.003"]
    assert learned("Bursts", tmp_path, *steps, *longer) <= 0.95 * slowdown("Bursts", None)

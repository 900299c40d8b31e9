# SPDX-License-Identifier: GPL-2.0-or-later
"""What PPO makes of a reward per decision, and of one that pays for completion; minutes each."""

from __future__ import annotations

from pathlib import Path

import pytest

import train
from ns3_env.eval.benchmark.constant_window import CONSTANT_WINDOW
from ns3_env.eval.metrics import measure
from ns3_env.policies.file import POLICY_FILE
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from tests.paths import ROOT
from tests.samples.runs import checkpoints

UNSEEN = Scenario.from_mapping(
    {
        "time_limit_ns": "20ms",
        "topology": {"kind": "dumbbell", "senders": 8},
        "traffic": {"kind": "incast", "size_bytes": "2MB", "spread_ns": "100us"},
    },
    "8-to-1",
)
SEEDS = (2**41, 2**41 + 1, 2**41 + 2)


def slowdown(policy: Path | None) -> float:
    """Mean over unseen seeds; None: of a constant window, which a policy that learned nothing has."""
    with Simulator() as simulator:
        values = [
            measure(simulator.play(_under(policy).with_seed(seed)), ["slowdown_charged"])["slowdown_charged"]
            for seed in SEEDS
        ]
    return sum(values) / len(values)


def _under(policy: Path | None) -> Scenario:
    if policy is None:
        return UNSEEN.under(CONSTANT_WINDOW.name, CONSTANT_WINDOW.attributes)
    return UNSEEN.playing(policy)


@pytest.mark.slow
@pytest.mark.parametrize(("reward", "decisions"), [("staged", 150_000), ("slowdown", 700_000)])
def test_ppo_crawls_where_decisions_pay_and_completes_where_completion_pays(
    reward: str, decisions: int, tmp_path: Path
) -> None:
    curriculum = tmp_path / "incast.yaml"
    curriculum.write_text("tasks: [Incast]")
    given = ["--config", str(ROOT / "configs/tasks/ppo.yaml"), "--curriculum", str(curriculum)]
    changes = [f"env.reward.name={reward}", f"train.decisions={decisions}"]
    longer = ["agent.gamma_per_rtt=0.98", "agent.options.learning_rate=0.0005"]
    runs = tmp_path / "runs"
    assert train.main([*given, "--runs", str(runs), "--no-evaluation", *changes, *longer]) == 0
    (run,) = runs.iterdir()
    learned, constant = slowdown(checkpoints(run)[-1] / POLICY_FILE), slowdown(None)
    assert learned > 2 * constant if reward == "staged" else learned <= constant

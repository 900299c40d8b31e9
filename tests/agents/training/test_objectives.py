# SPDX-License-Identifier: GPL-2.0-or-later
"""Result of PPO with a reward for serving short flows first."""

from pathlib import Path

import pytest

import train
from ns3_env.eval.metrics import measure
from ns3_env.policies.file import POLICY_FILE
from ns3_env.policies.released import CONSTANT_WINDOW
from ns3_env.simulator import Simulator
from ns3_env.tasks import task
from ns3_env.tasks.definition import TESTS
from tests.paths import ROOT
from tests.samples.runs import checkpoints


def slowdown(policy: Path | None) -> float:
    """Mean over the task's tests; None: of a constant window, which a policy that learned nothing has."""
    total = 0.0
    with Simulator() as simulator:
        for scenario in map(task("Bursts").test, range(TESTS)):
            constant = scenario.under(CONSTANT_WINDOW.name, CONSTANT_WINDOW.attributes)
            results = simulator.play(constant if policy is None else scenario.playing(policy))
            total += measure(results, ["slowdown_charged"])["slowdown_charged"]
    return total / TESTS


@pytest.mark.slow
def test_ppo_that_is_paid_for_serving_short_flows_first_is_below_a_constant_window(tmp_path: Path) -> None:
    (tmp_path / "curriculum.yaml").write_text("tasks: [Bursts]")
    command = ["--config", str(ROOT / "configs/tasks/ppo.yaml"), "--no-evaluation"]
    command += ["--curriculum", str(tmp_path / "curriculum.yaml"), "--runs", str(tmp_path / "runs")]
    steps = ["agent.options.n_steps=40000", "agent.options.batch_size=2048", "agent.options.n_epochs=3"]
    longer = ["train.decisions=5000000", "env.clock.rtt_fraction=0.5", "agent.options.learning_rate=0.003"]
    assert train.main([*command, "train.checkpoint_every=1000000", *steps, *longer]) == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert slowdown(checkpoints(run)[-1] / POLICY_FILE) <= 0.95 * slowdown(None)

# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python API: every name exists, and mypy knows their types."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ns3_env
from ns3_env import decision, envs, policies, scenario, tasks
from tests.paths import ROOT

pytest.importorskip("mypy", reason="the extra dev is not installed")

#: A script as a user writes one; a comment after each line gives its type.
SCRIPT = """
import ns3_env
from ns3_env import decision, envs, policies, scenario, tasks

reveal_type(ns3_env.FlowEnv("dumbbell_100g_4to1"))  # ns3_env.envs.gym_env.FlowEnv
reveal_type(ns3_env.FlowVecEnv({"topology": {}}, slots=4))  # ns3_env.envs.sb3_vec_env.FlowVecEnv
reveal_type(ns3_env.FlowEnv(reward=lambda records: records["goodput"]))  # ns3_env.envs.gym_env.FlowEnv
reveal_type(ns3_env.Task(["rtt"], {"name": "goodput_delay"}, "absolute_window"))  # ns3_env.decision.task.Task
reveal_type(ns3_env.evaluate(["hpcc", "fdcc"], "dumbbell_100g_4to1"))  # ns3_env.eval.output.results.Results
reveal_type(ns3_env.load_results("runs/quick").metrics)  # list[str]
reveal_type(ns3_env.export)  # def (model: Any, env: Any, path: str | os.PathLike[str]) -> pathlib.Path
reveal_type(ns3_env.load_policy("fdcc"))  # ns3_env.policies.native_policy.NetworkPolicy
reveal_type(ns3_env.Scenario.of("dumbbell_100g_4to1"))  # ns3_env.scenario.scenario.Scenario
reveal_type(envs.Rollouts("dumbbell_100g_4to1"))  # ns3_env.envs.rollouts.Rollouts
reveal_type(policies.released("fdcc"))  # pathlib.Path
reveal_type(decision.make_reward("slowdown"))  # ns3_env.decision.rewards.Reward
reveal_type(scenario.Incast(size_bytes=1000))  # ns3_env.scenario.traffic
reveal_type(tasks.task("Bursts"))  # ns3_env.tasks.definition.TaskSpec
"""


def test_a_users_script_is_typed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml")]
    printed = subprocess.run([*command, str(script)], cwd=ROOT, capture_output=True, text=True).stdout
    revealed = [line.partition("Revealed type is ")[2] for line in printed.splitlines()]
    types = [text.strip('"').replace("builtins.", "") for text in revealed if text]
    expected = [line.partition("  # ")[2] for line in SCRIPT.splitlines() if "reveal_type" in line]
    assert len(types) == len(expected), printed
    assert [text for text, start in zip(types, expected, strict=True) if not text.startswith(start)] == []
    assert "error:" not in printed


@pytest.mark.parametrize("package", [ns3_env, decision, envs, policies, scenario, tasks])
def test_every_public_name_is_there(package: Any) -> None:
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


def test_names_are_imported_at_their_first_use_and_an_unknown_one_is_an_attribute_error() -> None:
    script = "import ns3_env, sys; assert not {'torch', 'stable_baselines3', 'pettingzoo'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)
    with pytest.raises(AttributeError, match="module 'ns3_env' has no attribute 'FlowEnw'"):
        ns3_env.FlowEnw  # noqa: B018

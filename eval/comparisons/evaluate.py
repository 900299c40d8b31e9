# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates a finished run's last checkpoint, one checkpoint, or one policy's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ns3_env.agents.configuration.config import EvaluationConfig, RunConfig
from ns3_env.agents.configuration.inputs import apply_overrides, make_scenario, read_inputs
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.training.checkpoint import TrainedPolicy, resolve
from ns3_env.config.model import Strict, validate
from ns3_env.errors import ConfigError
from ns3_env.eval.comparisons.compare import after_training, against, as_json, show_table
from ns3_env.eval.output import table
from ns3_env.policies.released import LAYOUT, policy_path


class _Comparison(Strict):
    """Settings of the comparison of a policy that comes without a run."""

    evaluation: EvaluationConfig


def evaluate(path: Path, overrides: Sequence[str], json_file: Path | None = None) -> None:
    """Compares a finished run's last checkpoint again, or a checkpoint or a policy's file by itself.

    Raises:
        ConfigError, ScenarioError: there is nothing there to compare, or an override is wrong.
    """
    path = policy_path(path)
    if path.is_file() or (path / LAYOUT).exists():
        _alone(path, overrides, json_file)
        return
    inputs = read_inputs(None, None, path)
    if inputs.kind == "search":
        from ns3_env.agents.search.plan import plan
        from ns3_env.eval.comparisons import compare_search as tuned
        from ns3_env.eval.comparisons.objective import METRICS_OF_EPISODES

        tuned.after_search(plan(inputs, overrides, METRICS_OF_EPISODES), RunFolder(path), json_file)
        return
    inputs = inputs.with_overrides(overrides)
    after_training(validate(inputs.config, RunConfig, inputs.config_source), RunFolder(path), json_file)


def _alone(path: Path, overrides: Sequence[str], json_file: Path | None) -> None:
    """A policy by itself: on its run's scenario where there is one, else on an incast; the table alone."""
    policy = resolve(path).load()
    if not isinstance(policy, TrainedPolicy):
        raise ConfigError(f"{path}: holds a controller of the simulator: name its run, or use `eval run`")
    run = RunFolder(path.absolute().parent.parent)
    whole = run.read()[0] if (path / LAYOUT).exists() and (run.path / "config.yaml").exists() else {}
    settings = whole.get("evaluation") or EvaluationConfig().model_dump()
    source = str(run.path / "config.yaml") if whole.get("evaluation") else "command line"
    settings = apply_overrides({"evaluation": settings}, overrides)
    evaluation = validate(settings, _Comparison, source).evaluation
    scenario = make_scenario(policy.env, evaluation.scenario, f"{source}: evaluation.scenario")
    episodes_by_name = against("policy", policy.policy, policy.env, scenario, evaluation)
    title = f"{scenario.agent_flow_count} flows, {scenario.topology.kind} ({path}){scenario.measured_text()}"
    show_table(title, episodes_by_name, "policy", scenario.transport)
    if json_file is not None:
        table.write_json(json_file, as_json(episodes_by_name, scenario.transport))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates a finished run's last checkpoint, one checkpoint, or one policy's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig, RunConfig
from ns3_env.agents.configuration.inputs import apply_overrides, make_scenario, read_inputs
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.model import Strict, validate
from ns3_env.eval.comparisons.compare import after_training, against, as_json, opponents, show_table
from ns3_env.eval.episodes.policy import begin_controllers, collected, seeds_of
from ns3_env.eval.output import table
from ns3_env.policies.released import LAYOUT, policy_path
from ns3_env.scenario import Controller
from ns3_env.simulator.pool import LocalPool


class _Comparison(Strict):
    """Settings of the comparison of a policy that comes without a run."""

    evaluation: EvaluationConfig


def evaluate(path: Path, overrides: Sequence[str], json_file: Path | None = None) -> None:
    """Compares a finished run's last checkpoint again, or a checkpoint or a policy's file by itself.

    Raises:
        ConfigError, ScenarioError: the path has nothing to compare, or an override is wrong.
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
    """A single policy or tuned controller, on its run's scenario if it has one, else on an incast:
    only the table."""
    content = resolve(path).load()
    name = "tuned" if isinstance(content, Controller) else "policy"
    env = EnvConfig(fields=["rtt"]) if isinstance(content, Controller) else content.env
    run = RunFolder(path.absolute().parent.parent)
    whole = run.read()[0] if (path / LAYOUT).exists() and (run.path / "config.yaml").exists() else {}
    settings = whole.get("evaluation") or EvaluationConfig().model_dump()
    source = str(run.path / "config.yaml") if whole.get("evaluation") else "command line"
    settings = apply_overrides({"evaluation": settings}, overrides)
    evaluation = validate(settings, _Comparison, source).evaluation
    scenario = make_scenario(env, evaluation.scenario, f"{source}: evaluation.scenario")
    if isinstance(content, Controller):
        players = {name: content, **opponents(scenario, evaluation)}
        with LocalPool() as pool:
            seeds = seeds_of(evaluation.seed, evaluation.episodes)
            episodes_by_name = collected(begin_controllers(pool, scenario, players, seeds))
    else:
        episodes_by_name = against(name, content.policy, env, scenario, evaluation)
    title = f"{scenario.agent_flow_count} flows, {scenario.topology.kind} ({path}){scenario.measured_text()}"
    show_table(title, episodes_by_name, name, scenario.transport)
    if json_file is not None:
        table.write_json(json_file, as_json(episodes_by_name, scenario.transport))

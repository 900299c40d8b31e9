# SPDX-License-Identifier: GPL-2.0-or-later
"""What a configuration describes: scenarios under the clock, the task, what is compared at the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig
from ns3_env.config.model import nearest, refused_at, shown
from ns3_env.decision.actions import make_action_map
from ns3_env.decision.rewards import make_reward
from ns3_env.decision.task import Task
from ns3_env.errors import ConfigError
from ns3_env.policies.released import controller_names
from ns3_env.scenario import Scenario


def merge(common: Mapping[str, Any], special: Mapping[str, Any]) -> dict[str, Any]:
    """``common`` with ``special`` put over it, mapping by mapping."""
    result = dict(common)
    for key, value in special.items():
        below = result.get(key)
        result[key] = (
            merge(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        )
    return result


def make_scenario(env: EnvConfig, data: Mapping[str, Any], source: str) -> Scenario:
    """A scenario under the agent's clock, unless it has its own. Raises ScenarioError, naming ``source``."""
    clock = {"clock": env.clock.model_dump(), "decision_quantum_ns": env.decision_quantum_ns}
    return Scenario.from_mapping({**clock, **data}, source)


def make_task(env: EnvConfig, source: str) -> Task:
    """The decision problem. Raises ConfigError for an unknown name, naming ``source`` and key."""
    with refused_at(f"{source}: env.action"):
        action = make_action_map(env.action.name, **env.action.settings)
    with refused_at(f"{source}: env.reward"):
        reward = make_reward(env.reward.name, **env.reward.settings)
    with refused_at(f"{source}: env.fields"):
        return Task(env.fields, reward, action, env.telemetry_bytes)


def check_evaluation(env: EnvConfig, evaluation: EvaluationConfig | None, source: str) -> list[Scenario]:
    """What will be compared at the end is checked at the beginning; returns its scenarios.

    Raises:
        ScenarioError: a scenario of it is wrong, naming ``source`` and key.
        ConfigError: the simulator has no such controller.
    """
    if evaluation is None:
        return []
    made = [
        make_scenario(env, data, f"{source}: evaluation.{key}")
        for key in ("scenario", "returns")
        if (data := getattr(evaluation, key)) is not None
    ]
    known = controller_names(made[0].transport)
    for i, name in enumerate(evaluation.controllers):
        if name not in known:
            raise ConfigError(
                f"{source}: evaluation.controllers.{i}: there is no {shown(name)}"
                f"{nearest(name, known)} of {', '.join(known)}"
            )
    return made

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a run's inputs: its two files and the command line, or the folder of a run that continues."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.config.folders import find_file
from ns3_env.config.gone import farewell
from ns3_env.config.imports import is_code
from ns3_env.config.model import nearest, refused_at, shown
from ns3_env.config.yaml import parse, put, read_mapping
from ns3_env.decision.actions import make_action_map
from ns3_env.decision.rewards import make_reward
from ns3_env.decision.task import Task
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.policies.released import controller_names
from ns3_env.programs.transport import Transport
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Script, Simulator
from ns3_env.tasks.definition import TaskSpec
from ns3_env.tasks.networks import task

#: Kinds of runs: an agent that learns, or a controller of the simulator that is searched.
KINDS = ("train", "search")


@dataclass(frozen=True)
class Inputs:
    """Keys and values of a run's configuration and curriculum, and their files.

    Attributes:
        config: the configuration, not checked yet.
        curriculum: the curriculum, not checked yet.
        config_source: source of the configuration, for errors.
        curriculum_source: source of the curriculum, for errors.
        resume: folder of the run to resume, if any.
        recorded: the configuration recorded by that run, without this command's overrides.
    """

    config: dict[str, Any]
    curriculum: dict[str, Any]
    config_source: str
    curriculum_source: str
    resume: RunFolder | None = None
    recorded: Mapping[str, Any] | None = None

    @property
    def kind(self) -> str:
        """One of ``KINDS``; "train" by default. Raises ConfigError."""
        kind = self.config.get("kind", "train")
        if not isinstance(kind, str) or kind not in KINDS:
            kinds = " and ".join(map(repr, KINDS))
            raise ConfigError(f"{self.config_source}: kind: there are {kinds}, not {shown(kind)}")
        return str(kind)

    def with_overrides(self, overrides: Sequence[str]) -> Inputs:
        """The same with ``key=value`` put into the configuration. Raises ConfigError."""
        return replace(self, config=apply_overrides(self.config, overrides))


def read_inputs(config: Path | None, curriculum: Path | None, resume: Path | None = None) -> Inputs:
    """The inputs of a new run, or of one that continues.

    Args:
        config: configuration's file, or the name of one that comes with the project; not with ``resume``.
        curriculum: curriculum's file, or such a name, or pkg.module:name of a sampler; not with ``resume``.
        resume: folder of the run to resume.

    Raises:
        ConfigError: too many or too few inputs, or a file cannot be read.
    """
    if resume is not None:
        if config is not None or curriculum is not None:
            raise ConfigError(
                "command line: --resume brings its own configuration: no --config, --curriculum or --algo"
            )
        folder = RunFolder(resume)
        data, stages = folder.read()
        names = str(resume / "config.yaml"), str(resume / "curriculum.yaml")
        return Inputs(data, stages, *names, folder, data)
    if config is None or curriculum is None:
        raise ConfigError("command line: --config and --curriculum are needed (or --resume)")
    config = find_file(config, "configs")
    if is_code(str(curriculum)) and not curriculum.exists():
        return Inputs(
            read_mapping(config), {"sampler": {"name": str(curriculum)}}, str(config), "--curriculum"
        )
    curriculum = find_file(curriculum, "curricula")
    return Inputs(read_mapping(config), read_mapping(curriculum), str(config), str(curriculum))


def apply_overrides(data: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """``data`` with ``a.b=value`` put in; values are read as YAML.

    Raises:
        ConfigError: an override is not of the form key=value, or leads through something that is no mapping.
    """
    result = dict(data)
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key:
            raise ConfigError(f"command line: {shown(override)} is not of the form key=value")
        try:
            value = parse(text)
        except yaml.YAMLError as error:
            raise ConfigError(f"command line: {key}: not a YAML value: {shown(text)}") from error
        try:
            result = put(result, key, value)
        except ValueError as error:
            raise ConfigError(f"command line: {key}: {error}") from None
    return result


def with_problem_of_tasks(
    config: Mapping[str, Any], curriculum: Mapping[str, Any], source: str
) -> dict[str, Any]:
    """``config`` with the fields, action, reward and clock of the curriculum's tasks where ``env`` has none.

    With the tasks' fields comes the telemetry that they spare.

    Raises ConfigError, naming ``source`` and key, if the tasks differ in it.
    """
    names, env = curriculum.get("tasks"), config.get("env", {})
    if not names or not isinstance(names, list) or not isinstance(env, Mapping):
        return dict(config)
    try:
        specs = [task(str(name)) for name in names]
    except ValueError:  # the curriculum's reader reports it
        return dict(config)
    problem: dict[str, Any] = {}
    for key, of in _PROBLEM.items():
        if key not in env:
            problem[key] = of(specs[0])
            if other := next((spec for spec in specs if of(spec) != problem[key]), None):
                raise ConfigError(
                    f"{source}: env.{key}: missing, and the curriculum's tasks {specs[0].name} and "
                    f"{other.name} have different ones: write one"
                )
    spared = dict(specs[0].spared) if "fields" in problem else {}
    return {**config, "env": {**problem, **spared, **env}}


#: Keys of ``env`` that a task has, and its values of them.
_PROBLEM: dict[str, Callable[[TaskSpec], Any]] = {
    "fields": lambda spec: list(spec.fields),
    "action": lambda spec: {"name": spec.action.name, **asdict(spec.action)},
    "reward": lambda spec: {"name": spec.reward},
    "clock": lambda spec: spec.clock.model_dump(),
}


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
    """A scenario under the agent's clock, unless it has its own; or a script (docs/ns3.md), which replaces
    one. Raises ScenarioError, naming ``source``."""
    clock = {"clock": env.clock.model_dump(), "decision_quantum_ns": env.decision_quantum_ns}
    if "program" in data:
        if env.placement != "python":
            raise ScenarioError(f"{source}: program: a script's flows ask Python: env.placement: python")
        return Script.from_mapping(data, source, clock)  # type: ignore[return-value]
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
    """Checks at the start the comparison made at the end; returns its scenarios.

    Raises:
        ScenarioError: a scenario of it is wrong, naming ``source`` and key.
        ConfigError: the simulator has no such controller.
    """
    if evaluation is None:
        return []
    scenarios = [
        make_scenario(env, data, f"{source}: evaluation.{key}")
        for key in ("scenario", "returns")
        if (data := getattr(evaluation, key)) is not None
    ]
    names = controller_names(scenarios[0].transport)
    for i, name in enumerate(evaluation.controllers):
        if name not in names:
            fault = farewell("policy", name) or f"there is no {shown(name)}{nearest(name, names)}"
            raise ConfigError(f"{source}: evaluation.controllers.{i}: {fault} of {', '.join(names)}")
    return scenarios


def try_controller(
    simulator: Simulator, controller: Controller, place: str, transport: Transport, of_integers: str = ""
) -> None:
    """Raises ConfigError, starting with ``place``, if the simulator refuses the controller.

    Args:
        simulator: the simulator that checks; it runs no episode.
        controller: controller with its attributes.
        place: start of the error's text: the file and key.
        transport: transport of the controller.
        of_integers: hint that is added if an attribute requires whole numbers.
    """
    scenario = Scenario(transport=transport, time_limit_ns=1, controllers=[controller])
    try:
        simulator.send_reset(scenario)
        simulator.receive()
    except ScenarioError as error:
        hint = of_integers if "it takes int" in str(error) else ""
        raise ConfigError(f"{place}: {error}{hint}") from error

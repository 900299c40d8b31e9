# SPDX-License-Identifier: GPL-2.0-or-later
"""Plan of a search: checks everything that it needs before anything runs."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.agents.configuration.inputs import Inputs, check_evaluation, make_task, try_controller
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.search.attributes import AttributesSubject, with_starts
from ns3_env.agents.search.config import SearchRunConfig
from ns3_env.agents.search.metrics_objective import Metrics, MetricsObjective
from ns3_env.agents.search.network import LawSubject, NetworkSubject
from ns3_env.agents.search.objectives import Objective, ReturnObjective, RewardObjective
from ns3_env.agents.search.subject import Subject
from ns3_env.config.model import validate
from ns3_env.decision.rewards import Slowdown, settles
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.programs.transport import Transport
from ns3_env.simulator import Simulator

#: Keys of the configuration that change no score, and so may change when a run continues.
_SCORELESS_KEYS = (
    "search.trials",
    "search.decisions",
    "env.simulators",
    "env.ray",
    "keep_checkpoints",
    "controller.compare",
    "evaluation",
    "versions",
)


@dataclass(frozen=True)
class Plan:
    """A run that has been checked: nothing of it has started."""

    config: SearchRunConfig
    curriculum: Curriculum
    subject: Subject
    objective: Objective
    resume: RunFolder | None


def plan(inputs: Inputs, overrides: Sequence[str] = (), metrics: Metrics | None = None) -> Plan:
    """Checks everything a run needs.

    Args:
        inputs: inputs returned by ``read_inputs()``.
        overrides: ``key=value`` for the configuration.
        metrics: metrics that an objective may name.

    Raises:
        ConfigError: naming file and key.
        ScenarioError: a stage's scenario is wrong, or cannot be judged.
    """
    inputs = inputs.with_overrides(overrides)
    source = inputs.config_source
    config = validate(inputs.config, SearchRunConfig, source)
    if inputs.recorded is not None:
        _check_same_scores(validate(inputs.recorded, SearchRunConfig, source), config)
    env = config.env.of_agent()
    make_task(env, source)  # names are checked
    check_evaluation(env, config.evaluation, source)
    stages = validate(inputs.curriculum, CurriculumConfig, inputs.curriculum_source)
    curriculum = Curriculum(stages, env, config.seed, inputs.curriculum_source)
    transport = _transport_of(curriculum)
    objective = _objective(config, curriculum, metrics or Metrics(), inputs)
    return Plan(config, curriculum, _subject(config, source, transport), objective, inputs.resume)


def _transport_of(curriculum: Curriculum) -> Transport:
    """Returns the transport of all stages: the searched controller belongs to one. Raises
    ScenarioError."""
    transports = {scenario.transport for scenario in curriculum.examples().values()}
    if len(transports) > 1:
        names = " and ".join(sorted(transports))
        raise ScenarioError(f"{curriculum.source}: stages are of {names}: a controller is of one transport")
    return transports.pop()


def _objective(
    config: SearchRunConfig, curriculum: Curriculum, metrics: Metrics, inputs: Inputs
) -> Objective:
    if config.objective is not None:
        transport = _transport_of(curriculum)
        return MetricsObjective(config.objective, metrics, inputs.config_source, transport)
    reward = make_task(config.env.of_agent(), inputs.config_source).reward
    if isinstance(reward, Slowdown):
        return ReturnObjective()
    if settles(reward):
        raise ConfigError(
            f"{inputs.config_source}: env.reward: {config.env.reward.name!r} cannot be read from recordings: "
            "slowdown, or name metrics in objective.terms"
        )
    for name, scenario in curriculum.examples().items():
        if len(set(scenario.flows().dst)) > 1:
            raise ScenarioError(
                f"{inputs.curriculum_source}: stage {name!r}: flows have several receivers; rewards "
                "are read from the one queue that flows into one receiver share: use an incast, or name "
                "metrics in objective.terms"
            )
    return RewardObjective(config.env)


def _subject(config: SearchRunConfig, source: str, transport: Transport) -> Subject:
    """Returns the subject of the search. Raises ConfigError if the simulator refuses it."""
    if config.controller is not None:
        return AttributesSubject(config.controller, with_starts(config.controller, source, transport))
    assert config.network is not None
    subject: LawSubject | NetworkSubject
    if config.law is not None:
        subject = LawSubject(config.law, config.network, config.name, config.seed, source)
    else:
        subject = NetworkSubject(config.network, config.name, config.seed, source)
    with tempfile.TemporaryDirectory() as folder:
        start = subject.controller(subject.space.start, Path(folder))
        with Simulator() as simulator:
            try_controller(simulator, start, f"{source}: network", transport)
    return subject


def _check_same_scores(before: SearchRunConfig, now: SearchRunConfig) -> None:
    """Raises ConfigError if finished trials would get another score, or other points would be drawn."""
    then, today = (_flat(config.model_dump(mode="json")) for config in (before, now))
    for key in sorted({*then, *today}):
        if then.get(key) != today.get(key) and not key.startswith(_SCORELESS_KEYS):
            raise ConfigError(
                f"command line: {key}: a resumed run keeps it ({then.get(key)}): start a new run; "
                f"only {', '.join(_SCORELESS_KEYS[:-1])} may change"
            )


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    leaves: dict[str, Any] = {}
    for key, value in data.items():
        leaves |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return leaves

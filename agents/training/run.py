# SPDX-License-Identifier: GPL-2.0-or-later
"""A training run: plan, execution with checkpoints and a live line, clean stop on request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from rich.console import Console
from stable_baselines3.common.callbacks import CallbackList

from ns3_env.agents.configuration.config import RunConfig
from ns3_env.agents.configuration.inputs import (
    Inputs,
    check_evaluation,
    make_task,
    with_problem_of_tasks,
)
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.configuration.run_folder import Outcome, RunFolder
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig, CurriculumState
from ns3_env.agents.training.callback import EpisodeMeter, Measure, RunCallback, Validations, named_callbacks
from ns3_env.agents.training.progress import StopRequest
from ns3_env.agents.training.rollout_env import MakeRollouts, make_training_env, players_of
from ns3_env.config.command_line import new_console
from ns3_env.config.folders import alone_in
from ns3_env.config.imports import is_code
from ns3_env.config.model import Strict, validate
from ns3_env.errors import ConfigError
from ns3_env.policies.file import write_policy


@dataclass(frozen=True)
class Plan:
    """A run that has been checked: nothing of it has started."""

    config: RunConfig
    curriculum: Curriculum
    resume: RunFolder | None


class RunState(Strict):
    """state.json of a checkpoint: the state needed to continue, in addition to the trainer's files."""

    decisions: int = Field(ge=0)
    curriculum: CurriculumState
    next_episodes: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)


def with_algorithm(data: dict[str, Any], algorithm: str) -> dict[str, Any]:
    """A configuration's data with another agent: without its settings, and with a clock that suits it."""
    agent, env = data.get("agent"), data.get("env", {})
    if isinstance(agent, Mapping) and agent.get("name") == algorithm:
        return data
    try:
        synchronous = find_agent(algorithm).synchronous
    except ValueError as error:
        raise ConfigError(f"command line: --algo: {error}") from error
    clock = {"name": "synchronous" if synchronous else "per_flow_rtt"}
    if isinstance(env, Mapping):  # other types are refused by the reader
        of = env.get("clock")
        name = of.get("name") if isinstance(of, Mapping) else None
        fits = (name == "synchronous") == synchronous
        env = dict(env) if fits else {**env, "clock": clock}
    return {**data, "agent": {"name": algorithm}, "env": env, "name": algorithm.rpartition(":")[2].lower()}


def plan(inputs: Inputs, overrides: Sequence[str] = (), algorithm: str | None = None) -> Plan:
    """Checks everything a run needs.

    Args:
        inputs: inputs returned by ``read_inputs()``.
        overrides: ``key=value`` for the configuration.
        algorithm: agent instead of the configured one; not with a resumed run.

    Raises:
        ConfigError: naming file and key.
        ScenarioError: a stage's scenario is wrong.
    """
    if algorithm is not None:
        if inputs.resume is not None:
            raise ConfigError("command line: --resume brings its own configuration: no --algo")
        inputs = replace(inputs, config=with_algorithm(inputs.config, algorithm))
    posed = with_problem_of_tasks(inputs.config, inputs.curriculum, inputs.config_source)
    inputs = replace(inputs, config=posed).with_overrides(overrides)
    config = validate(inputs.config, RunConfig, inputs.config_source)
    task = make_task(config.env, inputs.config_source)  # names are checked
    compared = check_evaluation(config.env, config.evaluation, inputs.config_source)
    source = inputs.curriculum_source
    stages = validate(inputs.curriculum, CurriculumConfig, source)
    if not find_agent(config.agent.name).trainer.exports() or is_code(config.env.action.name):
        if stages.validation is not None and stages.validation.gap_to is not None:
            raise ConfigError(
                f"{source}: validation.gap_to: simulators evaluate the policy, and this one has no file"
            )
        stages = stages.model_copy(update={"validation": None})  # simulators would need a policy's file
    # Across the channel episodes overlap: stages are left by count.
    inside = config.env.placement == "simulator"
    if inputs.resume is not None:
        inputs.resume.latest_checkpoint()
    curriculum = Curriculum(stages, config.env, config.seed, source, by_score=inside)
    for scenario in (*curriculum.scenarios, *compared):
        task.check(scenario)
    return Plan(config, curriculum, inputs.resume)


def run(
    plan: Plan,
    parent: Path,
    measure: Measure | None = None,
    console: Console | None = None,
) -> Outcome:
    """Trains as planned.

    Args:
        plan: plan returned by ``plan()``.
        parent: folder in which a new run's folder is made.
        measure: metrics of an episode's results, for the log; "fct_slowdown" and "queue_bytes" go to the
            live line.
        console: console for the progress.

    Raises:
        ConfigError: the checkpoint does not fit the configuration, or another training runs in the folder.
        SimulatorError: a simulator failed; a checkpoint was saved.
    """
    config = plan.config
    with players_of(config.env) as make_rollouts:
        folder = plan.resume or RunFolder.create(parent, config.name, config, plan.curriculum.config)
        with alone_in(folder.path, "training"):
            return _run(plan, folder, make_rollouts, measure, console or new_console())


def _run(
    plan: Plan,
    folder: RunFolder,
    make_rollouts: MakeRollouts,
    measure: Measure | None,
    console: Console,
) -> Outcome:
    """Runs as ``run`` does, with simulators from ``make_rollouts``."""
    config, curriculum = plan.config, plan.curriculum
    checkpoint = None
    if plan.resume is not None:
        checkpoint, state_data = plan.resume.latest_checkpoint()
        state = validate(state_data, RunState, str(checkpoint / "state.json"))
        curriculum.restore(state.curriculum.model_dump())
        suffix = f"-{state.decisions}"
    else:
        suffix, state = "", None
    stop = StopRequest()
    env = make_training_env(config.env, curriculum, curriculum.most_flows, config.seed, make_rollouts)
    validations = None
    if curriculum.plateau is not None:
        task = make_task(config.env, "configuration")
        score = curriculum.plateau.config.score
        validations = Validations(task, config.seed, config.env.processes, make_rollouts, score)
    try:
        trainer = find_agent(config.agent.name).trainer(config, env, folder.path, suffix)
        if checkpoint is not None and state is not None:
            trainer.restore(checkpoint)
            env.go_on_with(state.next_episodes)
        meter = EpisodeMeter(env, measure)
        callback = RunCallback(config.train, curriculum, folder, trainer, meter, stop, console, validations)
        callbacks = CallbackList([callback, *named_callbacks(config.train.callbacks)])
        print(f"run folder: {folder.path}", flush=True)
        if trainer.decisions == 0:
            callback.checkpoint()  # the untrained network, and proof that checkpoints can be written
            if (file := trainer.file()) is not None:
                write_policy(folder.untrained_policy, file)
        try:
            remaining = config.train.decisions - trainer.decisions
            with stop.listening():
                if remaining > 0:
                    trainer.learn(remaining, callbacks)
        finally:
            # Whatever ended the training: the learned policy is kept.
            callback.close()
            if trainer.decisions > callback.saved_at:
                callback.checkpoint()
        if (text := callback.stages()) is not None:
            print(text, flush=True)
    finally:
        env.close()
        if validations is not None:
            validations.close()
    return stop.outcome(folder)

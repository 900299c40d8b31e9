# SPDX-License-Identifier: GPL-2.0-or-later
"""Source of an export: a checkpoint's policy, its network to compare with, a scenario to record."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.agents.configuration.config import EnvConfig, EvaluationConfig, RunConfig
from ns3_env.agents.configuration.inputs import make_scenario
from ns3_env.agents.configuration.registry import AGENTS
from ns3_env.agents.configuration.run_folder import RunFolder
from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.export.formats import Evaluator
from ns3_env.agents.training.checkpoint import env_of, resolve, trainer_of
from ns3_env.agents.training.layout import read_layout, refuse_pickles
from ns3_env.agents.training.learned import POLICY
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, PolicyFile, read_policy
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import Scenario


@dataclass(frozen=True)
class Source:
    """A policy that is exported.

    Attributes:
        policy: content of its file.
        player: the policy, ready to decide.
        original: function whose answers a copy must reproduce.
        name: name of the file from which the original was read.
        env: environment of its training.
        scenario: scenario in which observations are recorded.
        seed: seed of the recorded episodes.
    """

    policy: PolicyFile
    player: NetworkPolicy
    original: Evaluator
    name: str
    env: EnvConfig
    scenario: Scenario
    seed: int


def find_source(path: Path) -> Source:
    """The policy of a run, of a checkpoint, or of anything else that ``resolve`` finds.

    The original is the checkpoint's own networks, if they exist and their agent is known here; else
    the policy's file.

    Raises:
        ConfigError: there is no checkpoint, or it is invalid.
        ScenarioError: the run's scenario is wrong.
    """
    checkpoint = resolve(path)
    folder, file = checkpoint.folder, checkpoint.policy_file
    if folder is not None:
        refuse_pickles(folder)
    if file is None:
        raise ConfigError(
            f"{folder or path}: has no {POLICY_FILE}: its agent does not define how to write one"
        )
    policy, player = read_policy(file), NetworkPolicy.load(file)
    networks = None if folder is None else _networks(folder)
    original, name = (player.act, file.name) if networks is None else (networks, POLICY)
    env, defaults = env_of(policy.spec), EvaluationConfig()
    run = None if folder is None else RunFolder(folder.parent.parent)
    if run is None or not _has_scenario(run):
        scenario = make_scenario(env, defaults.scenario, "")
        return Source(policy, player, original, name, env, scenario, defaults.seed)
    data, stages = run.read()
    config = validate(data, RunConfig, str(run.path / "config.yaml"))
    scenario, seed = _scenario(run, config, stages)
    return Source(policy, player, original, name, env, scenario, seed)


def _networks(folder: Path) -> Evaluator | None:
    """The networks in the trainer's arrays, if they exist. Raises ConfigError."""
    layout = read_layout(folder)
    if not (folder / POLICY).exists() or str(layout.get("agent")) not in AGENTS:
        return None
    return trainer_of(folder, layout).load(folder, layout).act


def _has_scenario(run: RunFolder) -> bool:
    """Returns whether it is a run of an agent that learns; a search's stages have other flows."""
    return (run.path / "config.yaml").exists() and run.read()[0].get("kind", "train") == "train"


def _scenario(run: RunFolder, config: RunConfig, stages: dict[str, Any]) -> tuple[Scenario, int]:
    """The run's evaluation and its seed, or its last stage. Raises ConfigError, ScenarioError."""
    if config.evaluation is not None:
        place = f"{run.path / 'config.yaml'}: evaluation.scenario"
        return make_scenario(config.env, config.evaluation.scenario, place), config.evaluation.seed
    place = str(run.path / "curriculum.yaml")
    curriculum = Curriculum(validate(stages, CurriculumConfig, place), config.env, config.seed, place)
    return curriculum.scenarios[-1], config.seed

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of an ablation: variants of one configuration, from YAML, each trained and judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, field_validator

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.configuration.inputs import Inputs, apply_overrides
from ns3_env.agents.training import run as training
from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.bounds import LearnerSeed, few
from ns3_env.config.model import Strict, validate
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.eval.metrics import measure
from ns3_env.policies.policy import Policy
from ns3_env.scenario import Scenario

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=60)]
#: Of one run: metrics by scenario, and the CPU seconds that learning took.
Scores = Mapping[str, Mapping[str, float]]


class Variant(Strict):
    """One of those that are compared: what differs from the common configuration."""

    name: _Name
    title: str
    algorithm: str | None = Field(default=None, description="another agent, with its own settings")
    overrides: list[str] = Field(default_factory=list, description="key=value")
    curriculum: dict[str, Any] | None = Field(default=None, description="another one, whole")


class Ablation(Strict):
    """configs/ablations/*.yaml; files are named from where the YAML lies."""

    title: str
    config: str
    curriculum: str
    overrides: list[str] = Field(default_factory=list, description="key=value, of all variants")
    seeds: list[LearnerSeed] = Field(min_length=1)
    judged_seeds: list[int] = Field(min_length=1, description="of the scenarios that policies are judged on")
    scenarios: dict[_Name, dict[str, Any]] = Field(min_length=1, description="by name")
    metrics: list[str] = Field(min_length=1)
    variants: Annotated[list[Variant], few(100, "each is several training runs")] = Field(min_length=1)

    @field_validator("variants")
    @classmethod
    def _different(cls, variants: list[Variant]) -> list[Variant]:
        names = [variant.name for variant in variants]
        if len(set(names)) < len(names):
            raise ValueError("two variants have the same name")
        return variants


class Planned:
    """An ablation that has been checked: every run's configuration, and every scenario."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError or ScenarioError, naming file, variant and key; nothing has run."""
        self.of = validate(read_mapping(path), Ablation, str(path))
        self._path = path
        folder = path.parent
        self._config = read_mapping(folder / self.of.config)
        self._curriculum = read_mapping(folder / self.of.curriculum)
        self.scenarios = {
            name: Scenario.from_mapping(data, f"{path}: scenarios.{name}")
            for name, data in self.of.scenarios.items()
        }
        for variant in self.of.variants:
            self.run(variant, self.of.seeds[0])

    def run(self, variant: Variant, seed: int) -> training.Plan:
        """The run of a variant with this seed. Raises ConfigError."""
        source = f"{self._path}: variant {variant.name!r}"
        data: Mapping[str, Any] = apply_overrides(self._config, self.of.overrides)
        if variant.algorithm is not None:
            try:
                data = training.with_algorithm(dict(data), variant.algorithm)
            except ValueError as error:
                raise ConfigError(f"{source}: {error}") from None
        data = apply_overrides(data, [*variant.overrides, f"seed={seed}", f"name={variant.name}"])
        stages = self._curriculum if variant.curriculum is None else variant.curriculum
        return training.plan(Inputs(dict(data), stages, source, f"{source}: curriculum"))


#: A variant and a seed.
Run = tuple[Variant, int]


def train_and_score(planned: Planned, run: Run, runs: Path) -> Scores:
    """Trains a variant with a seed into a folder below ``runs``, and judges its last policy."""
    plan = planned.run(*run)
    began = time.process_time()
    outcome = training.run(plan, runs)
    if outcome.interrupted:
        raise KeyboardInterrupt
    seconds = time.process_time() - began
    checkpoint, _ = outcome.folder.latest_checkpoint()
    policy = resolve(checkpoint).policy()
    found = {name: _on(policy, plan.config.env, planned, name) for name in planned.scenarios}
    return {**found, "learning": {"cpu_s": seconds}}


def _on(policy: Policy, env: EnvConfig, planned: Planned, name: str) -> dict[str, float]:
    """Means over the judged seeds."""
    seeds = planned.of.judged_seeds
    played = run_policy(policy, env, planned.scenarios[name], 0, len(seeds), seeds=seeds)
    measured = [measure(episode.results, planned.of.metrics) for episode in played]
    return {metric: float(np.mean([row[metric] for row in measured])) for metric in planned.of.metrics}

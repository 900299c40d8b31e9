# SPDX-License-Identifier: GPL-2.0-or-later
"""Safety of a policy's file: the ranges of its observations in drawn episodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ns3_env.agents.curriculum.curriculum import Curriculum, CurriculumConfig
from ns3_env.agents.training.checkpoint import env_of
from ns3_env.config.model import validate
from ns3_env.config.yaml import read_mapping
from ns3_env.decision.task import Task
from ns3_env.envs.rollouts import Rollouts
from ns3_env.errors import ConfigError
from ns3_env.policies.file import PolicyFile, policy_bytes
from ns3_env.policies.header import Input, PolicySpec, Safety

#: Episodes of the curriculum: ten of each of six families.
EPISODES = 60
#: A value beyond a range by less than this share of its width, as the network reads it, counts as inside,
#: like an interval without an acknowledged packet next to one with a packet.
MARGIN = 0.01
#: Share of a flow's bytes that it may have sent again: policies observe no losses, and Swift answers them.
MOST_REPEATED = 0.5


def secured(
    policy: PolicyFile,
    curriculum: Path,
    most_rtts: float,
    episodes: int = EPISODES,
    seed: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> PolicyFile:
    """The policy with a safety whose ranges are those of its observations in a curriculum's episodes.

    Args:
        policy: a policy without a safety.
        curriculum: file of the curriculum.
        most_rtts: see ``Safety``.
        episodes: number of episodes.
        seed: seed of the episodes.
        progress: called with the number of episodes so far.

    Raises:
        ConfigError: the policy has a safety, or the curriculum's file is wrong.
        ScenarioError: an episode cannot be run.
        SimulatorError: the simulator failed.
    """
    if policy.spec.safety is not None:
        raise ConfigError("the policy's file has a safety already: start from the file without one")
    stages = validate(read_mapping(curriculum), CurriculumConfig, str(curriculum))
    sampler = Curriculum(stages, env_of(policy.spec), seed, str(curriculum))
    fields = policy.spec.fields
    low, high = np.full(len(fields), np.inf), np.full(len(fields), -np.inf)
    with Rollouts(sampler, task=Task(fields), seed=seed) as rollouts:
        for index in range(episodes):
            rollouts.begin(policy_bytes(policy))
            episode = rollouts.next()
            observations = episode.observations[episode.decided]
            low = np.minimum(low, observations.min(axis=0, initial=np.inf))
            high = np.maximum(high, observations.max(axis=0, initial=-np.inf))
            progress(index + 1)
    if not np.isfinite(low).all():
        raise ConfigError(f"{curriculum}: no flow under the policy decides in {episodes} episodes")
    ranges = {
        name: _wider(policy.spec, name, float(least), float(most))
        for name, least, most in zip(fields, low, high, strict=True)
    }
    safety = Safety(most_rtts=most_rtts, most_repeated=MOST_REPEATED, ranges=ranges)
    return PolicyFile(policy.spec.model_copy(update={"safety": safety}), policy.tensors)


def _wider(spec: PolicySpec, name: str, low: float, high: float) -> tuple[float, float]:
    """A field's range with MARGIN on either side, in the scale in which the network reads it."""
    logarithmic = any(
        isinstance(entry, Input) and entry.field == name and entry.transform == "symlog"
        for entry in spec.observation
    )
    ends = np.array([low, high])
    read = np.sign(ends) * np.log1p(np.abs(ends)) if logarithmic else ends
    read += MARGIN * (read[1] - read[0]) * np.array([-1, 1])
    least, most = np.sign(read) * np.expm1(np.abs(read)) if logarithmic else read
    return float(least), float(most)

# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of an ablation: a variant trained with a seed, and its last policy judged."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ns3_env.agents.configuration.config import EnvConfig
from ns3_env.agents.runs import run as training
from ns3_env.agents.runs.checkpoint import load_policy
from ns3_env.eval.episodes.policy import run_policy
from ns3_env.eval.metrics import measure
from ns3_env.eval.training.plan import Planned, Variant
from ns3_env.policies.policy import Policy

#: Of one run: metrics by scenario, and the CPU seconds that learning took.
Judged = Mapping[str, Mapping[str, float]]
#: A variant and a seed.
Run = tuple[Variant, int]


def train_and_judge(planned: Planned, run: Run, runs: Path) -> Judged:
    """Trains a variant with a seed into a folder below ``runs``, and judges its last policy."""
    plan = planned.run(*run)
    began = time.process_time()
    outcome = training.run(plan, runs)
    if outcome.interrupted:
        raise KeyboardInterrupt
    seconds = time.process_time() - began
    checkpoint, _ = outcome.folder.latest_checkpoint()
    policy = load_policy(checkpoint)
    found = {name: _on(policy, plan.config.env, planned, name) for name in planned.scenarios}
    return {**found, "learning": {"cpu_s": seconds}}


def _on(policy: Policy, env: EnvConfig, planned: Planned, name: str) -> dict[str, float]:
    """Means over the judged seeds."""
    seeds = planned.of.judged_seeds
    played = run_policy(policy, env, planned.scenarios[name], 0, len(seeds), seeds=seeds)
    measured = [measure(episode.results, planned.of.metrics) for episode in played]
    return {metric: float(np.mean([row[metric] for row in measured])) for metric in planned.of.metrics}

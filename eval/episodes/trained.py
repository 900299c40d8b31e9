# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the policy file that the simulator plays for a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.model import shown
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.scenario import POLICY, Controller


def trained_policies(checkpoints: Sequence[str], names: Sequence[str]) -> dict[str, Path]:
    """The files of trained policies, by name. Raises ScenarioError, naming the option."""
    found: dict[str, Path] = {}
    for text in checkpoints:
        name, _, path = text.partition("=")
        if not (path and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]*", name)):
            raise ScenarioError(f"--checkpoint: expected NAME=PATH, found {shown(text)}")
        if name in names or name in found:
            raise ScenarioError(f"--checkpoint: there is a controller {name!r} already")
        found[name] = policy_of(Path(path))
    return found


def policy_of(path: Path) -> Path:
    """The file of a policy, however it is named. Raises ScenarioError."""
    try:
        found = resolve(path).load()
    except ConfigError as error:
        raise ScenarioError(f"--checkpoint: {error}") from None
    if isinstance(found, Controller) and found.name == POLICY:  # what a search found
        return Path(str(found.attributes["File"]))
    if isinstance(found, Controller) or not isinstance(found.policy, NetworkPolicy):
        raise ScenarioError(
            f"--checkpoint: {path}: holds no policy's file that the simulator could play; "
            "a suite's `checkpoint:` and `eval compare policy` ask it in Python"
        )
    return found.policy.path

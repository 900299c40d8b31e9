# SPDX-License-Identifier: GPL-2.0-or-later
"""Export to the policy's own file format, which the simulator's evaluator runs."""

from __future__ import annotations

from pathlib import Path

from ns3_env.agents.export.formats import Evaluator
from ns3_env.policies.file import PolicyFile, write_policy
from ns3_env.policies.native_policy import NetworkPolicy


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the file. Raises OSError."""
    write_policy(path, policy)


def evaluator(path: Path) -> Evaluator:
    """The policy in a file. Raises ConfigError where it is none."""
    return NetworkPolicy.load(path).act

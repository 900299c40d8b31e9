# SPDX-License-Identifier: GPL-2.0-or-later
"""How is a policy's own file written, and run? By the simulator's evaluator."""

from __future__ import annotations

from pathlib import Path

from ns3_env.agents.export.evaluator import Evaluator
from ns3_env.network_policy import NetworkPolicy
from ns3_env.policy_file import PolicyFile, write_policy


def write(path: Path, policy: PolicyFile) -> None:
    """Writes the file. Raises OSError."""
    write_policy(path, policy)


def evaluator(path: Path) -> Evaluator:
    """The policy in a file. Raises ConfigError where it is none."""
    return NetworkPolicy.load(path).act

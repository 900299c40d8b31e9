# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments: Gymnasium, vectorised, PettingZoo, RLlib, streams and rollouts."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

#: Names of 0.1, and what they are called now.
RENAMED = {
    "RdmaIncastEnv": "FlowEnv",
    "RdmaIncastVectorEnv": "FlowVectorEnv",
    "RdmaVecEnv": "FlowVecEnv",
    "RdmaParallelEnv": "FlowParallelEnv",
    "RdmaMultiAgentEnv": "FlowMultiAgentEnv",
}


def renamed(module: str, old: str) -> Any:
    """What a class of the module was called, with a DeprecationWarning; raises AttributeError for others."""
    found = getattr(importlib.import_module(module), RENAMED[old], None) if old in RENAMED else None
    if found is None:
        raise AttributeError(f"module {module!r} has no attribute {old!r}")
    warnings.warn(f"{old} is {RENAMED[old]} now", DeprecationWarning, stacklevel=3)
    return found

# SPDX-License-Identifier: GPL-2.0-or-later
"""Environments: Gymnasium, vectorised, PettingZoo, RLlib, streams and rollouts."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

#: Names of 0.1, and what they are called now.
RENAMED = {
    "RdmaIncastEnv": "FlowEnv",
    "RdmaIncastVectorEnv": "FlowVectorEnv",
    "RdmaVecEnv": "FlowVecEnv",
    "RdmaParallelEnv": "FlowParallelEnv",
    "RdmaMultiAgentEnv": "FlowMultiAgentEnv",
}


def renamed(module: str) -> Callable[[str], Any]:
    """The module's ``__getattr__``: its classes by their names of 0.1, with a DeprecationWarning."""

    def found(old: str) -> Any:
        now = getattr(importlib.import_module(module), RENAMED[old], None) if old in RENAMED else None
        if now is None:
            raise AttributeError(f"module {module!r} has no attribute {old!r}")
        warnings.warn(f"{old} is {RENAMED[old]} now", DeprecationWarning, stacklevel=2)
        return now

    return found


def arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """A constructor's own, where ``given`` are its ``locals()`` as it begins: what EzPickle is to keep."""
    return {name: value for name, value in given.items() if name not in ("self", "__class__")}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks: reinforcement-learning problems on drawn networks, with fixed tests and scores."""

from __future__ import annotations

import importlib
from typing import Any

#: What is imported when it is first asked for: ids are registered without it.
_LAZY = {
    "FIRST_TEST_SEED": "ns3_env.tasks.definition",
    "TASKS": "ns3_env.tasks.networks",
    "TESTS": "ns3_env.tasks.definition",
    "TaskSpec": "ns3_env.tasks.definition",
    "make": "ns3_env.tasks.front_ends",
    "task": "ns3_env.tasks.networks",
}

__all__ = ["FIRST_TEST_SEED", "TASKS", "TESTS", "TaskSpec", "make", "task"]


def __getattr__(name: str) -> Any:
    """The public names."""
    if name not in _LAZY:
        raise AttributeError(f"module 'ns3_env.tasks' has no attribute {name!r}")
    return getattr(importlib.import_module(_LAZY[name]), name)

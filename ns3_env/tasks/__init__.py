# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks: reinforcement-learning problems on drawn networks, with fixed tests and scores."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.config.lazy import lazy

if TYPE_CHECKING:
    import pandas

    from ns3_env.tasks.definition import FIRST_TEST_SEED, TESTS, TaskSpec
    from ns3_env.tasks.front_ends import make
    from ns3_env.tasks.networks import TASKS, task
    from ns3_env.tasks.registry import declare

__all__ = ["FIRST_TEST_SEED", "TASKS", "TESTS", "TaskSpec", "declare", "make", "score", "task"]

__getattr__ = lazy(
    __name__,
    {
        "FIRST_TEST_SEED": "ns3_env.tasks.definition",
        "TASKS": "ns3_env.tasks.networks",
        "TESTS": "ns3_env.tasks.definition",
        "TaskSpec": "ns3_env.tasks.definition",
        "declare": "ns3_env.tasks.registry",
        "make": "ns3_env.tasks.front_ends",
        "task": "ns3_env.tasks.networks",
    },
)


def score(entry: str | Path | Mapping[str, Any], tasks: str | Sequence[str] = "all") -> pandas.DataFrame:
    """Scores an entry on tasks' tests: see ``ns3_env.eval.leaderboard.scoring``."""
    frame: pandas.DataFrame = importlib.import_module("ns3_env.eval.leaderboard.scoring").score(entry, tasks)
    return frame

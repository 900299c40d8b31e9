# SPDX-License-Identifier: GPL-2.0-or-later
"""Small frames of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

#: Scores by task, run and test seed.
ByTask = Mapping[str, Sequence[Sequence[float]]]


def frame(entries: Mapping[str, ByTask]) -> pandas.DataFrame:
    """A row for each test."""
    rows: list[dict[str, Any]] = [
        {"entry": entry, "run": run, "task": task, "test_seed": seed, "score": score}
        for entry, tasks in entries.items()
        for task, runs in tasks.items()
        for run, tests in enumerate(runs)
        for seed, score in enumerate(tests)
    ]
    return pandas.DataFrame(rows)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of training jobs, and the rows of jobs.csv."""

from __future__ import annotations

from ns3_env.eval.metrics.jobs.declared import completion_times, iterations
from ns3_env.eval.metrics.jobs.rows import (
    SECTION,
    TASK_COLUMNS,
    Span,
    TaskTable,
    covered_ns,
    spans,
    task_rows,
    task_table,
)

__all__ = [
    "SECTION",
    "TASK_COLUMNS",
    "Span",
    "TaskTable",
    "completion_times",
    "covered_ns",
    "iterations",
    "spans",
    "task_rows",
    "task_table",
]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites and options of benchmarks on Ray."""

from __future__ import annotations

from pathlib import Path


def options(suite: Path, out: Path, *more: str) -> list[str]:
    return ["benchmark", str(suite), "--out", str(out), *more]

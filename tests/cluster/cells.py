# SPDX-License-Identifier: GPL-2.0-or-later
"""Suites and options of benchmarks on Ray."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.samples.suites import SUITE


def suite_file(folder: Path, **changes: Any) -> Path:
    path = folder / "tiny.yaml"
    path.write_text(yaml.safe_dump({**SUITE, **changes}))
    return path


def options(suite: Path, out: Path, *more: str) -> list[str]:
    return ["benchmark", str(suite), "--out", str(out), *more]

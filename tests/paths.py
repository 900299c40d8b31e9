# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders that tests read: the project, its build, and the tests' own data."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "dev"
DATA = ROOT / "tests" / "data"

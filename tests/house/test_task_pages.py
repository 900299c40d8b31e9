# SPDX-License-Identifier: GPL-2.0-or-later
"""The table and the page of tasks against the declarations that they are made from."""

from __future__ import annotations

import subprocess
import sys

from ns3_env.tasks import TASKS
from tests.paths import ROOT


def test_the_table_says_what_is_declared() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/make/task_pages.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_task_has_a_picture_and_nothing_else_has() -> None:
    pictures = list((ROOT / "docs/images/tasks").iterdir())
    assert {picture.stem for picture in pictures} == {name.lower() for name in TASKS}
    assert sum(picture.stat().st_size for picture in pictures) < 1_000_000

# SPDX-License-Identifier: GPL-2.0-or-later
"""The tasks' pages against the declarations that they are made from."""

from __future__ import annotations

import subprocess
import sys

from ns3_env.tasks import TASKS
from tests.paths import ROOT


def test_pages_say_what_is_declared() -> None:
    checked = subprocess.run(
        [sys.executable, "docs/make/task_pages.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_each_task_has_a_page_and_a_picture_and_nothing_else_has() -> None:
    names = {name.lower() for name in TASKS}
    assert {page.stem for page in (ROOT / "docs/tasks").iterdir()} == names
    pictures = list((ROOT / "docs/images/tasks").iterdir())
    assert {picture.stem for picture in pictures} == names
    assert sum(picture.stat().st_size for picture in pictures) < 1_000_000

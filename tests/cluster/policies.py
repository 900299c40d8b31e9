# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that wait for a test, or kill their worker, wherever on a cluster they play."""

import os
import signal
import time
from pathlib import Path

from tests.eval.benchmark.bench_policies import Raises

#: Variable that names the folder in which tests and code on the nodes leave messages.
MEETING = "NS3_ENV_TEST_MEETING"


class Waits(Raises):
    """Writes a file when it runs, and waits until the file "go" exists."""

    def misbehave(self) -> None:
        folder = Path(os.environ[MEETING])
        (folder / f"{os.getpid()}.plays").touch()
        while not (folder / "go").exists():
            time.sleep(0.05)


class DiesOnce(Raises):
    """Kills its worker the first time, as the kernel does when memory runs out."""

    def misbehave(self) -> None:
        died = Path(os.environ[MEETING]) / "died"
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class DiesAlways(Raises):
    """Kills its worker each time."""

    def misbehave(self) -> None:
        (Path(os.environ[MEETING]) / f"{os.getpid()}.died").touch()
        os.kill(os.getpid(), signal.SIGKILL)

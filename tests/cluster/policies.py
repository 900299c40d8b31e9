# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that report that they run and wait, or that kill their worker."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from examples.target_queue import TargetQueue
from ns3_env.policies.policy import FloatArray, State

#: Variable that names the folder in which tests and code on the nodes leave messages.
MEETING = "NS3_ENV_TEST_MEETING"


class Waits(TargetQueue):
    """Writes a file when it runs, and waits until the file "go" exists."""

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: FloatArray | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        self.meet(Path(os.environ[MEETING]))
        return super().predict(observation, state, episode_start, deterministic)

    def meet(self, folder: Path) -> None:
        (folder / f"{os.getpid()}.plays").touch()
        while not (folder / "go").exists():
            time.sleep(0.05)


class DiesOnce(Waits):
    """Kills its worker the first time, as the kernel does when memory runs out."""

    def meet(self, folder: Path) -> None:
        if not (folder / "died").exists():
            (folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)


class DiesAlways(Waits):
    """Kills its worker each time."""

    def meet(self, folder: Path) -> None:
        (folder / f"{os.getpid()}.died").touch()
        os.kill(os.getpid(), signal.SIGKILL)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Policies that raise, kill their worker or simulator, or never answer, for tests of benchmarks."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from examples.target_queue import TargetQueue
from ns3_env.policies.policy import FloatArray, State


class Raises(TargetQueue):
    """An error of the user's own."""

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: FloatArray | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        self.misbehave()
        return super().predict(observation, state, episode_start, deterministic)

    def misbehave(self) -> None:
        raise ZeroDivisionError("the user's own mistake")


class KillsWorker(Raises):
    """Kills its worker, as the kernel does when memory runs out."""

    def misbehave(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class KillsSimulator(Raises):
    """Kills the simulator's process while an answer is on its way to it."""

    def misbehave(self) -> None:
        for status in Path("/proc").glob("[0-9]*/stat"):
            name, _, rest = status.read_text().partition(" (")[2].rpartition(") ")
            if name == "rdma-sim" and int(rest.split()[1]) == os.getpid():
                os.kill(int(status.parent.name), signal.SIGKILL)


class Sleeps(Raises):
    """Never answers."""

    def misbehave(self) -> None:
        time.sleep(600)

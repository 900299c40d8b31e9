# SPDX-License-Identifier: GPL-2.0-or-later
"""Shares of a training's wall time by activity, for each line of the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stable_baselines3.common.logger import Logger

#: What is measured, so that each has its column from the first line of progress.csv on.
SIMULATING, STORING, LEARNING, VALIDATING = "simulating", "storing", "learning", "validating"


class Stopwatch:
    """Adds up seconds between two lines of the log."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """
        Args:
            clock: gives seconds.
        """
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._since = self._clock()
        self._seconds = dict.fromkeys((SIMULATING, STORING, LEARNING, VALIDATING), 0.0)
        self._gradient_steps = 0

    @contextmanager
    def measuring(self, what: str) -> Iterator[None]:
        """What is done within the block is ``what``; blocks stand side by side, not within each other."""
        began = self._clock()
        try:
            yield
        finally:
            self._seconds[what] += self._clock() - began

    def made_gradient_steps(self, count: int) -> None:
        """So many more, in the time that is measured as learning."""
        self._gradient_steps += count

    def report(self, logger: Logger) -> None:
        """Records ``time/...``: shares of the wall time since the last report, and gradient steps per second
        of learning; nothing where nothing was measured since."""
        if not any(self._seconds.values()):
            return
        total = max(self._clock() - self._since, 1e-9)
        for what, seconds in self._seconds.items():
            logger.record(f"time/{what}", seconds / total)
        if self._gradient_steps:
            rate = self._gradient_steps / max(self._seconds[LEARNING], 1e-9)
            logger.record("time/gradient_steps_per_s", rate)
        self._begin()

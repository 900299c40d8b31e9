# SPDX-License-Identifier: GPL-2.0-or-later
"""Periodic health check of several simulators."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ns3_env.simulator.process import LOOK_S
from ns3_env.simulator.simulator import Simulator


class HealthCheck:
    """Looks at several simulators every 0.1 s, however often it is called; calls in between cost nothing."""

    def __init__(self, simulators: Sequence[Simulator]) -> None:
        """
        Args:
            simulators: those that are looked at.
        """
        self._simulators = simulators
        self._next_look = 0.0

    def __call__(self) -> None:
        """Raises SimulatorError for any that has died, is stopped or hangs, whoever has the turn."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_S
            for simulator in self._simulators:
                simulator.check()

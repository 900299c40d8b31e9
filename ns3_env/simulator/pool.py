# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays episodes under the simulator's own controllers in parallel, in several simulators."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar

from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator

M = TypeVar("M")
T = TypeVar("T")
Results = dict[str, Any]


class EpisodePool(Protocol):
    """Plays episodes: simulators of this machine (``Players``), or of a Ray cluster."""

    def submit(self, scenario: Scenario, measure: Callable[[Results], M]) -> Future[M]:
        """Plays an episode; the future holds what ``measure`` makes of its results.

        ``measure`` runs where the episode was played, and may have to travel there: a function of a module,
        or what pickles. The future raises ScenarioError where the simulator refuses the scenario,
        SimulatorError where it fails.
        """
        ...

    def submit_then(
        self, scenario: Scenario, measure: Callable[[Results], M], then: Callable[[M], T]
    ) -> Future[T]:
        """As ``submit``; the future holds what ``then``, which runs here, makes of what was measured."""
        ...


class Players:
    """Plays episodes, as many at a time as there are simulators.

    The simulators are processes and do the work; the threads here only wait for them, so that Ctrl-C and a
    simulator's death are the caller's to see.
    """

    def __init__(self, count: int | None = None) -> None:
        """
        Args:
            count: simulators; by default as many as cores that this process may use.
        """
        self._simulators = [Simulator() for _ in range(count or len(os.sched_getaffinity(0)))]
        self._free: SimpleQueue[Simulator] = SimpleQueue()
        for simulator in self._simulators:
            self._free.put(simulator)
        self._threads = ThreadPoolExecutor(len(self._simulators))

    def submit(self, scenario: Scenario | Mapping[str, Any], measure: Callable[[Results], M]) -> Future[M]:
        """See ``EpisodePool``."""
        return self._threads.submit(self._play, scenario, measure)

    def submit_then(
        self, scenario: Scenario | Mapping[str, Any], measure: Callable[[Results], M], then: Callable[[M], T]
    ) -> Future[T]:
        """See ``EpisodePool``."""
        return self._threads.submit(lambda: then(self._play(scenario, measure)))

    def _play(self, scenario: Scenario | Mapping[str, Any], measure: Callable[[Results], M]) -> M:
        simulator = self._free.get()
        try:
            results = simulator.play(scenario)
        finally:
            self._free.put(simulator)
        return measure(results)

    def close(self) -> None:
        """Ends the simulators; what is still played is given up."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for simulator in self._simulators:
            if simulator.waiting and simulator.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(simulator.pid, signal.SIGKILL)  # whoever waits for it sees it dead
        self._threads.shutdown()
        for simulator in self._simulators:
            simulator.close()

    def __enter__(self) -> Players:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

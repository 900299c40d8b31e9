# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays episodes under the simulator's own controllers as tasks of a Ray cluster."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from ns3_env.cluster.files import named_files, renamed
from ns3_env.cluster.retries import RETRIES, caught, value
from ns3_env.cluster.worker_context import WorkerContext, pack, unpack
from ns3_env.envs.rollouts import MemoryFile
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import Results

M = TypeVar("M")
T = TypeVar("T")


class RayPlayers:
    """See ``EpisodePool``; within a joined cluster. Files that controllers name travel by content."""

    def __init__(self, at_once: int) -> None:
        """
        Args:
            at_once: most episodes at a time.
        """
        import ray

        self._task = ray.remote(_play).options(num_cpus=1, max_retries=RETRIES)
        self._context = ray.put(pack())
        self._lock = threading.Lock()
        self._under_way: set[Any] = set()
        # Threads wait for the cluster, each for an episode; one that has not begun can be given up.
        self._threads = ThreadPoolExecutor(at_once)

    def submit(self, scenario: Scenario, measure: Callable[[Results], M]) -> Future[M]:
        """See ``EpisodePool``."""
        return self._threads.submit(self._wait_for, scenario, _files(scenario), measure)

    def submit_then(
        self, scenario: Scenario, measure: Callable[[Results], M], then: Callable[[M], T]
    ) -> Future[T]:
        """See ``EpisodePool``."""
        files = _files(scenario)
        return self._threads.submit(lambda: then(self._wait_for(scenario, files, measure)))

    def _wait_for(self, scenario: Scenario, files: Mapping[str, bytes], measure: Callable[[Results], M]) -> M:
        ref = self._task.remote(scenario, files, measure, self._context)
        with self._lock:
            self._under_way.add(ref)
        try:
            found: M = value(ref)
            return found
        finally:
            with self._lock:
                self._under_way.discard(ref)

    def close(self) -> None:
        """Gives up what is still played."""
        import ray

        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            left = list(self._under_way)
        for ref in left:
            with suppress(Exception):  # the cluster may be gone
                ray.cancel(ref, force=True)
        self._threads.shutdown()

    def __enter__(self) -> RayPlayers:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _files(scenario: Scenario) -> dict[str, bytes]:
    """Read when the episode is asked for: a search's files live for a generation."""
    return {name: Path(name).read_bytes() for name in named_files(scenario.controllers)}


def _play(
    scenario: Scenario,
    files: Mapping[str, bytes],
    measure: Callable[[Results], Any],
    context: WorkerContext,
) -> Any:
    """A task: an episode, measured."""

    def work() -> Any:
        unpack(context)
        with ExitStack() as kept:
            here = {path: kept.enter_context(closing(MemoryFile(data))).path for path, data in files.items()}
            return measure(_simulator().play(renamed(scenario, here)))

    return caught(work)


@functools.cache
def _simulator() -> Simulator:
    """This worker's, from episode to episode."""
    return Simulator()

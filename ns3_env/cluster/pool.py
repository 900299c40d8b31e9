# SPDX-License-Identifier: GPL-2.0-or-later
"""Does jobs as tasks of a Ray cluster; files that a job reads travel by content.

Ray schedules the tasks and gives one whose worker or node died to another, as often as it does by default;
only the old one's work until then is lost.
"""

from __future__ import annotations

import functools
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from ns3_env.cluster.worker_context import WorkerContext, pack, unpack, unpacked
from ns3_env.errors import SimulatorDied
from ns3_env.scenario.scenario import Files
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import MobileJob

T = TypeVar("T")


@contextmanager
def remote_errors() -> Iterator[None]:
    """On the driver: raises a node's exception here, and Ray's own errors as ours.

    Raises:
        SimulatorDied: workers died, more often than Ray retries; or the node lacks something.
        ConnectionError: the cluster is gone.
    """
    from ray.exceptions import RayError, RaySystemError, RayTaskError

    try:
        yield
    except RayTaskError as error:
        raise error.cause from None
    except RaySystemError as error:
        raise ConnectionError(f"the Ray cluster is gone ({error})") from error
    except RayError as error:
        raise SimulatorDied(f"on the Ray cluster: {type(error).__name__}: {error}") from None


class RayPool:
    """See ``Pool``; within a joined cluster. The threads here only wait for it."""

    def __init__(self, at_once: int) -> None:
        """
        Args:
            at_once: most jobs that Ray has at a time.
        """
        import ray

        self._ray = ray
        self._function: Any = ray.remote(_do)
        self._context = ray.put(pack())
        self._pending: set[Any] = set()  # references of outcomes
        self._threads = ThreadPoolExecutor(at_once)

    def submit(self, job: MobileJob[T], timeout_s: float | None = None) -> Future[T]:
        """See ``Pool``. The future may raise ConnectionError: no cluster."""
        try:
            packed, files = job.packed()  # read now: files of a search live for a generation
        except Exception as error:
            future: Future[T] = Future()
            future.set_exception(error)
            return future
        return self._threads.submit(self._do, packed, files, timeout_s)

    def _do(self, job: MobileJob[T], files: Files, timeout_s: float | None) -> T:
        with remote_errors():
            ref = self._function.remote(job, files, self._context, timeout_s)
            self._pending.add(ref)
            try:
                outcome: T = self._ray.get(ref)
            finally:
                self._pending.discard(ref)
        return outcome

    def close(self) -> None:
        """Gives up jobs still under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with suppress(Exception):  # the cluster may be gone
            for ref in tuple(self._pending):
                self._ray.cancel(ref, force=True)
        self._threads.shutdown()

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Overdue(BaseException):
    """The job exceeded its time; no error that the job itself might handle."""


def _do(job: MobileJob[T], files: Files, context: WorkerContext, timeout_s: float | None) -> T:
    """A task: the job on this node. Raises TimeoutError if it needs longer, and as the job does."""
    try:
        with _time_limit(timeout_s), unpacked(files) as paths:
            unpack(context)
            return job.at(paths).run(_simulator())
    except _Overdue:
        _simulator().kill()
        raise TimeoutError from None


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Raises ``_Overdue`` in the block, which is the main thread's as all of Ray's tasks, and again after the
    same time."""

    def interrupt(*signalled: object) -> None:
        raise _Overdue

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds or 0, seconds or 0)  # 0: never
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@functools.cache
def _simulator() -> Simulator:
    """This worker's simulator, kept from job to job; it ends with the worker."""
    return Simulator()

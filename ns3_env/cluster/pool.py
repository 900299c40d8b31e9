# SPDX-License-Identifier: GPL-2.0-or-later
"""Does jobs as tasks of a Ray cluster; what a job reads travels by content.

Ray schedules the tasks and gives one whose worker or node died to another; what is played by then under the
old one is lost, and nothing else.
"""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ns3_env.cluster.worker_context import WorkerContext, pack, unpack, unpacked
from ns3_env.errors import ConfigError, ScenarioError, SimulatorDied, SimulatorError
from ns3_env.scenario.scenario import Files
from ns3_env.simulator import Simulator
from ns3_env.simulator.pool import MobileJob

#: How often work is given to another worker where one died, or its node did.
RETRIES = 3

T = TypeVar("T")


def caught(work: Callable[[], T]) -> T | Exception:
    """On a node: the value of ``work()``, or its error, which is no failure of the node."""
    try:
        return work()
    except (ConfigError, ScenarioError, SimulatorError) as error:
        return error


def value(ref: Any) -> Any:
    """On the driver: what ``caught`` gave, or its error raised. Waits for it.

    Raises:
        ConfigError, ScenarioError, SimulatorError: as they were raised on the node.
        SimulatorDied: workers died, more often than Ray tries again; or the node lacks something.
    """
    import ray

    try:
        found = ray.get(ref)
    except ray.exceptions.RayError as error:
        raise SimulatorDied(f"on the Ray cluster: {type(error).__name__}: {error}") from None
    if isinstance(found, Exception):
        raise found
    return found


#: How often the cluster is asked for news, s.
TICK_S = 0.2
#: What jobs read is kept on the cluster for so many different sets of files.
_KEPT = 64


@dataclass
class _Task:
    """A job, and the future of whoever waits for it."""

    job: MobileJob[Any]
    number: int
    files: Any
    timeout_s: float | None
    cores: int
    future: Future[Any]
    overdue: bool = False

    def end(self, outcome: Any) -> None:
        """The future has its outcome, or raises it; nothing where nobody waits for it any more."""
        with suppress(InvalidStateError):
            if isinstance(outcome, Exception):
                self.future.set_exception(outcome)
            else:
                self.future.set_result(outcome)


class RayPool:
    """See ``Pool``; within a joined cluster."""

    def __init__(self, address: str, at_once: int) -> None:
        """
        Args:
            address: the cluster's, for errors.
            at_once: most jobs that Ray has at a time.
        """
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self._ray, self._address, self._at_once = ray, address, at_once
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        board: Any = ray.remote(Board)
        always = {"max_restarts": -1, "max_task_retries": -1}
        self._board = board.options(num_cpus=0, scheduling_strategy=here, **always).remote()
        self._function = ray.remote(_do)
        self._context = ray.put(pack())
        self._kept: dict[tuple[Any, ...], Any] = {}  # files on the cluster, by their content
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._waiting: deque[_Task] = deque()
        self._gone: ConnectionError | None = None
        self._given: dict[Any, _Task] = {}  # by the reference of the outcome
        self._news, self._asked = self._board.take.remote(), time.monotonic()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._attend, daemon=True)
        self._thread.start()

    def submit(self, job: MobileJob[T], timeout_s: float | None = None, *, cores: int = 1) -> Future[T]:
        """See ``Pool``; ``cores`` are the job's. The future may raise ConnectionError: no cluster."""
        future: Future[T] = Future()
        try:
            packed, files = job.packed()
            task = _Task(packed, next(self._numbers), self._sent(files), timeout_s, cores, future)
        except Exception as error:
            future.set_exception(error)
            return future
        with self._lock:
            if self._gone is not None:
                task.end(self._gone)
            else:
                self._waiting.append(task)
        return future

    def _sent(self, files: Files) -> Any:
        """A reference of the files, which are read now: those of a search live for a generation."""
        key = tuple(
            (path, content if isinstance(content, bytes) else tuple(sorted(content.items())))
            for path, content in sorted(files.items())
        )
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._ray.put(files)
        return self._kept[key]

    def _attend(self) -> None:
        """Gives jobs to Ray and takes what comes of them, until the pool is closed."""
        try:
            while not self._closed.is_set():
                self._give()
                self._hear()
                self._take()
        except Exception as error:
            gone = f"the Ray cluster at {self._address} is gone ({type(error).__name__})"
            with self._lock:
                self._gone = ConnectionError(gone)
                self._gone.__cause__ = error
                for task in (*self._given.values(), *self._waiting):
                    task.end(self._gone)

    def _give(self) -> None:
        while len(self._given) < self._at_once:
            with self._lock:
                if not self._waiting:
                    return
                task = self._waiting[0]
            if not task.future.cancelled():
                function = self._function.options(num_cpus=task.cores, max_retries=RETRIES)
                of_job = task.number, task.timeout_s
                ref = function.remote(task.job, task.files, self._context, self._board, *of_job)
                self._given[ref] = task
            self._waiting.popleft()

    def _hear(self) -> None:
        """Asks now and then which jobs have begun, and ends those that take too long."""
        if time.monotonic() - self._asked < TICK_S or not self._ray.wait([self._news], timeout=0)[0]:
            return
        given = {task.number: (ref, task) for ref, task in self._given.items()}
        for news, number in self._ray.get(self._news):
            if number not in given:
                continue
            ref, task = given[number]
            if news == "overdue":
                task.overdue = True
                self._ray.cancel(ref, force=True)
            elif not task.future.running():
                task.future.set_running_or_notify_cancel()
        self._news, self._asked = self._board.take.remote(), time.monotonic()

    def _take(self) -> None:
        """Takes what jobs gave, waiting for it a moment."""
        refs = list(self._given)
        # Until one is over; not long where there is room for jobs that may come.
        patience_s = TICK_S if len(refs) >= self._at_once else TICK_S / 10
        if not refs:
            self._closed.wait(patience_s)
            return
        if not self._ray.wait(refs, timeout=patience_s, fetch_local=False)[0]:
            return
        for ref in self._ray.wait(refs, num_returns=len(refs), timeout=0, fetch_local=False)[0]:
            task = self._given.pop(ref)
            task.end(self._outcome(ref, task))

    def _outcome(self, ref: Any, task: _Task) -> Any:
        """Returns what the job gave, or what its future raises."""
        errors = self._ray.exceptions
        try:
            found = self._ray.get(ref)
        except errors.RayTaskError as error:
            found = error.as_instanceof_cause()
        except (errors.WorkerCrashedError, errors.NodeDiedError):
            found = SimulatorDied(f"the worker process died, and again at each of {RETRIES} retries")
        except errors.RayError as error:
            found = SimulatorDied(f"on the Ray cluster: {type(error).__name__}: {error}")
        return TimeoutError() if task.overdue and isinstance(found, Exception) else found

    def close(self) -> None:
        """Gives up what is still under way."""
        self._closed.set()
        self._thread.join()
        with suppress(Exception):  # the cluster may be gone
            for ref in self._given:
                self._ray.cancel(ref, force=True)
            self._ray.kill(self._board)

    def __enter__(self) -> RayPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


#: What a worker says of its job.
News = Literal["begun", "overdue"]


class Board:
    """Ray actor for workers' news on the driver's node: Ray does not tell when a task begins."""

    def __init__(self) -> None:
        self._news: list[tuple[News, int]] = []

    def say(self, news: News, number: int) -> None:
        """A worker begins a job, perhaps after another one that died; or it takes too long for it."""
        self._news.append((news, number))

    def take(self) -> list[tuple[News, int]]:
        """Takes the news since the last time."""
        taken, self._news = self._news, []
        return taken


def _do(
    job: MobileJob[Any],
    files: Files,
    context: WorkerContext,
    board: Any,
    number: int,
    timeout_s: float | None,
) -> Any:
    """A task: the job on this node, or the error that it raised.

    A worker that is still at it after ``timeout_s`` says so, and the driver ends it. It says so again after
    as long: what a board that died had heard is lost. Ray ends a worker's simulator before the worker: what
    died of that is late, too, whoever knows of it first.
    """
    board.say.remote("begun", number)
    over = threading.Event()
    late = threading.Event()

    def watch() -> None:
        while not over.wait(timeout_s):
            late.set()
            board.say.remote("overdue", number)

    def work() -> Any:
        unpack(context)
        with unpacked(files) as paths:
            return job.at(paths).run(_simulator())

    threading.Thread(target=watch, daemon=True).start()
    try:
        found = caught(work)
    finally:
        over.set()
    return TimeoutError() if late.is_set() and isinstance(found, SimulatorDied) else found


@functools.cache
def _simulator() -> Simulator:
    """This worker's, from job to job; it ends when the worker does."""
    return Simulator()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs jobs, each with a simulator, in worker processes of this machine; the interface of every pool."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from multiprocessing.util import Finalize
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

import cloudpickle  # type: ignore[import-untyped]

from ns3_env.config.command_line import plain_warning
from ns3_env.errors import SimulatorDied
from ns3_env.scenario import Scenario
from ns3_env.scenario.scenario import Files, named_files, read_files, renamed
from ns3_env.simulator.process import killed_by
from ns3_env.simulator.simulator import Simulator

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

#: Time for a process to start or to end, s.
_PATIENCE_S = 60.0
#: Processes are forked from one that has imported the jobs' modules, and has no threads.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__])


def prepare(*modules: str) -> None:
    """Starts to import the modules that jobs of this process will need, while the caller continues.

    Worker processes are then forked with it. Without effect if there were some before.
    """
    _CONTEXT.set_forkserver_preload([__name__, *modules])
    with _no_interrupts(), _no_main_module():
        forkserver.ensure_running()


class Job(Protocol[T_co]):
    """Work for a simulator: a job and its result travel between processes."""

    def run(self, simulator: Simulator) -> T_co:
        """Does the work. Raises the exception that the pool's future is to raise."""
        ...


class MobileJob(Job[T_co], Protocol[T_co]):
    """A job that may be done on another machine."""

    def packed(self) -> tuple[MobileJob[T_co], Files]:
        """The job in packed form, with the files that it reads. Raises ScenarioError."""
        ...

    def at(self, paths: Mapping[str, str]) -> MobileJob[T_co]:
        """Returns the packed job, if the files that it reads have these paths, by those that they had."""
        ...


@dataclass(frozen=True)
class Play(Generic[T]):
    """An episode without a policy across the channel, and the part of its results that is kept.

    Attributes:
        scenario: the scenario, with its seed; or the simulator's JSON, which stays on this machine.
        measure: function from the results to the values that are kept; runs in the worker.
    """

    scenario: Scenario | Mapping[str, Any]
    measure: Callable[[dict[str, Any]], T]

    def run(self, simulator: Simulator) -> T:
        """See ``Job``. Raises as ``Simulator.play``."""
        return self.measure(simulator.play(self.scenario))

    def packed(self) -> tuple[Play[T], Files]:
        """See ``MobileJob``."""
        assert isinstance(self.scenario, Scenario)
        return self, read_files(named_files(self.scenario.controllers))

    def at(self, paths: Mapping[str, str]) -> Play[T]:
        """See ``MobileJob``."""
        assert isinstance(self.scenario, Scenario)
        return replace(self, scenario=renamed(self.scenario, paths))


class Pool(Protocol):
    """Does jobs: processes of this machine (``LocalPool``), or tasks of a Ray cluster (``RayPool``)."""

    def submit(self, job: MobileJob[T], timeout_s: float | None = None) -> Future[T]:
        """Starts jobs in the order in which they come; the future runs when its job does.

        The future raises the job's exception; TimeoutError if it needs longer than ``timeout_s``,
        SimulatorDied if its process dies. Both cost only that job.
        """
        ...


def _open_standard_streams() -> None:
    """Opens /dev/null for each closed standard stream: multiprocessing starts no process without."""
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(fd)


class LocalPool:
    """Worker processes, each with a simulator. The threads here only wait for them."""

    def __init__(self, count: int | None = None) -> None:
        """
        Args:
            count: number of processes, started on demand; by default the number of cores that this process
                may use.
        """
        _open_standard_streams()
        self._workers = [_Worker() for _ in range(count or len(os.sched_getaffinity(0)))]
        self._free: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._free.put(worker)
        self._threads = ThreadPoolExecutor(len(self._workers))

    def submit(self, job: Job[T], timeout_s: float | None = None) -> Future[T]:
        """See ``Pool``."""
        return self._threads.submit(self._do, job, timeout_s)

    def _do(self, job: Job[T], timeout_s: float | None) -> T:
        worker = self._free.get()
        try:
            return worker.do(job, timeout_s)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """Ends the processes, and their simulators; jobs still under way are given up."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for (
            worker
        ) in self._workers:  # all of them first: an interrupt here leaves no thread that waits for one
            worker.kill()
        for worker in self._workers:
            worker.end()
        self._threads.shutdown()

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Worker:
    """A process, and the pipe to it; started when there is a job, and again if it had to be ended."""

    def __init__(self) -> None:
        self._process: ForkServerProcess | None = None
        self._pipe: Connection | None = None
        self._at_exit: Callable[[], object] = bool
        self._lock = threading.Lock()
        self._closed = False

    def do(self, job: Job[T], timeout_s: float | None) -> T:
        """See ``Pool``."""
        process, pipe = self._started()
        try:
            pipe.send_bytes(cloudpickle.dumps(job))
            if not wait([pipe, process.sentinel], timeout_s):
                self.end()
                raise TimeoutError
            done, value = cloudpickle.loads(pipe.recv_bytes())
        except (EOFError, ConnectionError):
            process.join(_PATIENCE_S)
            self.end()
            raise SimulatorDied(f"the worker process {_death(process.exitcode)}") from None
        if not done:
            raise value
        result: T = value
        return result

    def _started(self) -> tuple[ForkServerProcess, Connection]:
        """The process, which is ready for a job, and our end of the pipe."""
        with self._lock:
            if self._closed:
                raise SimulatorDied("the pool is closed")
            if self._process is None or self._pipe is None:
                self._process, self._pipe = _start()
                # Python's exit would send SIGTERM, which workers block, and wait.
                self._at_exit = Finalize(None, self._process.kill, exitpriority=0)
                if self._closed:  # while it started
                    self._process.kill()
                wait([self._pipe, self._process.sentinel], _PATIENCE_S)
                with suppress(EOFError, OSError):  # if it has died, the job shows it
                    self._pipe.recv()
            return self._process, self._pipe

    def kill(self) -> None:
        """Kills the process, whatever it does, and starts no other; threads that wait for it see it dead."""
        self._closed = True
        if self._process is not None:
            self._process.kill()

    def end(self) -> None:
        """Ends the process at once; its simulator ends when it sees it gone."""
        with self._lock:
            if self._process is not None and self._pipe is not None:
                self._at_exit()
                self._process.join()
                self._pipe.close()
            self._process = self._pipe = None


def _start() -> tuple[ForkServerProcess, Connection]:
    """Starts a worker process; our end of the pipe to it. Raises OSError if it could not."""
    try:
        pipe, worker_end = _CONTEXT.Pipe()
        with worker_end, _no_interrupts(), _no_main_module():
            process = _CONTEXT.Process(
                target=_work,
                args=(worker_end, dict(os.environ), warnings.formatwarning is plain_warning),
                daemon=True,
            )
            process.start()
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or "the process that forks them has ended"
        raise OSError(getattr(error, "errno", 0), reason, "a worker process cannot start") from error
    return process, pipe


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return killed_by(-code)
    return f"ended with exit code {code}"


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """A process started here never sees Ctrl-C or SIGTERM, which go to all of a group and are the caller's to
    handle; ours wait until the end."""
    resource_tracker.ensure_running()  # would unblock them if it were started within
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_MAIN_LOCK = threading.Lock()


@contextmanager
def _no_main_module() -> Iterator[None]:
    """A process started here does not run the caller's script again, which may have no ``__main__`` guard:
    cloudpickle sends the parts of it that a job needs."""
    with _MAIN_LOCK:
        script = sys.modules["__main__"].__dict__
        hidden: dict[str, Any] = {
            name: script.pop(name) for name in ("__spec__", "__file__") if name in script
        }
        script["__spec__"] = None
        try:
            yield
        finally:
            script.update(hidden)


def _work(pipe: Connection, environment: dict[str, str], of_command: bool) -> None:
    """Works until the pipe is closed; of a command it shows warnings as that does."""
    if of_command:
        warnings.formatwarning = plain_warning
    os.environ.clear()
    os.environ.update(environment)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Simulator() as simulator, suppress(EOFError, BrokenPipeError):
        pipe.send("ready")
        while True:
            sent = pipe.recv_bytes()
            try:
                job: Job[Any] = cloudpickle.loads(sent)
                outcome = cloudpickle.dumps((True, job.run(simulator)))
            except Exception as error:
                outcome = cloudpickle.dumps((False, ExceptionWithTraceback(error, error.__traceback__)))
            pipe.send_bytes(outcome)


def _end_with_parent() -> None:
    """A parent that is killed cannot end us; jobs that continued would meet those of its next run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # the simulator ends when it sees us gone

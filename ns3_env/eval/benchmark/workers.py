# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a suite's cells: the interface, and worker processes that may die, each with a simulator."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Literal, Protocol

from ns3_env.config.command_line import os_fault
from ns3_env.errors import ScenarioError, SimulatorError
from ns3_env.eval.benchmark.cell import Job, run
from ns3_env.eval.benchmark.folder import Key
from ns3_env.simulator import Simulator
from ns3_env.simulator.last_words import killed_by

#: How often the time limits are looked at, and the caller gets to redraw.
TICK_S = 0.2
_END_PATIENCE_S = 3.0
_START_PATIENCE_S = 60.0


@dataclass(frozen=True)
class Event:
    """What happened to a cell. A tick happens to none: time has passed.

    Attributes:
        what: the event; "joined" is the backend's, before any cell's.
        key: of the cell.
        text: why it failed; what was joined.
        seconds: wall time of a cell that is done.
    """

    what: Literal["joined", "started", "done", "failed", "tick"]
    key: Key = ("", "", 0)
    text: str = ""
    seconds: float = 0.0


class Backend(Protocol):
    """Plays cells: processes of this machine (``LocalPool``), tasks of a Ray cluster (``RayCells``)."""

    def play_all(self, jobs: Sequence[Job], timeout_s: float) -> Generator[Event, None, None]:
        """Plays the jobs, begun in their order; a cell that is done has its folder.

        Args:
            jobs: the cells.
            timeout_s: a cell that takes longer fails, alone.

        When the iterator is closed, or an exception (Ctrl-C) goes through it, everything it began is ended.
        """
        ...


def too_long(timeout_s: float) -> str:
    """Why a cell failed that took longer."""
    return f"took longer than the suite's timeout_s, {timeout_s:g} s"


class LocalPool:
    """Processes of this machine."""

    def __init__(self, processes: int) -> None:
        self._processes = processes

    def play_all(self, jobs: Sequence[Job], timeout_s: float) -> Generator[Event, None, None]:
        """See ``Backend``."""
        return play_all(jobs, self._processes, timeout_s)


def play_all(jobs: Sequence[Job], processes: int, timeout_s: float) -> Generator[Event, None, None]:
    """Plays the jobs in order, as many at a time as there are processes.

    A process that dies, or takes longer than ``timeout_s`` for a cell, fails that cell alone and is replaced.
    When the iterator is closed, or an exception (Ctrl-C) goes through
    it, every process is ended, and with it its simulator.
    """
    waiting = deque(jobs)
    workers = [_Worker() for _ in range(min(processes, len(jobs)))]
    try:
        while waiting or any(worker.job for worker in workers):
            for worker in workers:
                if worker.job is None and waiting:
                    worker.give(waiting.popleft())
            yield from _news(workers, timeout_s)
            yield Event("tick")
    finally:
        for worker in workers:
            worker.ask_to_end()
        for worker in workers:
            worker.end()


def _news(workers: Sequence[_Worker], timeout_s: float) -> Iterator[Event]:
    """What the workers have to say, waiting for it a moment."""
    busy = [worker for worker in workers if worker.job is not None]
    ready = wait([x for worker in busy for x in (worker.pipe, worker.process.sentinel)], TICK_S)
    for worker in busy:
        assert worker.job is not None
        key = worker.job.key
        if worker.pipe in ready or worker.process.sentinel in ready:
            try:
                event: Event = worker.pipe.recv()
                worker.note(event)
            except (EOFError, OSError):
                worker.process.join()
                event = Event("failed", key, _death(worker.process.exitcode))
                worker.replace()
            yield event
        elif worker.limit_passed(timeout_s):
            worker.replace()
            yield Event("failed", key, too_long(timeout_s))


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        return f"the worker process {killed_by(-code)}"
    return f"the worker process ended with exit code {code}"


class _Worker:
    """A process and the pipe to it."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self._begun = False
        self._since = 0.0
        self.process, self.pipe = _start()

    def note(self, event: Event) -> None:
        """Takes into account what the process says of its job."""
        self._begun, self._since = event.what == "started", time.monotonic()
        if not self._begun:
            self.job = None

    def limit_passed(self, timeout_s: float) -> bool:
        """The job has run for longer, or a new process has long not taken it up."""
        return time.monotonic() - self._since > (timeout_s if self._begun else timeout_s + _START_PATIENCE_S)

    def give(self, job: Job) -> None:
        """Hands over a job; a process that has died meanwhile is replaced."""
        self.job, self._since, self._begun = job, time.monotonic(), False
        try:
            self.pipe.send(job)
        except OSError:
            self.process.join()
            self.replace()
            self.job = job
            self.pipe.send(job)

    def replace(self) -> None:
        """A new process in the place of this one, which is ended at once."""
        self.process.kill()
        self.end()
        self.job = None
        self.process, self.pipe = _start()

    def ask_to_end(self) -> None:
        """Without waiting: its simulator goes with it."""
        self.process.terminate()

    def end(self) -> None:
        """Waits for the end of the process."""
        self.process.join(_END_PATIENCE_S)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.pipe.close()


def _start() -> tuple[SpawnProcess, Connection]:
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # would unblock Ctrl-C if it were started below
    ours, theirs = context.Pipe()
    with _no_ctrl_c():
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def _no_ctrl_c() -> Iterator[None]:
    """A process started here never sees Ctrl-C, which is the parent's to handle; ours waits until the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(pipe: Connection) -> None:
    """What a worker does until the pipe is closed."""
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with Simulator() as simulator, suppress(EOFError, BrokenPipeError):
        while True:
            job: Job = pipe.recv()
            pipe.send(Event("started", job.key))
            pipe.send(_outcome(job, simulator))


def _end_with_parent() -> None:
    """A parent that is killed cannot end us; a cell played on would meet the one of the next run."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)  # the simulator ends when it sees us gone


def _leave(*_: object) -> None:
    """Ends the process, and its simulator on the way out."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(1)


def _outcome(job: Job, simulator: Simulator) -> Event:
    try:
        return Event("done", job.key, seconds=run(job, simulator))
    except (ScenarioError, SimulatorError) as error:
        return Event("failed", job.key, f"{type(error).__name__}: {error}")
    except OSError as error:
        return Event("failed", job.key, os_fault(error))
    except Exception:
        return Event("failed", job.key, traceback.format_exc())

# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays cells as tasks of a Ray cluster; their files come back as objects and are written here.

Ray schedules the tasks and gives one whose worker or node died to another; what is played by then under the
old one is lost, and nothing else. Only the driver writes into the benchmark's folder.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ns3_env.cluster.luggage import pack
from ns3_env.cluster.session import joined
from ns3_env.config.durable import write_file
from ns3_env.config.folders import replace_folder
from ns3_env.eval.benchmark.backend import TICK_S, Event, too_long
from ns3_env.eval.benchmark.cell import Job
from ns3_env.eval.benchmark.folder import Key, cell_folder
from ns3_env.eval.benchmark.ray_task import RETRIES, Board, Played, play_cell
from ns3_env.eval.benchmark.travel import packed

#: Cells that are given to Ray for each core: one runs, one waits.
_GIVEN_PER_CORE = 2
#: Cells that are being written at the same time: the disk takes them together.
_WRITERS = 8


class RayCells:
    """Tasks of a Ray cluster."""

    def __init__(self, address: str, at_once: int | None = None) -> None:
        """
        Args:
            address: what ``ns3_env.cluster.address.find`` gave.
            at_once: most cells at a time; by default as many as the cluster has cores.
        """
        self._address, self._at_once = address, at_once

    def play_all(
        self, jobs: Sequence[Job], timeout_s: float, hang_timeout_s: float
    ) -> Generator[Event, None, None]:
        """See ``Backend``.

        Raises:
            ConfigError: the cluster does not let us in.
            ConnectionError: its head, or the driver's node, is gone.
        """
        from ray.exceptions import RayError

        with joined(self._address, self._at_once) as cluster:
            yield Event("joined", text=str(cluster))
            given = self._at_once or max(_GIVEN_PER_CORE * cluster.cores, 4)
            playing = _Playing(given, timeout_s, hang_timeout_s)
            try:
                yield from playing.play(jobs)
            except RayError as error:
                raise ConnectionError(
                    f"the Ray cluster at {self._address} is gone ({type(error).__name__}); with one "
                    "that runs, the same command goes on from here"
                ) from None
            finally:
                playing.end()


@dataclass
class _Cell:
    """A cell that Ray has."""

    job: Job
    overdue: bool = False


@dataclass
class _Playing:
    """Tasks under way.

    Attributes:
        given: most tasks that Ray has at a time.
        timeout_s, hang_timeout_s: see ``Backend``.
    """

    given: int
    timeout_s: float
    hang_timeout_s: float
    cells: dict[Any, _Cell] = field(default_factory=dict)  # by the reference of their outcome
    writing: dict[Future[None], tuple[Key, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        self.ray = ray
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        board: Any = ray.remote(Board)
        always = {"max_restarts": -1, "max_task_retries": -1}
        self.board = board.options(num_cpus=0, scheduling_strategy=here, **always).remote()
        self.task = ray.remote(play_cell).options(num_cpus=1, max_retries=RETRIES)
        self.luggage = ray.put(pack())
        self.baggage: dict[tuple[str, str], Any] = {}  # by scenario and controller
        self.news = self.board.take.remote()
        self.asked = time.monotonic()
        self.writers = ThreadPoolExecutor(_WRITERS)

    def play(self, jobs: Sequence[Job]) -> Iterator[Event]:
        """Gives the jobs to Ray in their order, and says what happens to them."""
        waiting = deque(jobs)
        while waiting or self.cells or self.writing:
            while waiting and len(self.cells) < self.given:
                self._give(waiting.popleft())
            yield from self._outcomes()
            yield from self._said()
            yield from self._written()
            yield Event("tick")

    def _give(self, job: Job) -> None:
        of = job.name, job.who.name
        if of not in self.baggage:
            self.baggage[of] = self.ray.put(packed(job))
        limits = self.timeout_s, self.hang_timeout_s
        given = self.task.remote(job, self.baggage[of], self.luggage, *limits, self.board)
        self.cells[given] = _Cell(job)

    def _outcomes(self) -> Iterator[Event]:
        """Takes what tasks gave, waiting for it a moment."""
        if not self.cells:
            return
        refs = list(self.cells)
        if not self.ray.wait(refs, timeout=TICK_S, fetch_local=False)[0]:
            return
        for ref in self.ray.wait(refs, num_returns=len(refs), timeout=0, fetch_local=False)[0]:
            cell = self.cells.pop(ref)
            outcome = self._outcome(ref, cell)
            if isinstance(outcome, Played):
                job = self.writers.submit(_write, cell.job, outcome)
                self.writing[job] = cell.job.key, outcome.seconds
            else:
                yield Event("failed", cell.job.key, outcome)

    def _outcome(self, ref: Any, cell: _Cell) -> Played | str:
        errors = self.ray.exceptions
        try:
            found: Played | str = self.ray.get(ref)
            return too_long(self.timeout_s) if cell.overdue and isinstance(found, str) else found
        except errors.RayError as error:
            if cell.overdue:
                return too_long(self.timeout_s)
            if isinstance(error, errors.WorkerCrashedError | errors.NodeDiedError):
                return f"the worker process died, and again at each of {RETRIES} retries"
            return str(error)

    def _said(self) -> Iterator[Event]:
        """Asks now and then which cells have begun, and ends those that take too long."""
        if time.monotonic() - self.asked < TICK_S or not self.ray.wait([self.news], timeout=0)[0]:
            return
        of = {cell.job.key: (ref, cell) for ref, cell in self.cells.items()}
        for news, key in self.ray.get(self.news):
            if key not in of:
                continue
            ref, cell = of[key]
            if news == "begun":
                yield Event("started", key)
            else:
                cell.overdue = True
                self.ray.cancel(ref, force=True)
        self.news, self.asked = self.board.take.remote(), time.monotonic()

    def _written(self) -> Iterator[Event]:
        """Which cells have their folder now. Raises OSError where one cannot be written."""
        if not self.cells and self.writing:
            next(iter(self.writing)).exception(timeout=None)
        for job in [job for job in self.writing if job.done()]:
            key, seconds = self.writing.pop(job)
            job.result()
            yield Event("done", key, seconds=seconds)

    def end(self) -> None:
        """Gives up what is under way; what is done is written."""
        self.writers.shutdown()
        with suppress(Exception):  # the cluster may be gone
            for ref in self.cells:
                self.ray.cancel(ref, force=True)
            self.ray.kill(self.board)


def _write(job: Job, played: Played) -> None:
    def write(folder: Path) -> None:
        for name, content in played.files.items():
            write_file(folder / name, content)

    replace_folder(cell_folder(job.out, *job.key), write)

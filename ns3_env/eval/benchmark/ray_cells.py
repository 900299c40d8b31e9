# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays cells as tasks of a Ray cluster; their files come back as objects and are written here.

Ray schedules the tasks and gives one whose worker or node died to another; what is played by then under the
old one is lost, and nothing else. Only the driver writes into the benchmark's folder. The files that a cell
reads travel by content; its own files say the paths of the driver's machine, wherever it was played.
"""

from __future__ import annotations

import atexit
import functools
import platform
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ns3_env.agents.runs.checkpoint import policy_files
from ns3_env.cluster.files import named_files, renamed
from ns3_env.cluster.session import joined
from ns3_env.cluster.store import keep, scratch
from ns3_env.cluster.worker_context import WorkerContext, pack, unpack
from ns3_env.config.files import write_file
from ns3_env.config.folders import replace_folder
from ns3_env.errors import ConfigError, ScenarioError, SimulatorError
from ns3_env.eval.benchmark.cell import Job, play
from ns3_env.eval.benchmark.folder import Key, cell_folder, versions_in_use
from ns3_env.eval.benchmark.workers import TICK_S, Event, too_long
from ns3_env.eval.episodes.entry import Entry
from ns3_env.eval.metrics import load_metrics
from ns3_env.policies.file import POLICY_FILE
from ns3_env.scenario import POLICY, Scenario
from ns3_env.simulator import Simulator

#: Cells that are given to Ray for each core: one runs, one waits.
_GIVEN_PER_CORE = 2
#: Cells that are being written at the same time: the disk takes them together.
_WRITERS = 8
#: How often a cell is given to another worker when one died.
RETRIES = 3


class RayCells:
    """Tasks of a Ray cluster."""

    def __init__(self, address: str, at_once: int | None = None) -> None:
        """
        Args:
            address: what ``ns3_env.cluster.address.find`` gave.
            at_once: most cells at a time; by default as many as the cluster has cores.
        """
        self._address, self._at_once = address, at_once

    def play_all(self, jobs: Sequence[Job], timeout_s: float) -> Generator[Event, None, None]:
        """See ``Backend``.

        Raises:
            ConfigError: the cluster does not let us in.
            ConnectionError: its head, or the driver's node, is gone.
        """
        from ray.exceptions import RayError

        with joined(self._address, self._at_once) as cluster:
            yield Event("joined", text=str(cluster))
            given = self._at_once or max(_GIVEN_PER_CORE * cluster.cores, 4)
            playing = _Playing(given, timeout_s)
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
        timeout_s: see ``Backend``.
    """

    given: int
    timeout_s: float
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
        self.context = ray.put(pack())
        self.job_files: dict[tuple[str, str], Any] = {}  # by scenario and controller
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
        of = job.name, job.entry.name
        if of not in self.job_files:
            self.job_files[of] = self.ray.put(packed(job))
        files = self.job_files[of]
        given = self.task.remote(job, files, self.context, self.timeout_s, self.board)
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


@dataclass(frozen=True)
class Played:
    """A cell that is done: its wall time, and the files of its folder by name."""

    seconds: float
    files: Mapping[str, bytes]


#: What a worker says of its cell.
News = Literal["begun", "overdue"]


class Board:
    """Ray actor for workers' news on the driver's node: Ray does not tell when a task begins."""

    def __init__(self) -> None:
        self._news: list[tuple[News, Key]] = []

    def say(self, news: News, key: Key) -> None:
        """A worker begins a cell, perhaps after another one that died; or it takes too long for it."""
        self._news.append((news, key))

    def take(self) -> list[tuple[News, Key]]:
        """What was said since the last time."""
        taken, self._news = self._news, []
        return taken


def play_cell(
    job: Job, job_files: JobFiles, context: WorkerContext, timeout_s: float, board: Any
) -> Played | str:
    """A task: the cell, played; or why that cannot be.

    A worker that is still at it after ``timeout_s`` says so, and the driver ends it. It says so again after
    as long: what a board that died had heard is lost.
    """
    board.say.remote("begun", job.key)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(timeout_s):
            board.say.remote("overdue", job.key)

    threading.Thread(target=watch, daemon=True).start()
    try:
        unpack(context)
        load_metrics(job.metrics)
        _check_versions(job)
        here = Unpacked(job, job_files)
        seconds, write = play(job, _simulator(), here)
        with tempfile.TemporaryDirectory(dir=scratch()) as name:
            folder = Path(name)
            write(folder)
            return Played(seconds, {file.name: file.read_bytes() for file in folder.iterdir()})
    except (ScenarioError, SimulatorError) as error:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return traceback.format_exc()
    finally:
        over.set()


def _check_versions(job: Job) -> None:
    """Raises ScenarioError where the cell's results would be another version's."""
    found = versions_in_use()
    for name in sorted({*found, *job.versions}):
        if (here := found.get(name, "none")) != (wanted := job.versions.get(name, "none")):
            raise ScenarioError(
                f"node {platform.node()}: {name} is {here}, but {wanted} where the command runs: all nodes "
                "need the same versions"
            )


@functools.cache
def _simulator() -> Simulator:
    """This worker's, from cell to cell."""
    simulator = Simulator()
    atexit.register(simulator.close)
    return simulator


@dataclass(frozen=True)
class JobFiles:
    """The files of an entry and of the scenarios that it plays.

    Attributes:
        files: content of files that controllers name, by path, and of the checkpoint's policy.
        policy: path of that policy, None where there is none.
        checkpoint: the files of a checkpoint that has no such policy (an agent of one's own), by their names.
    """

    files: Mapping[str, bytes]
    policy: str | None
    checkpoint: Mapping[str, bytes]


def packed(job: Job) -> JobFiles:
    """What has to travel with a job. Raises ScenarioError where it cannot be read."""
    names = named_files(job.scenario.controllers)
    if job.entry.controller == POLICY and "File" in job.entry.attributes:
        names.add(str(job.entry.attributes["File"]))
    policy, checkpoint = None, dict[str, bytes]()
    try:
        if job.entry.checkpoint is not None:
            found = policy_files(Path(job.entry.checkpoint))
            if len(found) == 1 and (found[0].name == POLICY_FILE or Path(job.entry.checkpoint).is_file()):
                policy = str(found[0].absolute())
                names.add(policy)
            else:
                root = Path(job.entry.checkpoint)
                root = next(p for p in found[0].parents if (p / "layout.json").exists()) if found else root
                checkpoint = {str(file.relative_to(root)): file.read_bytes() for file in found}
        return JobFiles({name: Path(name).read_bytes() for name in names}, policy, checkpoint)
    except (OSError, ConfigError) as error:
        raise ScenarioError(f"{job.entry.name}: {error}") from error


class Unpacked:
    """A job as it is on this node."""

    def __init__(self, job: Job, job_files: JobFiles) -> None:
        self._here = {
            path: str(keep({Path(path).name: content}) / Path(path).name)
            for path, content in job_files.files.items()
        }
        update: dict[str, object] = {}
        if job_files.policy is not None:
            update["checkpoint"] = self._here[job_files.policy]
        elif job_files.checkpoint:
            update["checkpoint"] = str(keep(job_files.checkpoint))
        if job.entry.controller == POLICY and "File" in job.entry.attributes:
            file = self._here[str(job.entry.attributes["File"])]
            update["attributes"] = {**job.entry.attributes, "File": file}
        self.entry: Entry = job.entry.model_copy(update=update)
        self.scenario: Scenario = renamed(job.scenario, self._here)

    def localise(self, played: Scenario) -> Scenario:
        """The scenario that was played, as it would have been on the driver's machine."""
        return renamed(played, {here: there for there, here in self._here.items()})

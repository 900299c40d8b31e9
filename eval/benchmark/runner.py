# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs every cell of a suite once, on all cores; cells that are done are not run again."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.bounds import MAX_PROCESSES, WHY_PROCESSES, excess
from ns3_env.config.command_line import new_console
from ns3_env.config.files import write_atomically, write_files
from ns3_env.config.folders import alone_in, replace_folders
from ns3_env.errors import ConfigError, ScenarioError, SimulatorDied
from ns3_env.eval.benchmark.cell import CellJob, Played, cost, work_in
from ns3_env.eval.benchmark.films import has_film
from ns3_env.eval.benchmark.folder import (
    BenchFolder,
    Key,
    cell_folder,
    claim,
    failure_file,
    fingerprint,
    versions_in_use,
    write_suite,
)
from ns3_env.eval.benchmark.suite import Suite, check, join, refuse_imports
from ns3_env.eval.benchmark.summary import show
from ns3_env.eval.film.recording import FILE as FILM
from ns3_env.eval.metrics import own_metrics
from ns3_env.eval.output.progress import clock, progress_lines
from ns3_env.simulator.pool import LocalPool, Pool

#: Interval between updates of the progress, s.
TICK_S = 0.2
#: Cells that a cluster is given for each core: one runs, one waits.
_GIVEN_PER_CORE = 2
_RUNNING_SHOWN = 8


def benchmark(
    suite_or_file: Suite | Path,
    out: Path,
    jobs: int | None = None,
    policies: Sequence[str] = (),
    checkpoints: Sequence[str] = (),
    command: Sequence[str] | None = None,
    console: Console | None = None,
    allow_imports: bool = False,
    *,
    ray: str | None = None,
    watch: bool = False,
    summary: Callable[[BenchFolder, Console], None] = show,
) -> bool:
    """Runs the cells that are missing in the folder, and prints the summary.

    Args:
        suite_or_file: the suite, its YAML, or the name of one in ``configs/suites``.
        out: the folder; an earlier run in it is continued.
        jobs: number of cells at a time; by default the number of cores.
        policies: policies in Python, "NAME=pkg.module:factory".
        checkpoints: trained policies, "NAME=PATH".
        command: command that reproduces the folder; by default this process's command line.
        console: console for the progress and the summary.
        allow_imports: true to permit policies named only in the suite's file to run their modules' code.
        ray: address of the Ray cluster that runs the cells, "auto" or "local"; None: processes on this
            machine.
        watch: true to sample cells with series for films as well; complete cells without a film run again.
        summary: function that prints the summary.

    Returns:
        Whether every cell is done.

    Raises:
        ConfigError: no Ray cluster answers there.
        ScenarioError: the suite, a controller, a policy or the folder is wrong; nothing has run.
        KeyboardInterrupt: Ctrl-C; a later call can continue the folder.
    """
    _check_jobs(jobs)
    if ray is not None:
        from ns3_env.cluster.session import find

        ray = find(ray)
    suite = suite_or_file if isinstance(suite_or_file, Suite) else Suite.load(suite_or_file)
    console = console or new_console()
    if not allow_imports:
        refuse_imports(suite, policies)
    suite = check(join(suite, policies, checkpoints))
    for case in suite.scenarios:
        case.scenario.with_seed(
            suite.seeds_of(case)[0]
        ).to_simulator_json()  # faults show before anything runs
    claim(out)
    _say_where(suite, console)
    with alone_in(out, "benchmark", ScenarioError):
        write_suite(out, suite, ["python", "-m", "eval", *sys.argv[1:]] if command is None else command)
        for unfinished in out.glob("cells/*/*/.seed-*.partial"):
            shutil.rmtree(unfinished, ignore_errors=True)
        todo = _todo(out, suite, watch)
        try:
            if todo:
                with _pool(ray, jobs, len(todo), console) as pool:
                    _play(todo, pool, suite.timeout_s, out, console)
        except KeyboardInterrupt:
            folder = BenchFolder.read(out)
            done, total = len(folder.cells), sum(1 for _ in suite.cells())
            console.print(f"{done} of {total} cells are done; the same command goes on from here.")
            raise
    folder = BenchFolder.read(out)
    console.print(f"summary: comparing {len(folder.cells)} cells", highlight=False)
    summary(folder, console)
    return folder.complete


def _check_jobs(jobs: int | None) -> None:
    """Raises ScenarioError if the number of parallel cells is zero or too large."""
    if jobs is not None and jobs < 1:
        raise ScenarioError(f"--jobs: must be at least 1, not {jobs}")
    if jobs is not None and (text := excess(jobs, MAX_PROCESSES, WHY_PROCESSES)) is not None:
        raise ScenarioError(f"--jobs: {text}")


@contextmanager
def _pool(ray: str | None, jobs: int | None, cells: int, console: Console) -> Iterator[Pool]:
    """Opens the pool that runs cells. Raises ConfigError if a Ray cluster refuses the connection."""
    if ray is None:
        with LocalPool(min(jobs or os.cpu_count() or 1, cells)) as pool:
            yield pool
        return
    from ns3_env.cluster.pool import RayPool
    from ns3_env.cluster.session import joined

    with joined(ray, jobs) as cluster:
        console.print(cluster, highlight=False)
        with RayPool(jobs or max(_GIVEN_PER_CORE * cluster.cores, 4)) as there:
            try:
                yield there
            except ConnectionError as error:
                raise ConnectionError(
                    f"{error}; with one that runs, the same command goes on from here"
                ) from error


def _say_where(suite: Suite, console: Console) -> None:
    """Prints the place of each trained policy's decisions."""
    for entry in suite.controllers:
        if entry.checkpoint is not None:
            inside = (
                entry.placement == "simulator" and resolve(Path(entry.checkpoint)).policy_file is not None
            )
            where = "inside the simulator" if inside else "in Python, across the channel"
            console.print(f"{entry.name}: decides {where}", highlight=False)


def _todo(out: Path, suite: Suite, watch: bool) -> list[tuple[float, CellJob]]:
    """Jobs of the cells that are not done, with their costs, the longest first."""
    used = versions_in_use()
    done = {cell.key: cell.folder for cell in BenchFolder.read(out).cells}
    work: dict[tuple[str, int], float] = {}
    jobs = []
    for case, entry, seed in suite.cells():
        film = watch and has_film(suite, case, entry, seed)
        folder = done.get((case.name, entry.name, seed))
        if folder is not None and (not film or (folder / FILM).exists()):
            continue
        scenario = case.scenario.with_seed(seed)
        if (case.name, seed) not in work:
            work[case.name, seed] = work_in(scenario)
        job = CellJob(
            name=case.name,
            scenario=scenario,
            entry=entry,
            seed=seed,
            series=case.series and seed == suite.seeds_of(case)[0],
            fingerprint=fingerprint(case.scenario, entry, seed, used),
            versions=used,
            metrics=own_metrics(),
            film=film,
        )
        jobs.append((cost(work[case.name, seed], entry), job))
    return sorted(jobs, key=lambda pair: -pair[0])


def _play(
    todo: Sequence[tuple[float, CellJob]], pool: Pool, timeout_s: float, out: Path, console: Console
) -> None:
    """Runs the jobs and shows the progress; a cell's error is written to ``failed/``."""
    playing: dict[Future[Any], CellJob] = {}
    backlog: list[tuple[CellJob, Played]] = []
    writing: list[CellJob] = []
    done: SimpleQueue[Future[Any]] = SimpleQueue()
    view = _View({job.key: weight for weight, job in todo})

    def over(job: CellJob, failure: str | None) -> None:
        file = failure_file(out, *job.key)
        if failure is None:
            file.unlink(missing_ok=True)
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, failure.rstrip() + "\n")
            reason = failure.strip().splitlines()[-1]
            live.console.print(f"failed: {_cell_name(job.key)}: {reason}", highlight=False)
        view.end(job.key, failed=failure is not None)

    with (
        progress_lines(console, view.line),
        Live(view.render(), console=console, transient=True, refresh_per_second=4) as live,
        ThreadPoolExecutor(1) as writer,
    ):
        for _, job in todo:
            playing[future := pool.submit(job, timeout_s)] = job
            future.add_done_callback(done.put)
        last_update_s = 0.0
        try:
            while playing or backlog or writing:
                with suppress(Empty):
                    future = done.get(timeout=TICK_S)
                    if future not in playing:  # the future is that of a write
                        future.result()
                        for job in writing:
                            over(job, None)
                        writing = []
                    elif isinstance(outcome := _outcome(future, timeout_s), Played):
                        backlog.append((playing.pop(future), outcome))
                    else:
                        over(playing.pop(future), outcome)
                if backlog and not writing:  # all cells that finished meanwhile
                    write = writer.submit(_write, out, backlog)
                    writing, backlog = [job for job, _ in backlog], []
                    write.add_done_callback(done.put)
                if time.monotonic() - last_update_s >= TICK_S:
                    last_update_s = time.monotonic()
                    view.running(job.key for future, job in playing.items() if future.running())
                    live.update(view.render())
        finally:
            if backlog:  # Ctrl-C
                writer.submit(_write, out, backlog)


def _write(out: Path, cells: Sequence[tuple[CellJob, Played]]) -> None:
    """Puts the cells' folders in place. Raises OSError, such as for a full disk."""
    replace_folders({cell_folder(out, *job.key): partial(write_files, files=x.files) for job, x in cells})


def _outcome(future: Future[Played | str], timeout_s: float) -> Played | str:
    """Returns a cell's files, or its error. Raises ConnectionError if the cluster is gone."""
    try:
        return future.result()
    except TimeoutError:
        return f"took longer than the suite's timeout_s, {timeout_s:g} s"
    except SimulatorDied as error:
        return str(error)
    except (ConfigError, ScenarioError) as error:
        return f"{type(error).__name__}: {error}"


class _View:
    """Progress of a benchmark."""

    def __init__(self, weights: dict[Key, float]) -> None:
        self._weights = weights
        self._done: set[Key] = set()
        self._failed: set[Key] = set()
        self._running: dict[Key, float] = {}
        self._began = time.monotonic()

    def running(self, keys: Iterable[Key]) -> None:
        """The cells that run now."""
        now = time.monotonic()
        self._running = {key: self._running.get(key, now) for key in keys}

    def end(self, key: Key, failed: bool) -> None:
        """A cell is over."""
        (self._failed if failed else self._done).add(key)

    def eta_s(self) -> float | None:
        """Estimate of the remaining time (s) at the pace so far; None before the first cell is done."""
        over = sum(self._weights[key] for key in self._done | self._failed)
        rest = sum(self._weights.values()) - over
        return (time.monotonic() - self._began) * rest / over if over else None

    def line(self) -> str:
        """Counts and the remaining time, in words."""
        eta = self.eta_s()
        return (
            f"{len(self._done)} of {len(self._weights)} cells done, {len(self._running)} running, "
            f"{len(self._failed)} failed" + ("" if eta is None else f", about {clock(eta)} left")
        )

    def render(self) -> Group:
        """Counts, a bar and the cells that run."""
        over, count = len(self._done) + len(self._failed), len(self._weights)
        eta = self.eta_s()
        line = Table.grid(padding=(0, 2))
        line.add_row(
            f"{len(self._done)} of {count} done",
            f"{len(self._running)} running",
            Text(f"{len(self._failed)} failed", style="red" if self._failed else ""),
            ProgressBar(total=count, completed=over, width=24),
            "ETA –" if eta is None else f"ETA {clock(eta)}",
        )
        now = time.monotonic()
        running = Table.grid(padding=(0, 2))
        for key, since in list(self._running.items())[:_RUNNING_SHOWN]:
            running.add_row(f"  {_cell_name(key)}", f"{now - since:.0f} s")
        return Group(line, running)


def _cell_name(key: Key) -> str:
    return f"{key[0]} / {key[1]} / seed {key[2]}"

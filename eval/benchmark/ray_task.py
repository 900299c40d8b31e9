# SPDX-License-Identifier: GPL-2.0-or-later
"""Task of a Ray node: plays a cell and returns its files."""

from __future__ import annotations

import atexit
import functools
import platform
import tempfile
import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ns3_env.cluster.luggage import WorkerContext, unpack
from ns3_env.cluster.store import scratch
from ns3_env.errors import ScenarioError, SimulatorError
from ns3_env.eval.benchmark.cell import Job, play
from ns3_env.eval.benchmark.folder import Key, versions_in_use
from ns3_env.eval.benchmark.travel import Baggage, Unpacked
from ns3_env.eval.metrics import load_metrics
from ns3_env.simulator import Simulator

#: How often a cell is given to another worker when one died.
RETRIES = 3


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
    job: Job, baggage: Baggage, luggage: WorkerContext, timeout_s: float, hang_timeout_s: float, board: Any
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
        unpack(luggage)
        load_metrics(job.metrics)
        _check_versions(job)
        here = Unpacked(job, baggage)
        seconds, write = play(job, _simulator(hang_timeout_s), here)
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
def _simulator(hang_timeout_s: float) -> Simulator:
    """This worker's, from cell to cell."""
    simulator = Simulator(hang_timeout_s=hang_timeout_s)
    atexit.register(simulator.close)
    return simulator

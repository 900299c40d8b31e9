# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress line of a run, and its stop request by signal."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import ProgressBarCallback

from ns3_env.agents.configuration.run_folder import Outcome, RunFolder
from ns3_env.config.command_line import typed

#: Between two lines where the output is no terminal, and two looks of the bar where it is one, s.
_LINE_EVERY_S, _BAR_EVERY_S = 15.0, 0.25


class StopRequest:
    """Set by the first Ctrl-C (or SIGTERM); a second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Signals are taken within the block, where this is the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def handle(number: int, frame: FrameType | None) -> None:
            if self.asked:
                raise KeyboardInterrupt
            self.asked = True

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def outcome(self, folder: RunFolder) -> Outcome:
        """How the run in a folder ended; says how one that was stopped goes on."""
        if self.asked:
            again = f"{typed('train')} --resume {folder.path}"
            print(f"interrupted; go on with: {again}", file=sys.stderr, flush=True)
        return Outcome(folder, self.asked)


class DecisionsBar(ProgressBarCallback):
    """Stable-Baselines3's bar counts num_envs per call; a batch holds as many decisions as flows were due."""

    def _on_step(self) -> bool:
        self.pbar.update(self.model.num_timesteps - self.model._num_timesteps_at_start - self.pbar.n)
        return True


class LiveLine:
    """A bar and a line on a terminal; elsewhere a line now and then."""

    def __init__(self, console: Console, unit: str, total: int) -> None:
        """
        Args:
            console: where it is shown.
            unit: what is counted, in the plural.
            total: of them.
        """
        self.console = console
        self.unit = unit
        self.total = total
        self._at = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def start(self) -> None:
        """Puts the bar onto the terminal, if it is one."""
        if not self.console.is_terminal:
            return
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[line]}"),
            console=self.console,
            refresh_per_second=4,
        )
        self._progress.start()
        self._task = self._progress.add_task(self.unit, total=self.total, line="")

    def show(self, done: int, line: Callable[[], str]) -> None:
        """Shows how far it is, if the last time is long enough ago.

        Args:
            done: of the total.
            line: what stands beside it; asked only when it is shown.
        """
        now = time.monotonic()
        if self._progress is not None and self._task is not None:
            if now - self._at > _BAR_EVERY_S:
                self._progress.update(self._task, completed=done, line=line())
                self._at = now
        elif now - self._at > _LINE_EVERY_S:
            print(f"{done}/{self.total} {self.unit} · {line()}", flush=True)
            self._at = now

    def close(self) -> None:
        """Takes the bar off the terminal; may be called again."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

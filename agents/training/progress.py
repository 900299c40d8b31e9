# SPDX-License-Identifier: GPL-2.0-or-later
"""Progress line of a run, and its stop request by signal."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import ProgressBarCallback
from stable_baselines3.common.logger import Logger, make_output_format

from ns3_env.agents.configuration.run_folder import Outcome, RunFolder
from ns3_env.config.command_line import typed
from ns3_env.config.files import naming

#: Time between two lines if the output is no terminal, and two updates of the bar if it is one, s.
_LINE_EVERY_S, _BAR_EVERY_S = 15.0, 0.25
_SEPARATOR = " · "
#: Characters of the bar, on wide terminals.
_BAR = 40


class StopRequest:
    """Set by the first Ctrl-C (or SIGTERM); a second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handles signals within the block, in the main thread."""
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
        """Shows how the run in a folder ended, and how one that was stopped continues."""
        if self.asked:
            again = f"{typed('train')} --resume {folder.path}"
            print(f"interrupted; go on with: {again}", file=sys.stderr, flush=True)
        return Outcome(folder, self.asked)


class DecisionsBar(ProgressBarCallback):
    """Stable-Baselines3's bar counts num_envs per call; a batch contains a decision for each due flow."""

    def _on_step(self) -> bool:
        self.pbar.update(self.model.num_timesteps - self.model._num_timesteps_at_start - self.pbar.n)
        return True


class LiveLine:
    """A bar and a line on a terminal; elsewhere a line at intervals."""

    def __init__(self, console: Console, unit: str, total: int) -> None:
        """
        Args:
            console: console for the bar or line.
            unit: counted unit, in the plural.
            total: total number of units.
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
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=min(_BAR, self.console.width // 8)),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[line]}", markup=False),
            console=self.console,
            refresh_per_second=4,
        )
        self._progress.start()
        self._task = self._progress.add_task(self.unit, total=self.total, line="")

    def _fitting(self, parts: Sequence[str]) -> str:
        """Joins the parts that the terminal has room for next to the bar, the count and the time left."""
        bar = min(_BAR, self.console.width // 8)
        room = self.console.width - bar - 2 * len(str(self.total)) - len(self.unit) - 14
        line = ""
        for part in parts:
            longer = f"{line}{_SEPARATOR}{part}" if line else part
            line = longer if len(longer) <= room else line
        return line

    def show(self, done: int, parts: Callable[[], Sequence[str]]) -> None:
        """Shows the progress, unless it was shown a moment ago.

        Args:
            done: number of units so far.
            parts: function that returns the texts next to the bar, the most important one first; called only
                if they are shown.
        """
        now = time.monotonic()
        if self._progress is not None and self._task is not None:
            if now - self._at > _BAR_EVERY_S:
                self._progress.update(self._task, completed=done, line=self._fitting(parts()))
                self._at = now
        elif now - self._at > _LINE_EVERY_S:
            print(f"{done}/{self.total} {self.unit} · {_SEPARATOR.join(parts())}", flush=True)
            self._at = now

    def close(self) -> None:
        """Removes the bar from the terminal; may be called again."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _without_tensorboards_faults(fault: threading.ExceptHookArgs) -> None:
    """Shows the exception of a thread, but not TensorBoard's on a full disk, which the next write repeats."""
    if not (
        isinstance(fault.exc_value, OSError) and type(fault.thread).__module__.startswith("tensorboard.")
    ):
        threading.__excepthook__(fault)


class RunLogger(Logger):
    """Stable-Baselines3's, whose table quotes no header: commas in names, stages', become semicolons."""

    def __init__(self, folder: Path | None, suffix: str = "") -> None:
        """
        Args:
            folder: folder of progress.csv and the TensorBoard file; None: no logs.
            suffix: suffix of their names, so that a resumed run keeps its earlier files.
        """
        name = None if folder is None else str(folder)
        forms = () if name is None else ("csv", "tensorboard")
        threading.excepthook = _without_tensorboards_faults
        with naming(folder or Path()):
            super().__init__(name, [make_output_format(form, str(name), suffix) for form in forms])

    def record(self, key: str, value: Any, exclude: str | tuple[str, ...] | None = None) -> None:
        """See Logger."""
        super().record(key.replace(",", ";"), value, exclude)


#: Measured activities, so that each has its column from the first line of progress.csv on.
SIMULATING, STORING, LEARNING, VALIDATING = "simulating", "storing", "learning", "validating"


class Stopwatch:
    """Adds up seconds between two lines of the log."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """
        Args:
            clock: function that returns the time, s.
        """
        self._clock = clock
        self._begin()

    def _begin(self) -> None:
        self._since = self._clock()
        self._seconds = dict.fromkeys((SIMULATING, STORING, LEARNING, VALIDATING), 0.0)
        self._gradient_steps = 0

    @contextmanager
    def measuring(self, what: str) -> Iterator[None]:
        """Counts the time within the block as ``what``; blocks follow each other and are not nested."""
        start_s = self._clock()
        try:
            yield
        finally:
            self._seconds[what] += self._clock() - start_s

    def made_gradient_steps(self, count: int) -> None:
        """Adds to the count of gradient steps, in the time measured as learning."""
        self._gradient_steps += count

    def report(self, logger: Logger) -> None:
        """Records ``time/...``: shares of the wall time since the last report, and gradient steps per second
        of learning; nothing if nothing was measured since."""
        if not any(self._seconds.values()):
            return
        total = max(self._clock() - self._since, 1e-9)
        for what, seconds in self._seconds.items():
            logger.record(f"time/{what}", seconds / total)
        if self._gradient_steps:
            rate = self._gradient_steps / max(self._seconds[LEARNING], 1e-9)
            logger.record("time/gradient_steps_per_s", rate)
        self._begin()

# SPDX-License-Identifier: GPL-2.0-or-later
"""Process of a foreign simulation, ended by a keeper program even where Python is killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import weakref
from collections.abc import Sequence
from pathlib import Path

from ns3_env import _native
from ns3_env.errors import SimulatorNotFound
from ns3_env.simulator.last_words import LastWords, killed_by

_END_PATIENCE_S = 2.0
_MOST_BYTES_KEPT = 1 << 20


class KeptProcess:
    """A command, and all that descends from it. It ends with this object, and with this process, kill -9
    included.

    Args:
        command: with its arguments; no shell reads it.
        folder: in which it runs.
        segment: the name that goes, too, where this process ends without a word.
        show_output: what it prints goes where ours goes; otherwise its end is kept for errors.

    Raises SimulatorNotFound where the keeper is not installed.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, segment: str, show_output: bool) -> None:
        keeper = Path(_native.__file__).parent / "bin" / "ns3ai-keeper"
        words = LastWords("ns3_env-ns3ai-output")
        output = None if show_output else words.fd
        try:
            process = subprocess.Popen(
                [str(keeper), str(os.getpid()), segment, *command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # A session of its own: Ctrl-C at the terminal is ours to handle.
                start_new_session=True,
            )
        except OSError as error:
            words.close()
            raise SimulatorNotFound(f"cannot start {keeper}: {error.strerror}") from error
        self._process, self._words = process, words
        self.end = weakref.finalize(self, _end, process, words, os.getpid())

    @property
    def pid(self) -> int:
        """The keeper's; it ends when the command does."""
        return self._process.pid

    def death(self) -> str | None:
        """How it ended, with its last words; None while it lives."""
        code = self._process.poll()
        if code is None:
            return None
        number = signal_of(code)
        how = f"ended with exit code {code}" if number is None else killed_by(number)
        return f"the simulation (pid {self.pid}) {how}{self.last_words()}"

    def last_words(self) -> str:
        """The end of what it printed, as the end of a sentence."""
        return self._words.end()

    def forget_old_words(self) -> None:
        """To be called now and then: a simulation that prints for hours fills no memory."""
        if len(self._words) > _MOST_BYTES_KEPT:
            self._words.forget()

    def wait(self, seconds: float) -> None:
        """Until it has ended, but no longer than that."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)


def signal_of(code: int) -> int | None:
    """The signal that ended a process, or its child where it is a script that ends as its child did.

    Args:
        code: -n is death by signal n, as Python has it; 128 + n is a shell's word for it, 256 - n that of a
            script in Python, such as ns-3's, which ends with ``exit(returncode)``.

    None where the code is no signal's: -1 is exit code 255, and far more common than a signal 1.
    """
    if code < 0:
        number = -code
    elif code > 128 and code != 255:
        number = code - 128 if code <= 192 else 256 - code
    else:
        return None
    return number if number in signal.valid_signals() else None


def _end(process: subprocess.Popen[bytes], words: LastWords, owner: int) -> None:
    """Ends and reaps it, unless this is a fork of the process that owns it."""
    if os.getpid() == owner:
        process.terminate()  # the keeper kills what it keeps
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_PATIENCE_S)
        process.kill()
        process.wait()
    words.close()

# SPDX-License-Identifier: GPL-2.0-or-later
"""The process of a foreign simulation, which a keeper ends, and the process that has a segment."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from ns3_env import _native
from ns3_env.errors import SimulatorNotFound
from ns3_env.simulator.process import LastWords, Program, killed_by, process_state

_END_PATIENCE_S = 2.0
_MOST_BYTES_KEPT = 1 << 20


class _Keeper(Program):
    """Keeper's process, which ends its command at a SIGTERM."""

    ending = signal.SIGTERM


class KeptProcess:
    """A command, and all that descends from it. It ends with this object, and with this process, kill -9
    included.

    Args:
        command: command with its arguments, run without a shell.
        folder: working directory of the command.
        segment: name of the shared-memory segment to remove if this process is killed.
        show_output: true sends its output to this process's; otherwise the end of it is kept for errors.

    Raises SimulatorNotFound if the keeper is not installed.
    """

    def __init__(self, command: Sequence[str], *, folder: Path, segment: str, show_output: bool) -> None:
        keeper = Path(_native.__file__).parent / "bin" / "ns3ai-keeper"
        words = LastWords("ns3_env-ns3ai-output")
        output = None if show_output else words.fd
        try:
            process = _Keeper(
                [str(keeper), str(os.getpid()), segment, *command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                # Its own session: Ctrl-C at the terminal is ours to handle.
                start_new_session=True,
            )
        except OSError as error:
            words.close()
            raise SimulatorNotFound(f"cannot start {keeper}: {error.strerror}") from error
        self._process, self._words = process, words
        self.end = weakref.finalize(self, _end, process, words, os.getpid())

    @property
    def pid(self) -> int:
        """Process id of the keeper, which ends when the command does."""
        return self._process.pid

    def death(self) -> str | None:
        """Describes how it ended, with its last output; None while it runs."""
        code = self._process.poll()
        if code is None:
            return None
        number = signal_of(code)
        how = f"ended with exit code {code}" if number is None else killed_by(number)
        return f"the simulation (pid {self.pid}) {how}{self.last_words()}"

    def last_words(self) -> str:
        """The end of its output, as the end of a sentence."""
        return self._words.end()

    def forget_old_words(self) -> None:
        """To be called regularly, so that a simulation that prints for hours fills no memory."""
        if len(self._words) > _MOST_BYTES_KEPT:
            self._words.forget()

    def wait(self, seconds: float) -> None:
        """Waits for its end, up to the given time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)


def signal_of(code: int) -> int | None:
    """The signal that ended a process, or its child if it is a script that ends as its child did.

    Args:
        code: -n is death by signal n, as Python has it; 128 + n is a shell's code for it, 256 - n that of a
            script in Python, such as ns-3's, which ends with ``exit(returncode)``.

    None if the code is no signal's: -1 is exit code 255, and far more common than a signal 1.
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
        process.terminate()  # the keeper kills its command
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_PATIENCE_S)
        process.kill()
        process.wait()
    words.close()


class Peer:
    """The other process that has a segment, an ancestor of ours before any other.

    Args:
        segment: name of the segment.
    """

    def __init__(self, segment: str) -> None:
        self.pid = next((pid for pid in (*_ancestors(), *_others()) if _mapped(pid, segment)), None)

    def is_gone(self) -> bool:
        """Returns whether it has ended. False if no process was found to watch."""
        return self.pid is not None and process_state(self.pid)[0] in ("Z", "X")


def user_of(segment: str) -> int | None:
    """A process, this one among them, that has the segment of that name; None for a leftover segment."""
    try:
        inode = os.stat(_file(segment)).st_ino
    except OSError:
        return None
    return next((pid for pid in (os.getpid(), *_others()) if inode in _mapped(pid, segment)), None)


def name_of(pid: int) -> str:
    """Returns the name of the process; nothing if it has ended."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def _file(segment: str) -> str:
    return f"/dev/shm/{segment}"


def _mapped(pid: int, segment: str) -> set[int]:
    """Inodes of the segments of that name which the process has mapped, including those without a name any
    more; empty without permission to read them."""
    try:
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            lines = [line.rstrip("\n").removesuffix(" (deleted)").split(maxsplit=5) for line in maps]
    except OSError:
        return set()
    return {int(line[4]) for line in lines if line[5:] == [_file(segment)]}


def _ancestors() -> Iterator[int]:
    """The parent's process id, its parent's, and so on."""
    pid = os.getppid()
    while pid > 1:
        yield pid
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                pid = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            return


def _others() -> Iterator[int]:
    """Every process except this one."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                yield int(name)

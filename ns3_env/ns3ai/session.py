# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of a simulation built with ns3-ai: its segment and the name's lock, its process, its end."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ns3_env.errors import SimulatorDied, SimulatorHung, SimulatorNotFound
from ns3_env.ns3ai.gym_wire import GymWire, WireError
from ns3_env.ns3ai.processes import KeptProcess, name_of, user_of
from ns3_env.ns3ai.segments import MAKERS, Names, SegmentEnd, SegmentError, made
from ns3_env.ns3ai.targets import command_line

_LOOK_S = 0.005
#: Time that a simulator may need after a request to stop, s.
_STOP_PATIENCE_S = 1.0
_MESSAGES_BETWEEN_TIDYING = 1000


class NameLock:
    """A name in the kernel, no file: reserved from :meth:`take` to :meth:`release`, or the process's end."""

    def __init__(self, segment: str) -> None:
        self._segment = segment
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def take(self, timeout_s: float | None) -> None:
        """Waits for it; None: for ever. Raises SimulatorHung if another environment has it for longer."""
        name = hashlib.sha256(self._segment.encode()).hexdigest()  # no longer than the kernel allows
        start_s = time.monotonic()
        while True:
            try:
                self._socket.bind(f"\0ns3_env/ns3ai/{name}")
                return
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            if timeout_s is not None and time.monotonic() - start_s > timeout_s:
                raise SimulatorHung(
                    f"another environment has been starting a simulation on the segment {self._segment!r} "
                    f"for {timeout_s:g} s: give each a name of its own (segment=, segment_key=)"
                )
            time.sleep(_LOOK_S)

    def release(self) -> None:
        """Releases it for other environments; may be called again."""
        self._socket.close()


def _refuse_anothers(segment: str) -> None:
    """Raises SegmentError if a program that is no environment of ours uses the segment."""
    if (pid := user_of(segment)) is not None:
        who = "this process" if pid == os.getpid() else f"process {pid} ({name_of(pid)})"
        raise SegmentError(
            f"the segment {segment!r} is in use by {who}, ns3-ai's Python or a simulation that it has left "
            "behind: end that first, or give this environment a segment of its own, where the simulation "
            "takes the name as a setting: segment_key='NAME OF THE SETTING'"
        )


class Session:
    """One run of a simulation: from :meth:`start`, with its own segment, to :meth:`end`.

    The segment's name is there only until the simulation has sent its first message: from then on both ends
    have the segment, no other process finds it, and it vanishes with them, however they end.

    Args:
        target, ns3_path, settings, segment_bytes, timeout_s, show_output: see ``Ns3AiEnv``.
        names: names of the segment and of the objects in it.
        maker: function that makes the segment, in one of Boost's layouts.
    """

    def __init__(
        self,
        target: str,
        ns3_path: str | os.PathLike[str],
        settings: Mapping[str, Any],
        *,
        names: Names,
        maker: Callable[[Names, int], SegmentEnd] = MAKERS[0],
        segment_bytes: int = 4096,
        timeout_s: float | None = None,
        show_output: bool = False,
    ) -> None:
        self._program = Path(ns3_path).absolute() / "ns3"
        self._arguments = [target, *command_line(settings)]
        self._names, self._maker, self._segment_bytes = names, maker, segment_bytes
        self._timeout_s, self._show_output = timeout_s, show_output
        self._received = 0
        self._lock: NameLock | None = None
        self._process: KeptProcess | None = None
        self._wire: GymWire | None = None
        self._end: SegmentEnd | None = None

    def start(self) -> None:
        """Starts the simulation. After an interrupt anywhere in here, :meth:`end` ends all that runs.

        Raises:
            SimulatorNotFound: there is no ``ns3`` in that folder.
            SegmentError: the segment cannot be made, or is another program's.
            SimulatorHung: another environment has been starting one on the segment for ``timeout_s``.
        """
        program, names = self._program, self._names
        if not os.access(program, os.X_OK) or program.is_dir():
            raise SimulatorNotFound(f"no program {program}: ns3_path is the folder in which ns-3's `ns3` is")
        self._asked = time.monotonic()
        try:
            self._lock = NameLock(names.segment)
            self._lock.take(self._timeout_s)
            _refuse_anothers(names.segment)
            self._end = made(self._maker, names, self._segment_bytes)
            self._process = KeptProcess(
                [str(program), "run", *self._arguments],
                folder=program.parent,
                segment=names.segment,
                show_output=self._show_output,
            )
            look = weakref.WeakMethod(self._look)  # a session without references ends at once
            self._wire = GymWire(self._end, f"the simulation (pid {self.pid})", lambda: look()())  # type: ignore[misc]
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """Id of the process that keeps the simulation; it ends when the simulation does."""
        return self._live_process().pid

    def send(self, message: Any) -> None:
        """See :meth:`GymWire.send`. Raises SimulatorDied, SimulatorHung, MessageTooLargeError."""
        self._asked = time.monotonic()
        self._living().send(message)

    def receive(self, name: str) -> Any:
        """See :meth:`GymWire.receive`. Raises SimulatorDied, SimulatorHung and as that method."""
        self._asked = time.monotonic()
        try:
            message = self._living().receive(name)
        except WireError:
            process = self._live_process()
            process.wait(_STOP_PATIENCE_S)  # a process that ends may send nonsense
            if (death := process.death()) is None:
                raise
            self.end()
            raise SimulatorDied(death) from None
        if self._lock is not None:
            self._name_is_free()
        self._received += 1
        if self._received % _MESSAGES_BETWEEN_TIDYING == 0:
            self._live_process().forget_old_words()
        return message

    def _live_process(self) -> KeptProcess:
        assert self._process is not None
        return self._process

    def _living(self) -> GymWire:
        if self._wire is None:
            raise SimulatorDied("the simulation has been ended")
        return self._wire

    def _name_is_free(self) -> None:
        """Lets other environments make a segment of the name."""
        if self._end is not None:
            self._end.unlink()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _look(self) -> None:
        """Looks after the process, while it is waited for."""
        process = self._live_process()
        if (message := process.death()) is not None:
            self.end()
            raise SimulatorDied(message)
        waited_s = time.monotonic() - self._asked
        if self._timeout_s is not None and waited_s > self._timeout_s:
            words = process.last_words()
            self.end()
            raise SimulatorHung(f"the simulation said nothing for {waited_s:.1f} s and was killed{words}")

    def stop(self) -> None:
        """Waits a moment for a process that has been asked to stop; then :meth:`end`."""
        if self._process is not None:
            self._process.wait(_STOP_PATIENCE_S)
        self.end()

    def end(self) -> None:
        """Ends the processes at once; the segment goes with them. May be called again."""
        if self._process is not None:
            self._process.end()
        if self._lock is not None:
            self._name_is_free()
        self._wire = self._end = None  # this also frees our part of the segment's memory

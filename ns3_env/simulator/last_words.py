# SPDX-License-Identifier: GPL-2.0-or-later
"""A process's last output, kept in memory for errors to quote, and the signal that ended it."""

from __future__ import annotations

import fcntl
import os
import signal
from io import FileIO

_SHOWN_BYTES = 4096


class LastWords:
    """A file in memory that takes a process's output, until :meth:`close` or its own end."""

    def __init__(self, name: str) -> None:
        """``name`` is what /proc shows."""
        self._file = FileIO(os.memfd_create(name, os.MFD_CLOEXEC))  # its close() cannot be interrupted
        if self.fd <= 2:  # a closed standard stream's number: a child's own stream would take its place
            with self._file as low:
                self._file = FileIO(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3))
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_APPEND)

    @property
    def fd(self) -> int:
        """Its descriptor. Raises ValueError once it is closed."""
        return self._file.fileno()

    def __len__(self) -> int:
        """Bytes kept."""
        return os.fstat(self.fd).st_size

    def end(self) -> str:
        """The end of what is kept, as the end of a sentence."""
        text = os.pread(self.fd, _SHOWN_BYTES, max(0, len(self) - _SHOWN_BYTES))
        words = text.decode(errors="replace").strip()
        return f"; its last words:\n{words}" if words else "; it left no last words"

    def forget(self) -> None:
        """Keeps nothing of what was printed so far."""
        if len(self):  # cutting costs much more than looking
            os.ftruncate(self.fd, 0)

    def close(self) -> None:
        """Nothing is to be read any more; may be called again."""
        self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


def killed_by(number: int) -> str:
    """How a process ended that a signal killed."""
    return f"was killed by signal {number} ({signal.strsignal(number)})"

# SPDX-License-Identifier: GPL-2.0-or-later
"""A process's last output, kept in memory for errors to quote, and the signal that ended it."""

from __future__ import annotations

import fcntl
import os
import signal

_SHOWN_BYTES = 4096


class LastWords:
    """A file in memory that takes a process's output, until :meth:`close` or its own end."""

    def __init__(self, name: str) -> None:
        """``name`` is what /proc shows."""
        self.fd = -1
        fd = os.memfd_create(name, os.MFD_CLOEXEC)
        if fd <= 2:  # a closed standard stream's number: a child's own stream would take its place
            low, fd = fd, fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
            os.close(low)
        self.fd = fd
        fcntl.fcntl(self.fd, fcntl.F_SETFL, os.O_APPEND)

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
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    __del__ = close


def killed_by(number: int) -> str:
    """How a process ended that a signal killed."""
    return f"was killed by signal {number} ({signal.strsignal(number)})"

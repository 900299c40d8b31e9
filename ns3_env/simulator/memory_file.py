# SPDX-License-Identifier: GPL-2.0-or-later
"""A file in memory, without a name on any disk."""

from __future__ import annotations

import fcntl
import os
from io import FileIO


class MemoryFile:
    """A file that other processes open through this one; nothing is left of it, however that ends."""

    def __init__(self, name: str, content: bytes = b"") -> None:
        """``name`` is what /proc shows."""
        # Its close() cannot be interrupted, and it closes itself where an exception leaves it behind.
        self._file = FileIO(os.memfd_create(name, os.MFD_CLOEXEC), "w")
        if self.fd <= 2:  # a closed standard stream's number: a child's own stream would take its place
            with self._file as low:
                self._file = FileIO(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3), "w")
        self._file.write(content)

    @property
    def fd(self) -> int:
        """Its descriptor. Raises ValueError once it is closed."""
        return self._file.fileno()

    @property
    def path(self) -> str:
        """The path by which others open it."""
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    def close(self) -> None:
        """Gives the memory back; may be called again."""
        self._file.close()

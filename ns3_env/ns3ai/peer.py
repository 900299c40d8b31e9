# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the Python that made a segment still live? The process is found by what it has mapped, and watched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from ns3_env.simulator.process import process_state


class Peer:
    """The other process that has a segment, an ancestor of ours before any other.

    Args:
        segment: its name.
    """

    def __init__(self, segment: str) -> None:
        self._file = f"/dev/shm/{segment}"
        self.pid = next((pid for pid in (*_ancestors(), *_others()) if self._has(pid)), None)

    def _has(self, pid: int) -> bool:
        """The process has the segment mapped; False where it may not be looked at."""
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
                return any(line.rstrip("\n").removesuffix(" (deleted)").endswith(self._file) for line in maps)
        except OSError:
            return False

    def is_gone(self) -> bool:
        """It has ended. False where none was found: then nobody is watched."""
        return self.pid is not None and process_state(self.pid)[0] in ("Z", "X")


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
    """Every process that there is, but this one."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                yield int(name)

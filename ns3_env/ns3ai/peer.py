# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the process that has a segment, by what it has mapped, and watches whether it lives."""

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
        self.pid = next((pid for pid in (*_ancestors(), *_others()) if _mapped(pid, segment)), None)

    def is_gone(self) -> bool:
        """It has ended. False where none was found: then nobody is watched."""
        return self.pid is not None and process_state(self.pid)[0] in ("Z", "X")


def user_of(segment: str) -> int | None:
    """A process, this one among them, that has the segment of that name; None for one that was left over."""
    try:
        inode = os.stat(_file(segment)).st_ino
    except OSError:
        return None
    return next((pid for pid in (os.getpid(), *_others()) if inode in _mapped(pid, segment)), None)


def name_of(pid: int) -> str:
    """What the process is called; nothing where it has ended."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
            return comm.read().strip()
    except OSError:
        return ""


def _file(segment: str) -> str:
    return f"/dev/shm/{segment}"


def _mapped(pid: int, segment: str) -> set[int]:
    """Inodes of the segments of that name which the process has mapped, those included that nobody finds any
    more; none where it may not be looked at."""
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
    """Every process that there is, but this one."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and int(name) != os.getpid():
                yield int(name)

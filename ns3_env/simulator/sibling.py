# SPDX-License-Identifier: GPL-2.0-or-later
"""A child process that a child of ours has made, waited for as one that we started ourselves."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from typing import Protocol


class Child(Protocol):
    """Part of :class:`subprocess.Popen` that a simulator's process needs."""

    pid: int

    def poll(self) -> int | None:
        """Its exit code, minus the signal that killed it; None while it lives."""

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended. Raises subprocess.TimeoutExpired."""

    def kill(self) -> None:
        """Ends it at once."""


class Sibling:
    """A child that was made with CLONE_PARENT by another one."""

    _owner = -1  # an interrupt may come before it is known

    def __init__(self, pid: int) -> None:
        """``pid`` is the process's, which has not been waited for."""
        self.pid = pid
        self._code: int | None = None
        self._owner = os.getpid()

    def __del__(self) -> None:
        """Ends it if an interrupt has prevented that elsewhere."""
        if os.getpid() == self._owner and self.poll() is None:
            self.kill()
            self.wait()

    def poll(self) -> int | None:
        """See :class:`Child`."""
        if self._code is None:
            self._reap(os.WNOHANG)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """See :class:`Child`."""
        if timeout is not None and self.poll() is None:
            ended = select.poll()
            with contextlib.closing(os.fdopen(os.pidfd_open(self.pid), "rb", buffering=0)) as file:
                ended.register(file, select.POLLIN)
                if not ended.poll(timeout * 1000):
                    raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        if self._code is None:
            self._reap(0)
        assert self._code is not None
        return self._code

    def kill(self) -> None:
        """See :class:`Child`."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)

    def _reap(self, options: int) -> None:
        try:
            pid, status = os.waitpid(self.pid, options)
        except ChildProcessError:  # another thread waited for all children: its exit status is unknown
            self._code = 0
        else:
            if pid:
                self._code = os.waitstatus_to_exitcode(status)

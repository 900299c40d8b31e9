# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends interrupted commands, and the process that forks workers, quietly.

A command ends with exit code 130 if it is interrupted while it imports or ends; the process that forks
workers ends when no process is left that asks for one. Other programs that import the package are unaffected.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_PROGRAMS = [_ROOT / "train.py", _ROOT / "export.py", _ROOT / "eval" / "__main__.py"]


def _end(*_: object) -> None:
    os.write(2, b"interrupted\n")
    os._exit(130)


# ``config.command_line.guarded`` has signals interrupt the work itself, which ends what it has started.
_program = Path(sys.argv[0] if sys.argv else "")
if _program.name == "ns3-env" or _program.resolve() in _PROGRAMS:
    for _number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(_number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(_number, _end)


# The process that forks workers is known by its command line. A variable would not do: a program that one
# thread starts while another changes the environment does not start (EFAULT).
_started_as = " ".join(sys.orig_argv)
_forks = re.search(
    r"-c from multiprocessing\.forkserver .*main\(\d+, (\d+), .*'ns3_env\.simulator\.pool'", _started_as
)
if _forks:
    _users = select.poll()  # processes that can ask for workers have the other end of a pipe
    _users.register(int(_forks[1]), select.POLLHUP)

    def _end_without_users(*_: object) -> None:
        if _users.poll(0):
            os._exit(1)

    _end_without_users()  # by default it polls only after all imports
    signal.signal(signal.SIGALRM, _end_without_users)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)

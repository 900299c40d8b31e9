# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends interrupted commands, and the process that forks workers, quietly.

A command ends with exit code 130 if it is interrupted while it imports or ends; the process that forks
workers ends when its parent is gone. Other programs that import the package are left alone.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

#: Variable that names the parent of the process that forks workers, while it starts.
FORKS_FOR = "NS3_ENV_FORKS_FOR"

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


def _end_without_parent(*_: object) -> None:
    if os.getppid() != _parent:
        os._exit(1)


_parent = int(os.environ.pop(FORKS_FOR, "0"))
if _parent and sys.argv[:1] == ["-c"]:  # by itself it looks only when all is imported
    _end_without_parent()
    signal.signal(signal.SIGALRM, _end_without_parent)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)

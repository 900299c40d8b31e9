# SPDX-License-Identifier: GPL-2.0-or-later
"""Ends a command of the project quietly, with exit code 130, when Ctrl-C or SIGTERM comes while it imports
or ends; a program that imports the package is left alone."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Exit codes of commands, and errors told in one line.

SIGTERM, which batch systems send when a job's time is up, is Ctrl-C to every command.
"""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ns3_env.config.extras import missing
from ns3_env.errors import ConfigError, ScenarioError, ScenarioWarning, SimulatorError


def guarded(work: Callable[[], int]) -> int:
    """The exit code of ``work()``; 2 for a mistake in the input, a package of an extra that is not installed,
    or a file that cannot be read or written, 1 where the simulator failed, 130 for Ctrl-C and SIGTERM. Each
    with one message on standard error. A scenario's warnings go there, too, a line each."""
    warnings.formatwarning = _plain
    try:
        with _terminated_as_interrupted():
            return work()
    except (ConfigError, ScenarioError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {os_fault(error)}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        if (said := missing(error)) is None:
            raise
        print(f"error: {said}", file=sys.stderr)
        return 2
    except SimulatorError as error:
        print(f"error: the simulator failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


_formatted = warnings.formatwarning


def _plain(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning of a scenario as a line for its user; another one as Python shows it."""
    if issubclass(category, ScenarioWarning):
        return f"warning: {message}\n"
    return _formatted(message, category, filename, lineno, line)


def os_fault(error: OSError) -> str:
    """What is wrong with a file, and which it is: ``PATH: No space left on device``."""
    if error.filename is None or error.strerror is None:
        return str(error)
    if isinstance(error, FileExistsError | NotADirectoryError):
        path = Path(str(error.filename))
        files = [x for x in (path, *path.parents) if x.exists() and not x.is_dir()]
        if files:
            return f"{files[0]} is a file, where a folder is to be: name another"
    return f"{error.filename}: {error.strerror}"


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM interrupts the block as Ctrl-C does, where this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

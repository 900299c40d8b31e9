# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a command tell its caller when something goes wrong? One line, and an exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

from ns3_env.errors import ConfigError, ScenarioError, ScenarioWarning, SimulatorError
from ns3_env.extras import missing


def guarded(work: Callable[[], int]) -> int:
    """The exit code of ``work()``; 2 for a mistake in the input, a package of an extra that is not installed,
    or a file that cannot be read or written, 1 where the simulator failed, 130 for Ctrl-C. Each with one
    message on standard error. A scenario's warnings go there, too, a line each."""
    warnings.formatwarning = _plain
    try:
        return work()
    except (ConfigError, ScenarioError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""What does a command tell its caller when something goes wrong? One line, and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ns3_env.errors import ConfigError, ScenarioError, SimulatorError
from ns3_env.extras import missing


def guarded(work: Callable[[], int]) -> int:
    """The exit code of ``work()``; 2 for a mistake in the input, a package of an extra that is not installed,
    or a file that cannot be read or written, 1 where the simulator failed, 130 for Ctrl-C. Each with one
    message on standard error."""
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

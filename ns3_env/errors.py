# SPDX-License-Identifier: GPL-2.0-or-later
"""The package's exceptions and warnings."""

from __future__ import annotations


class ConfigError(ValueError):
    """Something in a configuration is wrong; the message names the file and the key. Exit code 2."""


class ScenarioError(ValueError):
    """A scenario that cannot be: one line per fault, with file and key. Commands end with exit code 2."""


class ScenarioWarning(UserWarning):
    """A valid scenario that probably does not show its intended effect."""


class SimulatorError(RuntimeError):
    """The simulator's process is gone; the next reset starts another one."""


class SimulatorNotFound(SimulatorError):  # noqa: N818
    """There is no simulator program, or it cannot be run."""


class SimulatorDied(SimulatorError):  # noqa: N818
    """The process ended by itself or was killed; the message contains its last output."""


class SimulatorHung(SimulatorError):  # noqa: N818
    """The process gave no sign of life and was killed."""


class PaddingError(RuntimeError):
    """A learner would mistake rows without a flow for decisions, or an outcome that is not known yet."""

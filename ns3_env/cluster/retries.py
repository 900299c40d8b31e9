# SPDX-License-Identifier: GPL-2.0-or-later
"""Result of work on a node: its value, or the error that it would have raised here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ns3_env.errors import ConfigError, ScenarioError, SimulatorDied, SimulatorError

#: How often work is given to another worker where one died, or its node did.
RETRIES = 3

T = TypeVar("T")


def caught(work: Callable[[], T]) -> T | Exception:
    """On a node: the value of ``work()``, or its error, which is no failure of the node."""
    try:
        return work()
    except (ConfigError, ScenarioError, SimulatorError) as error:
        return error


def value(ref: Any) -> Any:
    """On the driver: what ``caught`` gave, or its error raised. Waits for it.

    Raises:
        ConfigError, ScenarioError, SimulatorError: as they were raised on the node.
        SimulatorDied: workers died, more often than Ray tries again; or the node lacks something.
    """
    import ray

    try:
        found = ray.get(ref)
    except ray.exceptions.RayError as error:
        raise SimulatorDied(f"on the Ray cluster: {type(error).__name__}: {error}") from None
    if isinstance(found, Exception):
        raise found
    return found

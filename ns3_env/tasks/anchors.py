# SPDX-License-Identifier: GPL-2.0-or-later
"""Anchors of the tasks: the measured values of the base and the reference on each test scenario."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ns3_env.errors import ConfigError
from ns3_env.ids import VERSIONS
from ns3_env.scenario import Scenario
from ns3_env.tasks.definition import TESTS, TaskSpec

#: Anchors by the task's name.
FILE = Path(__file__).parent / "anchors.json"


@dataclass(frozen=True)
class Anchors:
    """Anchors that scores of a task are measured by.

    Attributes:
        version: version of the task.
        tests: hash of its test scenarios.
        base: the controller whose score is 0.
        base_values: measured value of the base controller on each test.
        reference_values: measured value of the reference on each test.
    """

    version: int
    tests: str
    base: str
    base_values: Sequence[float]
    reference_values: Sequence[float]

    @property
    def base_value(self) -> float:
        """The geometric mean."""
        return geometric_mean(self.base_values)

    @property
    def reference_value(self) -> float:
        """The geometric mean."""
        return geometric_mean(self.reference_values)

    def score(self, number: int, value: float) -> float:
        """0 for the base's value on a test, in steps of which the reference is 100 over all tests.

        The mean over the tests is 100 ln(base / value) / ln(base / reference) of the geometric means: that
        each test is compared with the base on the same flows removes its difficulty.
        """
        span = np.log(self.base_value / self.reference_value)
        return float(100 * np.log(self.base_values[number] / value) / span)


#: Anchors of tasks of other packages, by name, as this process has measured them.
_OF_OTHERS: dict[str, Anchors] = {}


def stored_anchors() -> dict[str, Anchors]:
    """The anchors in the file and those of :func:`add_anchors`, by the task's name."""
    entries = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return {**{name: Anchors(**values) for name, values in entries.items()}, **_OF_OTHERS}


def add_anchors(name: str, anchors: Anchors) -> None:
    """Adds the anchors of a task of another package, for this process."""
    _OF_OTHERS[name] = anchors


def anchors_of(spec: TaskSpec) -> Anchors:
    """The task's anchors.

    Raises:
        ConfigError: there are no anchors of this version, or its test scenarios have changed since.
    """
    anchors, version = stored_anchors().get(spec.name), VERSIONS[spec.name]
    how = f"`python -m eval leaderboard {spec.name} --anchors` measures them"
    if anchors is None or anchors.version != version:
        raise ConfigError(f"{spec.id}: {FILE.name} has no anchors of this version; {how}")
    if anchors.tests != digest([spec.test(number) for number in range(TESTS)]):
        raise ConfigError(
            f"{spec.id}: its test scenarios are others than those of its anchors: raise its version in "
            f"ns3_env/ids.py; then {how}"
        )
    return anchors


def digest(scenarios: Sequence[Scenario]) -> str:
    """Hash of scenarios as the simulator has them, floats to ten digits: processors differ in the last."""
    content = [_rounded(scenario.to_simulator_json()) for scenario in scenarios]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def geometric_mean(values: Sequence[float]) -> float:
    """The exponential of the mean logarithm of values above 0."""
    return float(np.exp(np.mean(np.log(values))))


def _rounded(values: Any) -> Any:
    if isinstance(values, float):
        return int(values) if values.is_integer() else format(values, ".10g")
    if isinstance(values, Mapping):
        return {key: _rounded(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_rounded(value) for value in values]
    return values

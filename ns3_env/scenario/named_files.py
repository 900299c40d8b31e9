# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a scenario's controllers read while they play: a policy's, under "policy"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from ns3_env.errors import ScenarioError
from ns3_env.scenario.controllers import POLICY, Controller
from ns3_env.scenario.scenario import Scenario

#: Content of files by path; of a folder: that of its files by their names in it ("/" parts folders).
Files = Mapping[str, bytes | Mapping[str, bytes]]

_FILE = "File"


def named_files(controllers: Iterable[Controller]) -> set[str]:
    """Paths that the controllers name."""
    return {str(x.attributes[_FILE]) for x in controllers if x.name == POLICY and _FILE in x.attributes}


def read_files(paths: Iterable[str]) -> dict[str, bytes]:
    """Content of these files. Raises ScenarioError where one cannot be read."""
    try:
        return {path: Path(path).read_bytes() for path in paths}
    except OSError as error:
        raise ScenarioError(str(error)) from error


def renamed(scenario: Scenario, paths: Mapping[str, str]) -> Scenario:
    """The scenario with other paths in the place of those that ``paths`` knows."""
    if not named_files(scenario.controllers) & paths.keys():
        return scenario
    controllers = [renamed_controller(controller, paths) for controller in scenario.controllers]
    return scenario.model_copy(update={"controllers": controllers})


def renamed_controller(controller: Controller, paths: Mapping[str, str]) -> Controller:
    """The controller with another path of its policy, where ``paths`` knows it."""
    path = str(controller.attributes.get(_FILE))
    if controller.name != POLICY or path not in paths:
        return controller
    return controller.model_copy(update={"attributes": {**controller.attributes, _FILE: paths[path]}})

# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a scenario's controllers read while they play: a policy's, under "policy"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ns3_env.scenario import POLICY, Controller, Scenario

_FILE = "File"


def named_files(controllers: Iterable[Controller]) -> set[str]:
    """Paths that the controllers name."""
    return {str(x.attributes[_FILE]) for x in controllers if x.name == POLICY and _FILE in x.attributes}


def renamed(scenario: Scenario, names: Mapping[str, str]) -> Scenario:
    """The scenario with other paths in the place of those that ``names`` knows."""
    if not named_files(scenario.controllers) & names.keys():
        return scenario
    controllers = [
        controller.model_copy(
            update={"attributes": {**controller.attributes, _FILE: names.get(str(path), str(path))}}
        )
        if controller.name == POLICY and (path := controller.attributes.get(_FILE)) is not None
        else controller
        for controller in scenario.controllers
    ]
    return scenario.model_copy(update={"controllers": controllers})

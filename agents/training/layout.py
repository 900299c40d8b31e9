# SPDX-License-Identifier: GPL-2.0-or-later
"""A checkpoint's ``layout.json``: what its networks are bound to, written, read and compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ns3_env.agents.configuration.run_folder import read_json
from ns3_env.config.files import write_file
from ns3_env.config.model import Strict
from ns3_env.errors import ConfigError
from ns3_env.policies.released import LAYOUT
from ns3_env.scenario import Clock, Controller

#: Names of files that hold pickled objects, which run code where they are read.
_PICKLES = (".zip", ".pkl", ".pickle", ".pth", ".pt")


class PolicyLayout(Strict):
    """What a policy's networks are bound to.

    Attributes:
        agent: its name.
        settings: its section of the configuration.
        fields: fields of the observation.
        action_map: what its actions mean.
        slots: of the environment that it was trained in.
        action_settings: of the action map.
        clock: when a flow decides; None in what older versions wrote.
        inside: whether there is a file of the policy, for the simulator to play.
    """

    agent: str
    settings: dict[str, Any]
    fields: list[str]
    action_map: str
    slots: int = Field(ge=1)
    action_settings: dict[str, Any] = Field(default_factory=dict)
    clock: Clock | None = None
    inside: bool = True


def refuse_pickles(folder: Path) -> None:
    """Raises ConfigError, naming the file, where something in a checkpoint's folder could run code."""
    for path in sorted(folder.iterdir()):
        if path.suffix in _PICKLES:
            raise ConfigError(f"{path}: holds pickled objects, which could run code: not loaded")


def controller_layout(controller: Controller) -> dict[str, Any]:
    """The layout of a tuned controller's checkpoint."""
    return {"controller": controller.name, "attributes": dict(controller.attributes)}


def write_layout(folder: Path, layout: Mapping[str, Any]) -> None:
    """Writes a checkpoint's layout."""
    write_file(folder / LAYOUT, json.dumps(layout, indent=1))


def read_layout(folder: Path) -> dict[str, Any]:
    """A checkpoint's layout. Raises ConfigError, naming the file, where it is none."""
    return read_json(folder / LAYOUT)


def check_layout(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raises ConfigError, naming file and key, where a checkpoint's layout is not the ``expected`` one."""
    found = read_layout(folder)
    for key, value in expected.items():
        if found.get(key) != value:
            raise ConfigError(
                f"{folder / LAYOUT}: {key} is {found.get(key)}, but the run is configured for {value}"
            )

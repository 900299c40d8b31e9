# SPDX-License-Identifier: GPL-2.0-or-later
"""What is a checkpoint of a tuned controller? Attributes that the simulator plays by itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agents.search.config import Attributes
from ns3_env.errors import ConfigError

_LAYOUT = "layout.json"


@dataclass(frozen=True)
class Tuned:
    """A controller of the simulator and the attributes it was tuned to."""

    controller: str
    attributes: Attributes

    def as_yaml(self) -> str:
        """What to put into a scenario."""
        entry = {"name": self.controller, "attributes": self.attributes}
        return yaml.safe_dump({"controllers": [entry]}, sort_keys=False)


def layout(controller: str, attributes: Attributes) -> dict[str, Any]:
    """The content of a checkpoint's layout.json."""
    return {"agent": controller, "controller": controller, "attributes": attributes}


def read_tuned(checkpoint: Path) -> Tuned | None:
    """The controller in a checkpoint's folder; None where it holds a policy. Raises ConfigError."""
    path = checkpoint / _LAYOUT
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{checkpoint}: not a checkpoint: {_LAYOUT} cannot be read") from error
    if not isinstance(content, dict) or "controller" not in content:
        return None
    return Tuned(str(content["controller"]), dict(content["attributes"]))

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is in a checkpoint? A trained policy, or a controller of the simulator with tuned attributes.

A checkpoint's ``layout.json`` says which: {"agent", "fields", "action_map"} of a policy, whose agent's
trainer wrote the other files; {"controller", "attributes"} of a controller, which needs no other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.registry import find_agent
from agents.training.config import EnvConfig, Named, RunConfig
from agents.training.run_folder import RunFolder
from ns3_env.errors import ConfigError
from ns3_env.policy import Policy
from ns3_env.scenario import Clock, Controller
from ns3_env.strict import validate

LAYOUT = "layout.json"


@dataclass(frozen=True)
class TrainedPolicy:
    """A policy and the environment it was trained in.

    Attributes:
        policy: the policy.
        env: fields, action map and reward; of a checkpoint outside a run's folder, what its layout says.
        clock: the one it was trained with; None where that is not known.
    """

    policy: Policy
    env: EnvConfig
    clock: Clock | None = None


def find_checkpoint(path: Path) -> Path:
    """A checkpoint's folder: ``path`` itself, or the newest one of the run there. Raises ConfigError."""
    if (path / LAYOUT).exists():
        return path
    try:
        return RunFolder(path).latest_checkpoint()[0]
    except (ConfigError, OSError):
        what = "is neither a checkpoint nor a training run with one" if path.exists() else "does not exist"
        raise ConfigError(
            f"checkpoint: {path} {what}: name runs/NAME or runs/NAME/checkpoints/NUMBER"
        ) from None


def load_checkpoint(path: Path) -> TrainedPolicy | Controller:
    """What a checkpoint, or a run's newest one, holds.

    Raises:
        ConfigError: there is none, or it is of an agent that is not known here.
    """
    folder = find_checkpoint(path)
    layout = read_layout(folder)
    if "controller" in layout:
        return Controller(name=layout["controller"], attributes=layout["attributes"])
    policy = _policy(folder, layout)
    run = RunFolder(folder.parent.parent)
    if not (run.path / "config.yaml").exists():
        return TrainedPolicy(
            policy, EnvConfig(fields=list(policy.fields), action=Named(name=policy.action_map))
        )
    env = validate(run.read()[0], RunConfig, str(run.path / "config.yaml")).env
    return TrainedPolicy(policy, env, env.clock)


def load_policy(folder: Path) -> Policy:
    """The policy in a checkpoint's folder, without an environment. Raises ConfigError where it holds none."""
    return _policy(folder, read_layout(folder))


def load_controller(folder: Path) -> Controller:
    """The tuned controller in a checkpoint's folder. Raises ConfigError where it holds none."""
    layout = read_layout(folder)
    if "controller" not in layout:
        raise ConfigError(f"{folder / LAYOUT}: holds no tuned controller")
    return Controller(name=layout["controller"], attributes=layout["attributes"])


def _policy(folder: Path, layout: Mapping[str, Any]) -> Policy:
    try:
        agent = find_agent(str(layout.get("agent")))
    except ValueError as error:
        raise ConfigError(f"{folder / LAYOUT}: {error}") from error
    return agent.trainer.load_policy(folder, layout)


def controller_layout(controller: Controller) -> dict[str, Any]:
    """The layout of a tuned controller's checkpoint."""
    return {"controller": controller.name, "attributes": dict(controller.attributes)}


def write_layout(folder: Path, layout: Mapping[str, Any]) -> None:
    """Writes a checkpoint's layout."""
    (folder / LAYOUT).write_text(json.dumps(layout, indent=1), encoding="utf-8")


def read_layout(folder: Path) -> dict[str, Any]:
    """A checkpoint's layout. Raises ConfigError, naming the file, where it is none."""
    path = folder / LAYOUT
    try:
        layout = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not a checkpoint: cannot be read") from error
    if not isinstance(layout, dict):
        raise ConfigError(f"{path}: not a checkpoint: expected keys and values")
    return layout


def check_layout(folder: Path, expected: Mapping[str, Any]) -> None:
    """Raises ConfigError, naming file and key, where a checkpoint's layout is not the ``expected`` one."""
    found = read_layout(folder)
    for key, value in expected.items():
        if found.get(key) != value:
            raise ConfigError(
                f"{folder / LAYOUT}: {key} is {found.get(key)}, but the run is configured for {value}"
            )

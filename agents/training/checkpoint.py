# SPDX-License-Identifier: GPL-2.0-or-later
"""What is in a checkpoint? A trained policy, or a controller of the simulator with tuned attributes.

A checkpoint's ``layout.json`` says which: {"agent", "settings", "fields", "action_map", "slots"} of a
policy, whose agent's trainer wrote the other files; {"controller", "attributes"} of a controller, which needs
no other.

All files of a checkpoint are JSON or arrays (``arrays``): reading them runs nothing that is in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from agents.registry import find_agent
from agents.training.config import EnvConfig, Named, RunConfig
from agents.training.run_folder import RunFolder, read_json
from ns3_env.errors import ConfigError
from ns3_env.policy import Policy
from ns3_env.scenario import Clock, Controller
from ns3_env.strict import Strict, validate

LAYOUT = "layout.json"
#: Names of files that hold pickled objects, which run code where they are read.
_PICKLES = (".zip", ".pkl", ".pickle", ".pth", ".pt")


class PolicyLayout(Strict):
    """What a policy's networks are bound to.

    Attributes:
        agent: its name.
        settings: its section of the configuration.
        fields: telemetry fields of the observation.
        action_map: what its actions mean.
        slots: of the environment that it was trained in.
    """

    agent: str
    settings: dict[str, Any]
    fields: list[str]
    action_map: str
    slots: int = Field(ge=1)


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
        ConfigError: there is none, or it is of an agent that is not known here, or could run code.
    """
    folder = find_checkpoint(path)
    layout = read_layout(folder)
    if "controller" in layout:
        return _controller(folder, layout)
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
    return _controller(folder, layout)


def _controller(folder: Path, layout: Mapping[str, Any]) -> Controller:
    named = {"name" if key == "controller" else key: value for key, value in layout.items()}
    return validate(named, Controller, str(folder / LAYOUT))


def _policy(folder: Path, layout: Mapping[str, Any]) -> Policy:
    try:
        agent = find_agent(str(layout.get("agent")))
    except ValueError as error:
        raise ConfigError(f"{folder / LAYOUT}: {error}") from error
    return agent.trainer.load_policy(folder, layout)


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
    (folder / LAYOUT).write_text(json.dumps(layout, indent=1), encoding="utf-8")


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

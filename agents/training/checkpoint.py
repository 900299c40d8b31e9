# SPDX-License-Identifier: GPL-2.0-or-later
"""Checkpoints and files: a trained policy, or a controller of the simulator with tuned attributes.

A checkpoint's ``layout.json`` records which: {"agent", "settings", "fields", "action_map", "slots"} of a
policy, whose agent's trainer wrote the other files; {"controller", "attributes"} of a controller, which needs
no other, but for ``policy.safetensors`` if it evaluates one. A controller's file is YAML with the same two.

Evaluated is ``policy.safetensors`` (docs/policy-format.md), which needs no agent's code; the trainer's
arrays (``layout``) are for resuming, and for custom agents that do not specify how their network becomes
such a file. Reading any of them executes none of their contents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ns3_env.agents.configuration.config import EnvConfig, Named
from ns3_env.agents.configuration.inputs import try_controller
from ns3_env.agents.configuration.registry import find_agent
from ns3_env.agents.configuration.run_folder import RunFolder, read_json
from ns3_env.agents.training.layout import read_layout, refuse_pickles
from ns3_env.config.model import validate
from ns3_env.errors import ConfigError
from ns3_env.policies.file import POLICY_FILE, read_policy
from ns3_env.policies.header import PolicySpec
from ns3_env.policies.native_policy import NetworkPolicy
from ns3_env.policies.policy import Policy
from ns3_env.policies.released import LAYOUT, policy_path, released_names
from ns3_env.programs.transport import TRANSPORTS
from ns3_env.scenario import Clock, Controller
from ns3_env.scenario.controllers import CONTROLLER_ENDINGS, read_controller
from ns3_env.simulator import Simulator, list_controllers

if TYPE_CHECKING:
    from ns3_env.agents.training.trainer import Trainer


@dataclass(frozen=True)
class TrainedPolicy:
    """A policy and the environment it was trained in.

    Attributes:
        policy: the policy.
        env: configuration with fields and action map.
        clock: clock of its training; None if unknown.
    """

    policy: Policy
    env: EnvConfig
    clock: Clock | None = None


@dataclass(frozen=True)
class Checkpoint:
    """Meaning of a path or of a released policy's name: a file of a policy or controller, or a checkpoint's
    folder.

    Attributes:
        folder: folder of the checkpoint; None for a single file.
        policy_file: policy's file that the simulator can run; None for a controller, and for an agent that
            does not define how its network becomes one.
        controller_file: YAML file of a controller.
    """

    folder: Path | None
    policy_file: Path | None
    controller_file: Path | None = None

    @property
    def is_controller(self) -> bool:
        """Returns whether it is a controller with attributes, and no network. Raises ConfigError."""
        if self.folder is None or self.policy_file is not None:
            return self.controller_file is not None
        return "controller" in read_layout(self.folder)

    def load(self) -> TrainedPolicy | Controller:
        """The policy with its environment, or the tuned controller.

        Raises:
            ConfigError: its agent is unknown here, or it could run code; or the simulator refuses
                the controller.
        """
        if self.controller_file is not None:
            return _of_file(self.controller_file)
        if self.folder is None:
            assert self.policy_file is not None
            return _trained(NetworkPolicy.load(self.policy_file))
        layout = read_layout(self.folder)
        if "controller" in layout:
            return _controller(self.folder, layout)
        return _trained(_policy(self.folder, layout), layout.get("clock"))

    def policy(self) -> Policy:
        """Only the policy. Raises ConfigError, also if it is a controller."""
        content = self.load()
        if isinstance(content, Controller):
            raise ConfigError(f"{self.folder or self.controller_file}: contains a controller, no policy")
        return content.policy

    def controller(self) -> Controller:
        """The tuned controller. Raises ConfigError if it is a policy."""
        content = self.load()
        if isinstance(content, TrainedPolicy):
            raise ConfigError(f"{self.folder or self.policy_file}: holds no tuned controller")
        return content

    @property
    def files(self) -> list[Path]:
        """The files that decide how it behaves."""
        if (file := self.policy_file or self.controller_file) is not None:
            return [file]
        assert self.folder is not None
        return sorted(file for file in self.folder.rglob("*") if file.is_file())

    def portable(self) -> tuple[str, dict[str, bytes | Mapping[str, bytes]]]:
        """The path that names it on a machine with only ``files``, and their content. Raises OSError."""
        if (path := self.policy_file or self.controller_file) is not None:
            file = str(path.absolute())
            return file, {file: path.read_bytes()}
        folder = self.folder
        assert folder is not None
        return str(folder), {
            str(folder): {str(file.relative_to(folder)): file.read_bytes() for file in self.files}
        }


def resolve(path: Path) -> Checkpoint:
    """Finds the policy or the checkpoint that ``path`` refers to.

    Args:
        path: name of a released policy, a policy's file or the folder of one, a controller's file, a
            checkpoint, or a run, which means its newest checkpoint.

    Raises:
        ConfigError: there is no such checkpoint.
    """
    path = policy_path(path)
    if path.is_file():
        return Checkpoint(None, None, path) if path.suffix in CONTROLLER_ENDINGS else Checkpoint(None, path)
    if not (path / LAYOUT).exists():
        try:
            path = RunFolder(path).latest_checkpoint()[0]
        except (ConfigError, OSError):
            what = (
                "is neither a checkpoint nor a training run with one" if path.exists() else "does not exist"
            )
            raise ConfigError(
                f"checkpoint: {path} {what}: name runs/NAME, runs/NAME/checkpoints/NUMBER, a policy's or a "
                f"controller's file, or a released policy ({', '.join(released_names())})"
            ) from None
    file = path / POLICY_FILE
    return Checkpoint(path, file if file.exists() else None)


def checkpoints_of(run: Path) -> list[tuple[int, Path]]:
    """The checkpoints in a run's folder with the decisions that each has learned from, the oldest first.

    Of several in a row that behave alike the first and the last. Raises ConfigError if decisions were not
    counted.
    """
    checkpoints: list[tuple[int, Path]] = []
    for folder in RunFolder(run).kept():
        decisions = read_json(folder / "state.json").get("decisions")
        if not isinstance(decisions, int):
            raise ConfigError(f"{folder}: does not list its decisions: a search has search.decisions")
        checkpoints.append((decisions, folder))
    contents = [[file.read_bytes() for file in resolve(folder).files] for _, folder in checkpoints]
    alike = [one == other for one, other in pairwise(contents)]
    return [
        x
        for x, before, after in zip(checkpoints, [False, *alike], [*alike, False], strict=False)
        if not (before and after)
    ]


def _trained(policy: Policy, clock: Mapping[str, Any] | None = None) -> TrainedPolicy:
    """The policy, and its file's environment; of a policy without a file its fields, action map and clock."""
    if not isinstance(policy, NetworkPolicy):
        settings: Mapping[str, Any] = getattr(policy, "action_settings", {})
        task_settings = {"fields": policy.fields, "action": {**settings, "name": policy.action_map}}
        if clock is None:
            return TrainedPolicy(policy, EnvConfig.model_validate(task_settings))
        env = EnvConfig.model_validate({**task_settings, "clock": clock})
        return TrainedPolicy(policy, env, env.clock)
    return TrainedPolicy(policy, env_of(policy.spec), policy.spec.clock)


def env_of(spec: PolicySpec) -> EnvConfig:
    """The environment that a policy's file describes: fields, telemetry's bytes, action map and clock."""
    return EnvConfig(
        fields=list(spec.fields),
        action=Named.model_validate(spec.action),
        clock=spec.clock,
        decision_quantum_ns=spec.decision_quantum_ns,
        telemetry_bytes=spec.telemetry_bytes,
    )


def _of_file(path: Path) -> Controller:
    """The controller in a file. Raises ConfigError if the simulator refuses it."""
    controller = read_controller(path)
    transport = next(x for x in TRANSPORTS if controller.name in list_controllers(transport=x))
    with Simulator() as simulator:
        try_controller(simulator, controller, str(path), transport)
    return controller


def _controller(folder: Path, layout: Mapping[str, Any]) -> Controller:
    data = {"name" if key == "controller" else key: value for key, value in layout.items()}
    controller = validate(data, Controller, str(folder / LAYOUT))
    policy_file = folder / POLICY_FILE
    if not policy_file.exists():
        return controller
    read_policy(policy_file)  # its faults are reported here, not by a simulator later
    return controller.model_copy(
        update={"attributes": {**controller.attributes, "File": str(policy_file.absolute())}}
    )


def _policy(folder: Path, layout: Mapping[str, Any]) -> Policy:
    refuse_pickles(folder)
    if (folder / POLICY_FILE).exists():
        return NetworkPolicy.load(folder / POLICY_FILE)
    trainer = trainer_of(folder, layout)
    if trainer.exports() and layout.get("inside", True):
        raise ConfigError(f"{folder}: has no {POLICY_FILE}: incomplete, or written by an older version")
    return trainer.load(folder, layout).policy


def trainer_of(folder: Path, layout: Mapping[str, Any]) -> type[Trainer]:
    """The trainer that wrote a checkpoint. Raises ConfigError if its agent is not known here."""
    try:
        return find_agent(str(layout.get("agent"))).trainer
    except ValueError as error:
        raise ConfigError(f"{folder / LAYOUT}: {error}") from error

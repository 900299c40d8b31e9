# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion controllers of flows, by name, and clocks: when a flow under a policy decides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from ns3_env.config.bounds import Bdps, Nanoseconds, Rtts
from ns3_env.config.files import write_atomically
from ns3_env.config.model import Strict, named_by, nearest, shown, validate
from ns3_env.config.yaml import read_mapping, to_text
from ns3_env.errors import ConfigError, SimulatorNotFound
from ns3_env.programs.executable import describe_controllers
from ns3_env.programs.parameters import with_preset
from ns3_env.programs.transport import TRANSPORTS

#: The controller that requests decisions across the channel.
AGENT = "agent"
#: The controller whose decisions come from a policy's file, inside the simulator.
POLICY = "policy"
#: Endings of controllers' files (other files are policies); the name of one in a run's folder.
CONTROLLER_ENDINGS = (".yaml", ".yml")
CONTROLLER_FILE = "controller.yaml"
#: The first line of files by ``write_controller``.
CONTROLLER_HEAD = (
    "# A controller of ns3-env: --checkpoint NAME=FILE, or {file: FILE} among a scenario's controllers\n"
)


class Controller(Strict):
    """A congestion controller by name, and its ns-3 attributes; a bare name means {name: NAME}.

    ``parameters: paper`` means the attributes that the controller's own paper sets, ``published``, the
    default, for the published simulator's. ``{file: controller.yaml}`` means the contents of that file
    (``read_controller``), which lies next to the scenario's.
    """

    name: str = Field(min_length=1)
    attributes: dict[str, bool | int | float | str] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any, info: ValidationInfo) -> Any:
        if isinstance(data, Mapping) and data.keys() == {"file"}:
            folder = (info.context or {}).get("folder", "")
            return read_controller(Path(folder, str(data["file"]))).model_dump()
        return {"name": data} if isinstance(data, str) else with_preset(data, "name")


def read_controller(path: Path) -> Controller:
    """Reads a controller's file: YAML with ``name`` and ``attributes``, as a scenario's ``controllers`` have.

    Raises ConfigError, naming the file: not a controller's file, or an unknown controller or attribute.
    """
    if path.suffix not in CONTROLLER_ENDINGS:
        raise ConfigError(
            f"{path}: a controller's file is YAML and ends in .yaml; a policy's file is "
            f"{{name: policy, attributes: {{File: {path.name}}}}}"
        )
    data = read_mapping(path)
    if "file" in data:
        raise ConfigError(f"{path}: file: this is a controller's file: it has name and attributes itself")
    controller = validate(data, Controller, str(path))
    attributes: dict[str, set[str]] = {}
    for transport in TRANSPORTS:
        with suppress(SimulatorNotFound):
            for name, declared in describe_controllers(transport=transport).items():
                attributes.setdefault(name, set()).update(declared["attributes"])
    names = sorted(attributes.keys() - {AGENT, POLICY})
    if controller.name not in names:
        raise ConfigError(
            f"{path}: name: there is no controller {shown(controller.name)}{nearest(controller.name, names)} "
            f"of {', '.join(names)}"
        )
    for name in controller.attributes:
        if name not in attributes[controller.name]:
            names = sorted(attributes[controller.name])
            raise ConfigError(
                f"{path}: attributes: {controller.name} has no attribute {shown(name)}{nearest(name, names)} "
                f"of {', '.join(names)}"
            )
    return controller


def write_controller(path: Path, controller: Controller) -> None:
    """Writes a controller's file for ``read_controller``, complete or not at all. Raises OSError."""
    write_atomically(path, CONTROLLER_HEAD + to_text(controller.model_dump(mode="json")))


class PerFlowRtt(Strict):
    """Each flow decides again after a fraction of its last RTT (Zhang 2023, section 4.2)."""

    name: Literal["per_flow_rtt"] = "per_flow_rtt"
    rtt_fraction: Rtts = Field(default=0.5, gt=0)
    start_bdps: Bdps = Field(
        default=0.0,
        ge=0,
        description="above 0: and first before its first packet, from only its size and path, with a "
        "window of this number of BDPs",
    )

    @model_serializer(mode="wrap")
    def _without_default(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        content: dict[str, Any] = write(self)
        if self.start_bdps == 0:  # the bytes of other files stay as they are
            del content["start_bdps"]
        return content


class Synchronous(Strict):
    """Every live flow decides at a fixed interval."""

    name: Literal["synchronous"] = "synchronous"
    interval_ns: Nanoseconds = Field(default=10_000, gt=0)


class PerAck(Strict):
    """A flow decides on each of its ACKs, on the spot, as a controller inside the simulator does."""

    name: Literal["per_ack"] = "per_ack"


class PerNotification(Strict):
    """A flow decides at each feedback frame that a switch sends it (``switch.congestion_points``), and not
    before the first one."""

    name: Literal["per_notification"] = "per_notification"


_Clocks = PerFlowRtt | Synchronous | PerAck | PerNotification


Clock = Annotated[_Clocks, Field(discriminator="name"), BeforeValidator(named_by("name", _Clocks))]

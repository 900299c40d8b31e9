# SPDX-License-Identifier: GPL-2.0-or-later
"""Search subject: a controller's attributes, checked by the simulator, each a coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from ns3_env.agents.configuration.inputs import try_controller
from ns3_env.agents.search.config import Attributes, ControllerConfig, Parameter
from ns3_env.agents.search.subject import ParametersSubject, Point, Values, coordinate
from ns3_env.agents.training.layout import controller_layout, write_layout
from ns3_env.config.model import nearest
from ns3_env.errors import ConfigError
from ns3_env.programs.transport import Transport
from ns3_env.scenario import AGENT, Controller
from ns3_env.simulator import Simulator, default_attributes, list_controllers

#: A setting within this share of its range's width is at its end.
_END = 0.02
#: Inner point at which a range is tried: in a range of integers it is never one of them.
_INSIDE = 0.3819


class AttributesSubject(ParametersSubject):
    """Attributes of one of the simulator's controllers."""

    def __init__(self, config: ControllerConfig, parameters: Mapping[str, Parameter]) -> None:
        super().__init__(parameters)
        self.config = config
        self.label = f"{config.name}-tuned"
        untuned = Controller(name=config.name, attributes={**config.attributes, **config.compare})
        self.before = f"{config.name}-untuned", untuned

    def describe(self, point: Point) -> Values:
        """The parameters' values; at the start exactly those of the configuration."""
        if np.array_equal(point, self.space.start):
            starts = self.parameters.items()
            return {name: round(p.start or 0.0) if p.integer else float(p.start or 0.0) for name, p in starts}
        return super().describe(point)

    def controller(self, point: Point, folder: Path | None = None) -> Controller:
        """See ``Subject``; nothing is written."""
        searched: Attributes = {}
        for name, value in self.describe(point).items():
            assert not isinstance(value, str)
            searched[name] = self.parameters[name].attribute(value)
        return Controller(name=self.config.name, attributes={**self.config.attributes, **searched})

    def save(self, point: Point, folder: Path) -> None:
        write_layout(folder, controller_layout(self.controller(point)))

    def remarks(self, controller: Controller) -> list[str]:
        """Ranges with the best setting at an end."""
        return find_ends(self.parameters, controller.attributes)


def find_ends(parameters: Mapping[str, Parameter], attributes: Attributes) -> list[str]:
    """A line for each range with the best setting at an end: better ones may lie beyond."""
    lines = []
    for name, parameter in parameters.items():
        value = parameter.number(attributes[name])
        assert value is not None
        share = coordinate(parameter, value)
        if not parameter.integer and not _END < share < 1 - _END:
            lines.append(
                f"{name} = {value:.3g} is at an end of its range, {parameter.low:g} to "
                f"{parameter.high:g}: to let it go beyond, widen controller.parameters.{name}"
            )
    return lines


def with_starts(
    controller: ControllerConfig, source: str, transport: Transport = "rdma"
) -> dict[str, Parameter]:
    """The parameters, each with a ``start``: its own, or the attribute's default.

    Args:
        controller: name of the controller and the ranges of its attributes.
        source: start of the errors' text.
        transport: transport of the controller.

    Raises:
        ConfigError: there is no such controller or attribute, or it refuses the values of its range;
            nothing has run.
    """
    _check_names(controller, source, transport)
    defaults = default_attributes(controller.name, transport)
    parameters = {}
    for name, parameter in controller.parameters.items():
        place = f"{source}: controller.parameters.{name}"
        start = parameter.start if parameter.start is not None else parameter.number(defaults[name])
        if start is None:
            unit = f" of the unit {parameter.unit!r}" if parameter.unit else ""
            raise ConfigError(
                f"{place}: {defaults[name]!r} is no number{unit} to search; of a time, give the unit"
            )
        if not parameter.low <= start <= parameter.high:
            raise ConfigError(f"{place}: its default, {start:g}, is not between low and high: give a start")
        parameters[name] = parameter.model_copy(update={"start": start})
    with Simulator() as simulator:
        for section, fixed in (("attributes", controller.attributes), ("compare", controller.compare)):
            candidate = Controller(name=controller.name, attributes=fixed)
            try_controller(simulator, candidate, f"{source}: controller.{section}", transport)
        for name, parameter in parameters.items():
            place = f"{source}: controller.parameters.{name}"
            inside = parameter.low + _INSIDE * (parameter.high - parameter.low)
            for value in (parameter.low, parameter.high, inside):
                number = round(value) if parameter.integer else value
                text = f"{place}: {parameter.attribute(number)} is refused"
                candidate = Controller(name=controller.name, attributes={name: parameter.attribute(number)})
                hint = " A parameter of whole numbers has 'integer: true'."
                try_controller(simulator, candidate, text, transport, hint)
    return parameters


def _check_names(controller: ControllerConfig, source: str, transport: Transport) -> None:
    """Raises ConfigError if the controller or one of the attributes does not exist."""
    controllers = [name for name in list_controllers(transport=transport) if name != AGENT]
    if controller.name not in controllers:
        raise ConfigError(
            f"{source}: controller.name: there is no {controller.name!r} in the simulator"
            f"{nearest(controller.name, controllers)} of {', '.join(controllers)}"
        )
    attribute_names = sorted(default_attributes(controller.name, transport))
    for section in ("parameters", "attributes", "compare"):
        for name in getattr(controller, section):
            if name not in attribute_names:
                raise ConfigError(
                    f"{source}: controller.{section}: {controller.name} has no attribute {name!r}"
                    f"{nearest(name, attribute_names)} of {', '.join(attribute_names)}"
                )

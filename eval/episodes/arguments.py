# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks controllers' names, and applies ``key=value`` to a scenario and its controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ns3_env.agents.configuration.inputs import apply_overrides
from ns3_env.config.command_line import typed
from ns3_env.config.folders import data_names, find_file
from ns3_env.config.gone import farewell
from ns3_env.config.model import LIKE, nearest, validate
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError, ScenarioError, SimulatorNotFound
from ns3_env.eval.episodes.entry import Entry
from ns3_env.policies.released import controller_names, is_released, unfit
from ns3_env.programs.transport import SHOWN, TRANSPORTS, Transport, other
from ns3_env.scenario import POLICY, Controller, Scenario
from ns3_env.simulator import default_attributes, list_controllers


def check_names(names: Sequence[str], transport: Transport = "rdma") -> None:
    """Raises ScenarioError for a controller that is neither the transport's nor a released policy which can
    run under it, or that is listed twice."""
    rules = controller_names(transport)
    for i, name in enumerate(names):
        if name not in rules:
            fault = wrong(name, transport)
            raise ScenarioError(
                f"--controllers: {fault}; known: {', '.join(rules)}{nearest(name, rules, LIKE)}"
            )
        if name in names[:i]:
            raise ScenarioError(f"--controllers: {name!r} is there twice")


def wrong(name: str, transport: Transport, whose: str = "the scenario's transport") -> str:
    """Explains why a controller's name is not valid under the transport.

    Args:
        name: name of the controller.
        transport: transport of the scenario.
        whose: name of the transport, for the error.
    """
    if name == POLICY:
        return f"{name!r} plays a policy's file: name it, --checkpoint NAME=FILE"
    if is_released(Path(name)):
        return f"{name!r} cannot play: it observes {unfit(name, transport)}"
    if name in _of(other(transport)):
        return f"{name!r} is {SHOWN[other(transport)]}'s, and {whose} is {transport}"
    return farewell("policy", name) or f"unknown controller {name!r}"


def is_known(name: str) -> bool:
    """Returns whether a name is that of a controller of some transport, or of a released policy."""
    return any(name in _of(transport) for transport in TRANSPORTS)


def _of(transport: Transport) -> list[str]:
    """Nothing if its simulator is not installed."""
    try:
        return controller_names(transport)
    except SimulatorNotFound:
        return []


#: Controller -> its attributes and their values.
Attributes = dict[str, dict[str, bool | int | float | str]]


@dataclass(frozen=True)
class Given:
    """A command line's words on a run.

    Attributes:
        scenario: scenario of the file, with ``key=value`` applied.
        attributes: attributes set on the command line, by controller.
        cell: entry of the benchmark's cell that the config.yaml belongs to; None: the file is no cell's.
        title: title in figures.
    """

    scenario: Scenario
    attributes: Attributes
    cell: Entry | None
    title: str


def read_scenario(scenario_file: Path, names: Sequence[str], overrides: Sequence[str]) -> Given:
    """The scenario in a file with ``key=value`` put in.

    Args:
        scenario_file: the scenario's YAML, its name, or the config.yaml of a benchmark's cell.
        names: names of the controllers to run; none: the scenario's own.
        overrides: "key=value" of the scenario, dotted, and "NAME.ATTRIBUTE=value" of one of the controllers.

    Raises:
        ScenarioError: the file, a key or a value is wrong, or a name is not a controller of the transport.
        ConfigError: an override is not of the form key=value.
    """
    try:
        file = find_file(scenario_file, "configs/scenarios")
    except ConfigError as error:
        if str(scenario_file) in data_names("configs/suites"):
            raise ScenarioError(
                f"{scenario_file}: is a suite: {typed('eval')} benchmark {scenario_file}"
            ) from None
        raise ScenarioError(str(error)) from None
    data = read_mapping(file, ScenarioError)
    source, title, cell = str(file), file.stem, None
    if isinstance(data.get("scenario"), dict):  # a cell: cells/SCENARIO/CONTROLLER/seed-N/config.yaml
        if "controller" in data:
            cell = validate(data["controller"], Entry, f"{file}: controller", raises=ScenarioError)
        source, title = str(data.get("source") or file), "".join(file.absolute().parts[-4:-3]) or file.stem
        data = data["scenario"]
    of_controllers = [text for text in overrides if _is_attribute(text)]
    rest = [text for text in overrides if text not in of_controllers]
    changed = apply_overrides(data, rest)
    scenario = Scenario.from_mapping(
        changed, f"{source}, with {', '.join(rest)}" if rest else source, file.parent
    )
    check_names([name for name in names if cell is None or name != cell.name], scenario.transport)
    by_name = apply_overrides({}, of_controllers)
    attributes: Attributes = {}
    playing = names or [x.name for x in scenario.controllers]
    for name, values in by_name.items():
        if name not in playing:
            whose = "--controllers" if names else "the scenario's controllers"
            raise ScenarioError(f"command line: {name}: is not among {whose}, {', '.join(playing)}")
        whole = {"name": name, "attributes": values}
        attributes[name] = validate(whole, Controller, "command line", raises=ScenarioError).attributes
        _check(name, attributes[name], scenario.transport)
    return Given(scenario, attributes, cell, title)


def _is_attribute(text: str) -> bool:
    """Returns whether the text is "NAME.ATTRIBUTE=value" of a controller, and no key of a scenario."""
    first, dot, _ = text.partition("=")[0].partition(".")
    return bool(dot) and first not in Scenario.model_fields and is_known(first)


def _check(name: str, attributes: dict[str, bool | int | float | str], transport: Transport) -> None:
    has_some = name in list_controllers(transport=transport)
    attribute_names = list(default_attributes(name, transport)) if has_some else []
    for attribute in attributes:
        if attribute not in attribute_names:
            raise ScenarioError(
                f"command line: {name}.{attribute}: {name} has no attribute {attribute!r}"
                f"{nearest(attribute, attribute_names)}"
            )

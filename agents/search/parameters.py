# SPDX-License-Identifier: GPL-2.0-or-later
"""Which attributes does a controller of the simulator have, and which values do they take? It is asked."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from difflib import get_close_matches

from agents.search.config import Attributes, MpccAgent, Parameter
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.scenario import Controller, Scenario
from ns3_env.simulator import Simulator, find_executable

#: Where a range is tried beside its ends: a point that is no whole number in any range of whole numbers.
_INSIDE = 0.3819


def defaults(controller: str) -> dict[str, str]:
    """Attributes and their default values, as text. Raises SimulatorError."""
    command = [str(find_executable()), f"--PrintAttributes=rdma::{controller}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return dict(re.findall(rf"--rdma::{controller}::(\w+)=\[(.*?)\]", done.stdout))


def started(agent: MpccAgent, source: str) -> dict[str, Parameter]:
    """The parameters, each with a ``start``: its own, or the attribute's default.

    Raises:
        ConfigError: there is no such attribute, or it does not take the values of its range; nothing has run.
    """
    known = defaults(agent.name)
    for section, names in (("parameters", agent.parameters), ("attributes", agent.attributes)):
        for name in names:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.0)[0]
                raise ConfigError(
                    f"{source}: agent.{section}: {agent.name} has no attribute {name!r}; the nearest is "
                    f"{near!r} of {', '.join(sorted(known))}"
                )
    found = {}
    for name, parameter in agent.parameters.items():
        start = parameter.start if parameter.start is not None else _number(known[name])
        if start is None:
            raise ConfigError(f"{source}: agent.parameters.{name}: {known[name]!r} is no number to search")
        if not parameter.low <= start <= parameter.high:
            raise ConfigError(
                f"{source}: agent.parameters.{name}: its default, {start:g}, is not between low and high: "
                "give a start"
            )
        found[name] = parameter.model_copy(update={"start": start})
    with Simulator() as simulator:
        _try(simulator, agent.name, agent.attributes, f"{source}: agent.attributes")
        for name, parameter in found.items():
            place = f"{source}: agent.parameters.{name}"
            inside = parameter.low + _INSIDE * (parameter.high - parameter.low)
            for value in (parameter.low, parameter.high, inside):
                number = round(value) if parameter.integer else value
                _try(simulator, agent.name, {name: number}, f"{place}: {number:g} is refused")
    return found


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _try(simulator: Simulator, controller: str, attributes: Mapping[str, object], place: str) -> None:
    given: Attributes = dict(attributes)  # type: ignore[arg-type]
    scenario = Scenario(time_limit_ns=1, controllers=[Controller(name=controller, attributes=given)])
    try:
        simulator.send_reset(scenario)
        simulator.receive()
    except ScenarioError as error:
        hint = " A parameter of whole numbers has 'integer: true'." if "it takes int" in str(error) else ""
        raise ConfigError(f"{place}: {error}{hint}") from error

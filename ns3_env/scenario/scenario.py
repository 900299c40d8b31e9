# SPDX-License-Identifier: GPL-2.0-or-later
"""Typed scenario: network, traffic, controllers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic import (
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from ns3_env.config.folders import find_file
from ns3_env.config.model import shown, validate
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError, ScenarioError, ScenarioWarning
from ns3_env.programs.executable import network_bounds
from ns3_env.programs.transport import other
from ns3_env.scenario.checks import TRANSPORT_KEYS, faults_of, warnings_of
from ns3_env.scenario.controllers import AGENT, POLICY, Controller
from ns3_env.scenario.derived import agent_ports, controller_indices, draw_flows, played_controllers
from ns3_env.scenario.fields import ScenarioFields
from ns3_env.scenario.simulator_json import refusal, resolved, simulator_json, simulator_text
from ns3_env.scenario.tcp_queue import Tcp
from ns3_env.scenario.traffic import ENDLESS_BYTES, Flows, Group


class Scenario(ScenarioFields):
    """One episode's network, traffic and controllers.

    Every flow is under the first of ``controllers``; with ``controlled_flows``, those flows are under "agent"
    (or "policy", a policy's file) and all other flows under the first other controller; a traffic's own
    ``controller`` comes before both. Flows under "agent" have the slots 0, 1, ... in the order of the flow
    list.

    The preset gives ``timing`` its default: "exact" (picoseconds) in ``default``, "published" (whole
    nanoseconds and the published simulator's other accidents) in ``published``. ``switch.ecn: auto`` marks as
    the controllers that the flows are under are published with, as each declares it (``published_ecn``).

    ``transport`` is the flows' transport protocol, which determines the simulator, which controllers there
    are, and which keys: ``tcp`` is TCP's; ``preset``, ``timing``, ``payload_bytes``, ``min_rate_bps``,
    ``switch`` and ``retransmission_timeout_ns`` are RDMA's.
    """

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str, folder: str | Path = "") -> Scenario:
        """The scenario of these keys.

        Args:
            data: keys and values, as in a YAML file.
            source: name of the source, for errors.
            folder: folder in which the scenario's other files are looked up; "": the working directory.

        Raises:
            ScenarioError: a line per fault, with ``source`` and the key.
        """
        context = {"folder": folder, "source": source}
        scenario = validate(data, cls, source, raises=ScenarioError, context=context)
        scenario._source = source
        return scenario

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """The scenario in a YAML file. Raises ScenarioError, naming file and key."""
        return cls.from_mapping(read_mapping(path, ScenarioError), str(path), Path(path).parent)

    @classmethod
    def of(cls, form: ScenarioLike, source: str = "scenario") -> Scenario:
        """The scenario that a user names: itself, its keys, its YAML file, or the name of one that comes with
        the package ("dumbbell_100g_4to1"; ``ns3-env list scenarios``).

        Args:
            form: one of these.
            source: name of the source, for errors in keys.

        Raises:
            ScenarioError: there is no such file or name, or the scenario is wrong.
        """
        if isinstance(form, Scenario):
            return form
        if isinstance(form, Mapping):
            return cls.from_mapping(form, source)
        if not isinstance(form, str | PathLike):
            raise ScenarioError(
                f"{source}: is {shown(form)}: write a Scenario, its keys, its file, or a name of "
                "`ns3-env list scenarios`"
            )
        try:
            file = find_file(Path(form), "configs/scenarios")
        except ConfigError as error:
            raise ScenarioError(f"{source}: {error}") from None
        if not file.exists():
            raise ScenarioError(f"{source}: {file}: there is no such file")
        return cls.load(file)

    def with_seed(self, seed: int) -> Scenario:
        """The same scenario with another seed."""
        return self.model_copy(update={"seed": seed})

    def under(
        self, controller: str, attributes: Mapping[str, bool | int | float | str] | None = None
    ) -> Scenario:
        """The scenario with its flows under one controller, "agent" for a policy.

        The controller keeps the attributes that the scenario gives it; ``attributes`` override them. Flows
        that the traffic itself puts under a controller stay there, except under a bound, which has them all.

        Raises:
            ScenarioError: the traffic puts flows under "agent", and there is no policy.
        """
        base_attributes = next((x.attributes for x in self.controllers if x.name == controller), {})
        first = Controller(name=controller, attributes={**base_attributes, **(attributes or {})})
        bounds = network_bounds(self.transport)
        if controller in bounds:
            traffic = self.traffic.without_controllers()
            groups = {name: Group() for name in self.groups}
            update = {"controllers": [first], "controlled_flows": None, "traffic": traffic}
            return self.model_copy(update={**update, "groups": groups, "classes": []})
        if controller != AGENT and AGENT in self.named_controllers():
            raise ScenarioError(
                f"{self.source}: {self._agents_key()}: flows under {AGENT!r} need a policy; "
                "name one of the simulator's controllers, or none"
            )
        others = [x for x in self.controllers if x.name not in {AGENT, controller, *bounds}]
        return self.model_copy(update={"controllers": [first, *others], "controlled_flows": None})

    def with_agents(self, controllers: Sequence[Controller], flows: Sequence[int] | None) -> Scenario:
        """The scenario with these controllers, and only these of its flows under "agent"; None: all flows.

        Raises:
            ScenarioError: a line for each fault: there is no such flow, or the controllers do not fit.
        """
        update = {"controllers": [*controllers], "controlled_flows": None if flows is None else [*flows]}
        scenario = self.model_copy(update=update)
        scenario._initial_controllers = tuple(controllers)
        wrong = [x for x in flows or () if not isinstance(x, int)]
        faults = [f"controlled_flows: {shown(x)} is no flow's number" for x in wrong]
        if faults := faults or faults_of(scenario, self.topology.build()):
            raise ScenarioError("\n".join(f"{self.source or 'scenario'}: {fault}" for fault in faults))
        return scenario

    def playing(self, file: str | Path) -> Scenario:
        """The scenario with a policy's file instead of "agent": the simulator evaluates it itself.

        The scenario's settings of "agent" (its telemetry, its first window) apply to the policy; the clock is
        the file's.

        Raises:
            ScenarioError: the traffic itself puts flows under "agent".
        """
        if AGENT in self.named_controllers():
            raise ScenarioError(f"{self.source}: {self._agents_key()}: {AGENT!r} needs placement 'python'")
        controllers = [
            Controller(name=POLICY, attributes={**x.attributes, "File": str(file)}) if x.name == AGENT else x
            for x in self.controllers
            if x.name != POLICY
        ]
        return self.model_copy(update={"controllers": controllers})

    def named_controllers(self) -> set[str]:
        """Names of the controllers that traffic and groups themselves give to flows."""
        of_groups = {x.controller for x in self.groups.values() if x.controller is not None}
        return self.traffic.named_controllers() | of_groups

    def _agents_key(self) -> str:
        """Returns the key that puts flows under "agent"."""
        return "traffic.controller" if AGENT in self.traffic.named_controllers() else "groups"

    def with_agent(self, attributes: Mapping[str, bool | int | float | str]) -> Scenario:
        """The scenario with attributes of "agent", unless it sets them itself."""
        controllers = [
            x.model_copy(update={"attributes": {**attributes, **x.attributes}}) if x.name == AGENT else x
            for x in self.controllers
        ]
        return self.model_copy(update={"controllers": controllers})

    @model_validator(mode="after")
    def _fits_together(self, info: ValidationInfo) -> Scenario:
        network = self.topology.build()
        if faults := faults_of(self, network):
            raise ValueError("\n".join(faults))
        self._initial_controllers = tuple(self.controllers)
        source = (info.context or {}).get("source")
        for warning in warnings_of(self, network):
            warnings.warn(f"{source}: {warning}" if source else warning, ScenarioWarning, stacklevel=2)
        return self

    @model_serializer(mode="wrap")
    def _without_the_other_transport(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leaves out the other transport's keys, which have no effect."""
        content: dict[str, Any] = handler(self)
        return {key: content[key] for key in content if key not in TRANSPORT_KEYS[other(self.transport)]}

    def warnings(self) -> list[str]:
        """Lists settings that are simulated as written but are probably unintended: a line each, by
        key."""
        return warnings_of(self, self.topology.build())

    def measured_text(self) -> str:
        """ ", measured from 1 to 10 ms", as tables and reports write it; "" if the whole run counts."""
        span = self.measured_ns()
        return "" if span is None else f", measured from {span[0] / 1e6:g} to {span[1] / 1e6:g} ms"

    def without_files(self) -> Scenario:
        """The same scenario with the contents of its files written out, so that it needs no other file."""
        update = {
            "traffic": self.traffic.without_files(),
            "topology": self.topology.without_files(),
            "link_rates": [entry.without_files() for entry in self.link_rates],
        }
        return self.model_copy(update=update)

    def flows(self) -> Flows:
        """The flow list under the scenario's own seed."""
        return draw_flows(self, self.topology.build())

    @property
    def flow_count(self) -> int:
        """Flows of the scenario under its own seed."""
        return len(self.flows())

    def agent_flows(self) -> list[int]:
        """Indices of the flows under "agent"."""
        under = controller_indices(self, self.flows())
        players = played_controllers(self)
        return [flow for flow, i in enumerate(under) if players[i].name == AGENT]

    @property
    def agent_flow_count(self) -> int:
        """Flows under "agent": slots that an environment needs."""
        return len(self.agent_flows())

    @property
    def agent_ports(self) -> list[tuple[int, int]]:
        """Switch and neighbour of each port under ``switch.ecn_agents``, in the order of their slots."""
        return agent_ports(self, self.topology.build())

    @property
    def decides_at_ports(self) -> bool:
        """True if agents set thresholds of ports, instead of windows and rates of flows."""
        return self.switch.ecn_agents is not None

    @property
    def agent_count(self) -> int:
        """Flows, or ports, under an agent: slots that an environment needs."""
        return len(self.agent_ports) if self.decides_at_ports else self.agent_flow_count

    def has_endless_agents(self) -> bool:
        """Returns whether some flow under "agent" never ends."""
        sizes = self.flows().size_bytes
        return ENDLESS_BYTES in sizes and any(sizes[flow] == ENDLESS_BYTES for flow in self.agent_flows())

    def resolved_tcp(self) -> Tcp:
        """The section ``tcp`` with the declarations of the flows' controllers instead of ``auto``."""
        return resolved(self, controller_indices(self, self.flows()))

    def refusal(self, text: str) -> str:
        """Describes the simulator's complaint about it as an error with the file and the key."""
        return refusal(self, text)

    def to_simulator_json(self) -> dict[str, Any]:
        """Returns the input of the transport's simulator. Traffic is drawn from the scenario's seed."""
        return simulator_json(self)

    def to_simulator_text(self) -> str:
        """The same as JSON's text: cheap if an earlier scenario differs only in its seed."""
        return simulator_text(self)


#: Content of files by path; of a folder: that of its files by their names in it ("/" parts folders).
Files = Mapping[str, bytes | Mapping[str, bytes]]

_FILE = "File"


def named_files(controllers: Iterable[Controller]) -> set[str]:
    """Paths that the controllers name."""
    return {str(x.attributes[_FILE]) for x in controllers if x.name == POLICY and _FILE in x.attributes}


def read_files(paths: Iterable[str]) -> dict[str, bytes]:
    """Content of these files. Raises ScenarioError if one cannot be read."""
    try:
        return {path: Path(path).read_bytes() for path in paths}
    except OSError as error:
        raise ScenarioError(str(error)) from error


def renamed(scenario: Scenario, paths: Mapping[str, str]) -> Scenario:
    """The scenario with other paths instead of those that ``paths`` knows."""
    if not named_files(scenario.controllers) & paths.keys():
        return scenario
    controllers = [renamed_controller(controller, paths) for controller in scenario.controllers]
    return scenario.model_copy(update={"controllers": controllers})


def renamed_controller(controller: Controller, paths: Mapping[str, str]) -> Controller:
    """The controller with another path of its policy, if ``paths`` contains it."""
    path = str(controller.attributes.get(_FILE))
    if controller.name != POLICY or path not in paths:
        return controller
    return controller.model_copy(update={"attributes": {**controller.attributes, _FILE: paths[path]}})


#: A scenario, its keys, its YAML file, or the name of one that comes with the package.
ScenarioLike = Scenario | Mapping[str, Any] | str | PathLike[str]

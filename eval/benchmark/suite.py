# SPDX-License-Identifier: GPL-2.0-or-later
"""Typed suite of a benchmark: controllers x scenarios x seeds, from YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, field_validator, model_validator

from ns3_env.config.bounds import WallSeconds
from ns3_env.config.command_line import POLICY_HELP
from ns3_env.config.model import Strict, nearest, validate
from ns3_env.config.packaged import DATA
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.entries import controllers_of, scenarios_of
from ns3_env.eval.episodes.names import wrong
from ns3_env.policies.released import released_names, released_under
from ns3_env.programs.transport import TRANSPORTS, Transport
from ns3_env.scenario import AGENT, Scenario
from ns3_env.simulator import default_attributes, list_controllers

#: Suites that come with the project: NAME.yaml.
SUITE_FOLDER = DATA / "configs" / "suites"

#: Keys that say nothing of what a cell's result depends on.
LABELS = frozenset({"name", "grid", "family", "parameters"})

#: A value of a grid, as a table holds it.
Parameter = bool | int | float | str

#: A name is also a folder's.
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$", max_length=100)]


class OfGrid(Strict):
    """An entry that may stand for several: see ``ns3_env.eval.benchmark.grid``."""

    name: _Name
    grid: None = Field(default=None, description="axes; the suite holds the entries that it stands for")
    family: str = Field(default="", description="the name in the file, of entries that a grid made")
    parameters: dict[str, Parameter] = Field(default_factory=dict, description="the point of the grid")

    @property
    def of(self) -> str:
        """The family's name, or the entry's own."""
        return self.family or self.name


def in_full(name: str) -> dict[str, str]:
    """``hpcc`` stands for {name: hpcc, controller: hpcc}, a released policy's name for its checkpoint."""
    return {"name": name, "checkpoint" if name in released_names() else "controller": name}


class Contestant(OfGrid):
    """Who decides: a controller of the simulator, a Python policy or a trained checkpoint."""

    controller: str | None = Field(default=None, description="name in the simulator")
    policy: str | None = Field(default=None, description="pkg.module:factory")
    checkpoint: str | None = Field(
        default=None,
        description=POLICY_HELP,
    )
    placement: Literal["inside", "channel"] = Field(
        default="inside",
        description="where a checkpoint decides: in the simulator, or in Python, which the simulator asks",
    )
    attributes: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="of the simulator's controller"
    )
    content: str | None = Field(
        default=None, description="hash of the policy's source or the checkpoint; filled in by the benchmark"
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return in_full(data) if isinstance(data, str) else data

    @model_validator(mode="after")
    def _is_one_thing(self) -> Contestant:
        given = [key for key in ("controller", "policy", "checkpoint") if getattr(self, key) is not None]
        if len(given) != 1:
            what = " and ".join(given) if given else "nothing"
            raise ValueError(f"{self.name}: give one of controller, policy and checkpoint; there is {what}")
        if self.attributes and self.controller is None:
            raise ValueError(f"{self.name}: attributes belong to a controller of the simulator")
        return self


class SuiteScenario(OfGrid):
    """One scenario of a suite, whole."""

    title: str = ""
    group: str = Field(default="", description="scenarios with the same line stand together in the report")
    scenario: Scenario
    series: bool = Field(default=True, description="keep queue, rates and windows over time, of one seed")
    controllers: list[str] | None = Field(
        default=None, min_length=1, description="names of those that run here; none: all"
    )


class Suite(Strict):
    """A matrix of controllers, scenarios and seeds.

    ``policies`` (name: "pkg.module:factory") is short for controllers with a ``policy``.
    """

    title: str = ""
    controllers: list[Contestant] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0, lt=2**63)]] = Field(default=[1], min_length=1)
    scenarios: list[SuiteScenario] = Field(min_length=1)
    timeout_s: WallSeconds = Field(default=600, gt=0, description="wall time that one cell may take")

    _source: str = PrivateAttr(default="suite")

    @model_validator(mode="before")
    @classmethod
    def _policies_are_controllers(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("policies"), Mapping):
            return data
        own = [{"name": name, "policy": policy} for name, policy in data["policies"].items()]
        rest = {key: value for key, value in data.items() if key != "policies"}
        listed = data.get("controllers") or []
        # What is no list is refused by its own name.
        return {**rest, "controllers": [*listed, *own] if isinstance(listed, list) else listed}

    @field_validator("seeds")
    @classmethod
    def _different(cls, seeds: list[int]) -> list[int]:
        if len(set(seeds)) < len(seeds):
            raise ValueError("a seed is there twice")
        return seeds

    @model_validator(mode="after")
    def _names_fit(self) -> Suite:
        faults = []
        for key, names in (
            ("controllers", [x.name for x in self.controllers]),
            ("scenarios", [x.name for x in self.scenarios]),
        ):
            faults += [
                f"{key}: {name!r} is there twice" for name in sorted(set(names)) if names.count(name) > 1
            ]
        known = list(dict.fromkeys(name for x in self.controllers for name in (x.of, x.name)))
        faults += [
            f"scenarios.{i}.controllers: unknown controller {name!r}; the suite has {', '.join(known)}"
            for i, entry in enumerate(self.scenarios)
            for name in entry.controllers or []
            if name not in known
        ]
        if faults:
            raise ValueError("\n".join(faults))
        return self

    @property
    def source(self) -> str:
        """The file that errors name."""
        return self._source

    @classmethod
    def load(cls, path: str | Path) -> Suite:
        """The suite in a YAML file; a bare name is that of a suite in ``configs/suites``.

        Scenario files and the files that these name (flows, sizes, topologies) are looked for beside the
        file that names them, and become part of the suite. Raises ScenarioError, naming file, key and what is
        known.
        """
        file = Path(path)
        if not file.exists() and file.suffix == "" and file.parent == Path():
            file = SUITE_FOLDER / f"{file}.yaml"
        if not file.exists():
            raise ScenarioError(
                f"{path}: there is no such suite; known: {', '.join(known_suites())} "
                f"in {_shown(SUITE_FOLDER)}"
            )
        return cls.from_mapping(read_mapping(file, ScenarioError), str(path), file.parent)

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str, folder: Path = Path()) -> Suite:
        """The suite of these keys. Raises ScenarioError, a line per fault, with ``source`` and the key."""
        whole = dict(data)
        entries, controllers = whole.get("scenarios"), whole.get("controllers")
        if isinstance(entries, list):
            whole["scenarios"] = [
                made
                for i, entry in enumerate(entries)
                for made in scenarios_of(entry, f"{source}: scenarios.{i}", folder)
            ]
        if isinstance(controllers, list):
            whole["controllers"] = [
                made
                for i, entry in enumerate(controllers)
                for made in controllers_of(entry, f"{source}: controllers.{i}")
            ]
        made = validate(whole, cls, source, raises=ScenarioError)
        made._source = source
        return made

    def check_controllers(self) -> None:
        """Raises ScenarioError for a controller that the simulator of a scenario that it plays does not have,
        naming the known ones."""
        faults: list[str] = []
        for transport in TRANSPORTS:
            if played := self.played_under(transport):
                faults += self._unknown_to(transport, played)
        if faults:
            raise ScenarioError("\n".join(dict.fromkeys(faults)))

    def _unknown_to(self, transport: Transport, played: Mapping[str, str]) -> list[str]:
        """What is wrong with the controllers that play a transport's scenarios, a line each."""
        known = [name for name in list_controllers(transport=transport) if name != AGENT]
        faults = [
            f"{self.source}: controllers.{i}: "
            f"{wrong(entry.controller, transport, f'the transport of {played[entry.name]}')}; "
            f"known: {', '.join([*known, *released_under(transport)])}"
            for i, entry in enumerate(self.controllers)
            if entry.name in played and entry.controller is not None and entry.controller not in known
        ]
        return faults or [
            f"{self.source}: controllers: {entry.of}: {entry.controller} has no attribute {name!r}"
            f"{nearest(name, list(default_attributes(entry.controller, transport)))}"
            for entry in self.controllers
            if entry.name in played and entry.controller is not None
            for name in entry.attributes
            if name not in default_attributes(entry.controller, transport)
        ]

    def played_under(self, transport: Transport) -> dict[str, str]:
        """Names of the controllers that play a scenario of the transport, each with the first of those."""
        found: dict[str, str] = {}
        for entry in self.scenarios:
            if entry.scenario.transport == transport:
                for who in self.contestants_of(entry):
                    found.setdefault(who.name, entry.name)
        return found

    def contestant(self, name: str) -> Contestant:
        """The controller of this name. Raises KeyError."""
        return {entry.name: entry for entry in self.controllers}[name]

    def scenario(self, name: str) -> SuiteScenario:
        """The scenario of this name. Raises KeyError."""
        return {entry.name: entry for entry in self.scenarios}[name]

    def contestants_of(self, entry: SuiteScenario) -> list[Contestant]:
        """The controllers that run in a scenario; the name of a family stands for all of it."""
        return [
            x
            for x in self.controllers
            if entry.controllers is None or x.name in entry.controllers or x.of in entry.controllers
        ]

    def cells(self) -> Iterator[tuple[SuiteScenario, Contestant, int]]:
        """Every cell: scenario, controller, seed."""
        for entry in self.scenarios:
            for contestant in self.contestants_of(entry):
                for seed in self.seeds:
                    yield entry, contestant, seed


def known_suites() -> list[str]:
    """Names of the suites that come with the project."""
    return sorted(path.stem for path in SUITE_FOLDER.glob("*.yaml"))


def _shown(path: Path) -> str:
    """Relative to the working directory where it lies below."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)

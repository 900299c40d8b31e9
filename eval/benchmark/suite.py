# SPDX-License-Identifier: GPL-2.0-or-later
"""Typed suite of a benchmark: controllers x scenarios x seeds, from YAML, and entries added by name."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PrivateAttr, model_validator

from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.bounds import WallSeconds
from ns3_env.config.folders import DATA
from ns3_env.config.imports import is_code
from ns3_env.config.model import Strict, nearest, validate
from ns3_env.config.yaml import read_mapping
from ns3_env.decision.task import unknown_fields
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.grid import controllers_of, scenarios_of
from ns3_env.eval.episodes.arguments import wrong
from ns3_env.eval.episodes.entry import Entry, OfGrid, named_entries, of_checkpoint, of_module
from ns3_env.policies.released import released_under
from ns3_env.programs.transport import TRANSPORTS, Transport
from ns3_env.scenario import AGENT, Controller, Scenario
from ns3_env.simulator import default_attributes, list_controllers

#: Suites that come with the project: NAME.yaml.
SUITE_FOLDER = DATA / "configs" / "suites"

#: Keys on which a cell's result does not depend.
LABELS = frozenset({"name", "grid", "family", "parameters"})


Seeds = list[Annotated[int, Field(ge=0, lt=2**63)]]


def _different(seeds: list[int] | None) -> list[int] | None:
    if seeds is not None and len(set(seeds)) < len(seeds):
        raise ValueError("a seed is there twice")
    return seeds


class SuiteScenario(OfGrid):
    """One complete scenario of a suite."""

    title: str = ""
    group: str = Field(default="", description="scenarios with the same line are grouped in the report")
    scenario: Scenario
    series: bool = Field(default=True, description="keep queue, rates and windows over time, of one seed")
    controllers: list[str] | None = Field(
        default=None, min_length=1, description="names of those that run here; none: all"
    )
    seeds: Annotated[Seeds | None, AfterValidator(_different)] = Field(
        default=None, min_length=1, description="of this scenario; none: the suite's"
    )


class Suite(Strict):
    """A matrix of controllers, scenarios and seeds.

    ``policies`` (name: "pkg.module:factory") is short for controllers with a ``policy``.
    """

    title: str = ""
    controllers: list[Entry] = Field(min_length=1)
    seeds: Annotated[Seeds, AfterValidator(_different)] = Field(default=[1], min_length=1)
    scenarios: list[SuiteScenario] = Field(min_length=1)
    labels: dict[str, str] = Field(
        default_factory=dict,
        description="texts of figures instead of names of controllers, and of keys at axes",
    )
    timeout_s: WallSeconds = Field(default=600, gt=0, description="wall time limit of one cell")

    _source: str = PrivateAttr(default="suite")

    @model_validator(mode="before")
    @classmethod
    def _policies_are_controllers(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not isinstance(data.get("policies"), Mapping):
            return data
        policies = [{"name": name, "policy": policy} for name, policy in data["policies"].items()]
        rest = {key: value for key, value in data.items() if key != "policies"}
        listed = data.get("controllers") or []
        # A value that is not a list is refused under its own key.
        return {**rest, "controllers": [*listed, *policies] if isinstance(listed, list) else listed}

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
        players = list(dict.fromkeys(name for x in self.controllers for name in (x.of, x.name)))
        faults += [
            f"scenarios.{i}.controllers: unknown controller {name!r}; the suite has {', '.join(players)}"
            for i, entry in enumerate(self.scenarios)
            for name in entry.controllers or []
            if name not in players
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

        Scenario files and the files that these name (flows, sizes, topologies) are looked up next to the
        file that names them, and become part of the suite. Raises ScenarioError with file, key and what is
        known.
        """
        file = Path(path)
        if not file.exists() and file.suffix == "" and file.parent == Path():
            file = SUITE_FOLDER / f"{file}.yaml"
        if not file.exists():
            inside = SUITE_FOLDER.is_relative_to(Path.cwd())
            where = SUITE_FOLDER.relative_to(Path.cwd()) if inside else SUITE_FOLDER
            raise ScenarioError(
                f"{path}: there is no such suite; known: {', '.join(known_suites())} in {where}"
            )
        return cls.from_mapping(read_mapping(file, ScenarioError), str(path), file.parent)

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str, folder: Path = Path()) -> Suite:
        """The suite of these keys. Raises ScenarioError, a line per fault, with ``source`` and the key."""
        whole = dict(data)
        entries, controllers = whole.get("scenarios"), whole.get("controllers")
        if isinstance(entries, list):
            whole["scenarios"] = [
                point
                for i, entry in enumerate(entries)
                for point in scenarios_of(entry, f"{source}: scenarios.{i}", folder)
            ]
        if isinstance(controllers, list):
            whole["controllers"] = [
                point
                for i, entry in enumerate(controllers)
                for point in controllers_of(entry, f"{source}: controllers.{i}")
            ]
        suite = validate(whole, cls, source, raises=ScenarioError)
        suite._source = source
        return suite

    def check_controllers(self) -> None:
        """Raises ScenarioError for a controller that the simulator of one of its scenarios does not have,
        naming the known ones."""
        faults: list[str] = []
        for transport in TRANSPORTS:
            if scenario_names := self.played_under(transport):
                faults += self._unknown_to(transport, scenario_names)
        if faults:
            raise ScenarioError("\n".join(dict.fromkeys(faults)))

    def _unknown_to(self, transport: Transport, scenario_names: Mapping[str, str]) -> list[str]:
        """Lists faults of the controllers that run in a transport's scenarios, a line each."""
        rules = [name for name in list_controllers(transport=transport) if name != AGENT]
        faults = [
            f"{self.source}: controllers.{i}: "
            f"{wrong(entry.controller, transport, f'the transport of {scenario_names[entry.name]}')}; "
            f"known: {', '.join([*rules, *released_under(transport)])}"
            for i, entry in enumerate(self.controllers)
            if entry.name in scenario_names and entry.controller is not None and entry.controller not in rules
        ]
        return faults or [
            f"{self.source}: controllers: {entry.of}: {entry.controller} has no attribute {name!r}"
            f"{nearest(name, list(default_attributes(entry.controller, transport)))}"
            for entry in self.controllers
            if entry.name in scenario_names and entry.controller is not None
            for name in entry.attributes
            if name not in default_attributes(entry.controller, transport)
        ]

    def played_under(self, transport: Transport) -> dict[str, str]:
        """Names of the controllers that run in scenarios of the transport, each with its first scenario."""
        first: dict[str, str] = {}
        for case in self.scenarios:
            if case.scenario.transport == transport:
                for entry in self.entries_of(case):
                    first.setdefault(entry.name, case.name)
        return first

    def entry(self, name: str) -> Entry:
        """The controller of this name. Raises KeyError."""
        return {entry.name: entry for entry in self.controllers}[name]

    def scenario(self, name: str) -> SuiteScenario:
        """The scenario of this name. Raises KeyError."""
        return {case.name: case for case in self.scenarios}[name]

    def entries_of(self, case: SuiteScenario) -> list[Entry]:
        """The controllers that run in a scenario; the name of a family means all its members."""
        return [
            x
            for x in self.controllers
            if case.controllers is None or x.name in case.controllers or x.of in case.controllers
        ]

    def seeds_of(self, case: SuiteScenario) -> list[int]:
        """The seeds of a scenario."""
        return case.seeds or self.seeds

    def cells(self) -> Iterator[tuple[SuiteScenario, Entry, int]]:
        """Every cell: scenario, controller, seed."""
        for case in self.scenarios:
            for entry in self.entries_of(case):
                for seed in self.seeds_of(case):
                    yield case, entry, seed


def known_suites() -> list[str]:
    """Names of the suites that come with the project."""
    return sorted(path.stem for path in SUITE_FOLDER.glob("*.yaml"))


def join(suite: Suite, policies: Sequence[str], checkpoints: Sequence[str]) -> Suite:
    """The suite with those of the command line: "NAME=pkg.module:factory" and "NAME=PATH".

    Raises ScenarioError for text of another form, or a name in use.
    """
    policies_of_suite = {
        f"{entry.name}={entry.policy}" for entry in suite.controllers
    }  # see refuse_imports()
    added: list[Entry] = []
    for option, texts in (
        ("policy", [x for x in policies if x not in policies_of_suite]),
        ("checkpoint", checkpoints),
    ):
        names = [entry.name for entry in (*suite.controllers, *added)]
        added += named_entries(option, texts, names)
    return suite.model_copy(update={"controllers": [*suite.controllers, *added]})


def refuse_imports(suite: Suite, policies: Sequence[str]) -> None:
    """A file imports nothing by itself: each policy of the suite must be among those of the command line.

    Raises:
        ScenarioError: naming the first that is not, and the option to add.
    """
    for i, entry in enumerate(suite.controllers):
        if (
            entry.policy is not None
            and is_code(entry.policy)
            and f"{entry.name}={entry.policy}" not in policies
        ):
            raise ScenarioError(
                f"{suite.source}: controllers.{i}: policy: would run the code of {entry.policy!r}; if you "
                f"trust it: --policy {entry.name}={entry.policy}, or --allow-imports for all of the file's"
            )


def check(suite: Suite) -> Suite:
    """Loads every policy and checkpoint once; the suite then contains hashes of their content, and a
    tuned controller's attributes in place of its checkpoint.

    Raises:
        ScenarioError: a controller, module, factory or checkpoint is missing or invalid.
    """
    suite.check_controllers()
    under_tcp = suite.played_under("tcp")
    return suite.model_copy(
        update={"controllers": [_checked(entry, under_tcp.get(entry.name)) for entry in suite.controllers]}
    )


def _checked(entry: Entry, under_tcp: str | None) -> Entry:
    """``under_tcp``: a scenario of TCP in which it runs, if any."""
    if entry.controller is not None:
        return entry
    decider = of_module(entry) if entry.policy is not None else of_checkpoint(entry)
    if isinstance(decider, Controller):
        return entry.tuned(decider)
    if under_tcp is not None and (fault := unknown_fields("tcp", decider.policy.fields)) is not None:
        raise ScenarioError(f"{entry.name} cannot play {under_tcp}: it observes {fault}")
    return entry.model_copy(update={"content": _content(entry)})


def _content(entry: Entry) -> str:
    """Hash of the policy's source file or of the checkpoint's files: another one makes cells stale."""
    digest = hashlib.sha256()
    if entry.policy is not None:
        spec = importlib.util.find_spec(entry.policy.partition(":")[0])
        files = [Path(spec.origin)] if spec is not None and spec.origin is not None else []
    else:
        files = resolve(Path(entry.checkpoint or "")).files
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]

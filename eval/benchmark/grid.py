# SPDX-License-Identifier: GPL-2.0-or-later
"""Grids of a suite: one entry for each combination of the axes' values, with its complete scenario.

``grid: {traffic.load: [0.2, 0.4]}`` of a scenario, ``grid: {Eta: [0.9, 0.95]}`` of a controller. Values may
have names: ``{20: 0.2, 40: 0.4}``. ``{load}`` in name, title and group of the entry is replaced by the name
of the point's value on the axis of that key; axes that a name or title does not mention are appended to it.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ns3_env.config.files import file_name
from ns3_env.config.model import nearest, shown
from ns3_env.config.yaml import put, read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario

#: Points to which one entry may expand.
MAX_POINTS = 10_000
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def scenarios_of(entry: Any, place: str, folder: Path) -> Iterator[Any]:
    """The entry with its complete, checked scenario and its files read; for a grid, one for each point.

    Invalid entries are passed on: the suite's model reports the fault.

    Raises:
        ScenarioError: the scenario, its file or the grid is wrong.
    """
    if not isinstance(entry, Mapping) or not isinstance(entry.get("scenario"), str | Mapping):
        yield entry
        return
    data, source, where = _scenario_keys(entry["scenario"], f"{place}.scenario", folder)
    if entry.get("grid") is None:
        yield {**entry, "scenario": _whole(data, source, where)}
        return
    for point in points(entry["grid"], f"{place}.grid"):
        scenario = data
        for key, value in point.values.items():
            scenario = _put(scenario, key, value.value, f"{place}.grid.{key}")
        whole = _whole(scenario, f"{source}, with {point.text}" if point.values else source, where)
        filled = named(entry, point, place)
        parameters = {key: _resolved(whole, key, value) for key, value in filled["parameters"].items()}
        yield {**filled, "parameters": parameters, "scenario": whole}


def controllers_of(entry: Any, place: str) -> Iterator[Any]:
    """The entry, or one for each point of its grid over attributes. Raises ScenarioError."""
    if not isinstance(entry, Mapping) or entry.get("grid") is None:
        yield entry
        return
    for point in points(entry["grid"], f"{place}.grid"):
        attributes = entry.get("attributes") or {}
        values = {key: value.value for key, value in point.values.items()}
        yield {**named(entry, point, place), "attributes": {**attributes, **values}}


def _resolved(whole: Mapping[str, Any], key: str, value: Any) -> Any:
    """A parameter as a number if the scenario has one for it: 1000 for "1us"."""
    at: Any = whole
    for part in key.split("."):
        at = at[int(part)] if isinstance(at, list) else at.get(part) if isinstance(at, Mapping) else None
    is_number = isinstance(at, int | float) and not isinstance(at, bool)
    return at if is_number and isinstance(value, str) else value


def _put(data: Mapping[str, Any], key: str, value: Any, place: str) -> dict[str, Any]:
    try:
        return put(data, key, value)
    except ValueError as error:
        raise ScenarioError(f"{place}: {error}") from None


def _scenario_keys(
    scenario: str | Mapping[str, Any], place: str, folder: Path
) -> tuple[dict[str, Any], str, Path]:
    """(a scenario's keys, its name in errors, the folder of its files). Raises ScenarioError."""
    if not isinstance(scenario, str):
        return copy.deepcopy(dict(scenario)), place, folder
    file = folder / scenario
    if not _is_file(file):
        near = sorted(path.name for path in folder.glob("*.yaml"))
        there = f"there are {', '.join(near)}" if near else "there are no scenarios there"
        raise ScenarioError(f"{place}: there is no file {shown(scenario)} in {folder}; {there}")
    return read_mapping(file, ScenarioError), str(file), file.parent


def _whole(data: Mapping[str, Any], source: str, folder: Path) -> dict[str, Any]:
    """All of a scenario's keys, defaults too. Raises ScenarioError."""
    return Scenario.from_mapping(data, source, folder).without_files().model_dump(mode="json")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


@dataclass(frozen=True)
class Value:
    """A value on an axis: the setting and its name."""

    value: Any
    label: str

    @property
    def parameter(self) -> bool | int | float | str:
        """The value in a table: itself, or the label if it is neither number nor text."""
        return self.value if isinstance(self.value, bool | int | float | str) else self.label


@dataclass(frozen=True)
class Point:
    """One combination: key -> value."""

    values: Mapping[str, Value]

    @property
    def text(self) -> str:
        """ "traffic.load=0.2, topology.senders=8"."""
        return ", ".join(f"{key}={value.label}" for key, value in self.values.items())

    @property
    def parameters(self) -> dict[str, bool | int | float | str]:
        """Key -> its value as stored in a table."""
        return {key: value.parameter for key, value in self.values.items()}

    def filled(self, template: str, place: str) -> tuple[str, list[str]]:
        """The text with its placeholders replaced, and "load-0.2" of each axis that it does not mention.

        Raises ScenarioError for a placeholder that names no axis.
        """
        names = short_names(list(self.values))
        by_name = {**self.values, **{names[key]: value for key, value in self.values.items()}}
        mentioned: set[str] = set()

        def label(match: re.Match[str]) -> str:
            if match[1] not in by_name:
                raise ScenarioError(
                    f"{place}: {match[0]} names no axis of the grid{nearest(match[1], list(by_name))}"
                )
            mentioned.add(next(key for key in self.values if match[1] in (key, names[key])))
            return by_name[match[1]].label

        text = _PLACEHOLDER.sub(label, template)
        rest = [f"{names[key]}-{value.label}" for key, value in self.values.items() if key not in mentioned]
        return text, rest


def short_names(keys: list[str]) -> dict[str, str]:
    """Key -> its last part, or the whole key if last parts are equal: ``traffic.load`` -> ``load``."""
    last = [key.rpartition(".")[2] for key in keys]
    return {key: end if last.count(end) == 1 else key for key, end in zip(keys, last, strict=True)}


def points(grid: object, place: str) -> Iterator[Point]:
    """Every combination, the last axis fastest.

    Args:
        grid: grid as in the file: key -> list of values, or names with values.
        place: file and key, for errors.

    Raises:
        ScenarioError: invalid grid, an axis has no values or a repeated one, or it has too many points.
    """
    if not isinstance(grid, Mapping):
        raise ScenarioError(f"{place}: expected keys with lists of values, found {shown(grid)}")
    axes = {str(key): _axis(values, f"{place}.{key}") for key, values in grid.items()}
    count = math.prod(len(values) for values in axes.values())
    if count > MAX_POINTS:
        raise ScenarioError(f"{place}: {count} points; there may be at most {MAX_POINTS}")
    for combination in itertools.product(*axes.values()):
        yield Point(dict(zip(axes, combination, strict=True)))


def named(entry: Mapping[str, Any], point: Point, place: str) -> dict[str, Any]:
    """The entry's keys at one point, without its grid.

    Name, title and group are filled in, ``family`` is the name as it was, ``parameters`` are the point's.
    """
    filled = {key: value for key, value in entry.items() if key != "grid"}
    template = str(entry.get("name", ""))
    name, rest = point.filled(template, f"{place}.name")
    filled["name"] = file_name("-".join([name, *rest]))
    if isinstance(entry.get("title"), str) and entry["title"]:
        title, rest = point.filled(entry["title"], f"{place}.title")
        filled["title"] = ", ".join([title, *(" ".join(words.split("-", 1)) for words in rest)])
    if isinstance(entry.get("group"), str):
        filled["group"] = point.filled(entry["group"], f"{place}.group")[0]
    filled["family"] = template
    filled["parameters"] = point.parameters
    return filled


def _axis(values: object, place: str) -> list[Value]:
    if isinstance(values, Mapping):
        axis = [Value(value, str(label)) for label, value in values.items()]
    elif isinstance(values, list):
        axis = [Value(value, _label(value, number)) for number, value in enumerate(values)]
    else:
        raise ScenarioError(
            f"{place}: expected a list of values, or names with values, found {shown(values)}"
        )
    if not axis:
        raise ScenarioError(f"{place}: there are no values")
    labels = [value.label for value in axis]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ScenarioError(f"{place}: {shown(twice)} is there twice")
    return axis


def _label(value: object, number: int) -> str:
    """Names a value: 0.2, 1e+11, true; the kind of a section, or its number in the list."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, float):
        return repr(value) if abs(value) < 1e6 else format(value, "g")
    if isinstance(value, int | str):
        return str(value)
    if isinstance(value, Mapping) and isinstance(value.get("kind"), str):
        return str(value["kind"])
    return str(number)

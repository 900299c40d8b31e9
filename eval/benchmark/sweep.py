# SPDX-License-Identifier: GPL-2.0-or-later
"""Suite of the command line: a suite or a scenario, other controllers and seeds, a grid over keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import yaml

from ns3_env.config.folders import find_file
from ns3_env.config.model import nearest, shown
from ns3_env.config.yaml import parse, read_mapping
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.grid import MAX_POINTS, short_names
from ns3_env.eval.benchmark.suite import Suite
from ns3_env.eval.episodes.arguments import is_known
from ns3_env.eval.episodes.entry import in_full
from ns3_env.policies.released import controller_names
from ns3_env.scenario import AGENT, POLICY, Scenario

#: Default seeds of a scenario: fewer decide nothing among six controllers.
SEEDS = 8
_RANGE = re.compile(r"\s*range\(([^()]*)\)\s*")


def suite_of(
    what: Path, over: Sequence[str] = (), controllers: Sequence[str] = (), seeds: Sequence[int] | None = None
) -> tuple[Suite, Path]:
    """The suite that a command line specifies, and the default folder for it.

    Args:
        what: YAML file or name of a suite or of a scenario.
        over: axes of a grid, "key=a,b,c" or "key=range(start,stop,step)"; the key is one of the scenario's,
            dotted, or NAME.ATTRIBUTE of a controller.
        controllers: names; by default the suite's, or those that scenario and axes name.
        seeds: seeds; by default the suite's, or 1 to ``SEEDS``.

    Raises:
        ScenarioError: the file, an axis or a controller is wrong.
    """
    file = _find(what)
    values = parse_axes(over)
    names = ["benchmark", file.stem, *short_names(list(values)).values()]
    folder = Path("runs") / "-".join(names)
    as_it_is = not (over or controllers or seeds)
    if as_it_is and not file.exists():
        return Suite.load(what), folder  # its error lists the suites
    data = dict(read_mapping(file, ScenarioError))
    if "scenarios" in data and as_it_is:
        return Suite.load(what), folder
    if "scenarios" not in data:
        data = _of_scenario(data, file)
    elif controllers:
        data["controllers"] = list(controllers)
    if not isinstance(data.get("controllers") or [], list) or not isinstance(data["scenarios"], list):
        return Suite.from_mapping(data, str(file), file.parent), Path()  # reports the fault
    entries = list(data.get("controllers") or [])
    entries += [name for name in controllers if name not in map(_name, entries)]
    entries += [
        name for name in _whose_attributes(values) if name not in [*map(_name, entries)] and is_known(name)
    ]
    if not entries:
        raise ScenarioError("--controllers: name those that the scenario is played under, e.g. hpcc,dcqcn")
    of_scenario, of_controllers = _sorted(values, [str(_name(entry)) for entry in entries])
    data["controllers"] = [_with_axes(entry, of_controllers.get(str(_name(entry)), {})) for entry in entries]
    data["scenarios"] = [_with_axes(entry, of_scenario) for entry in data["scenarios"]]
    if seeds is not None:
        data["seeds"] = list(seeds)
    if values:
        data["title"] = f"{data.get('title') or file.stem}: {', '.join(over)}"
    return Suite.from_mapping(data, str(file), file.parent), folder


def _find(what: Path) -> Path:
    """The file of a suite or a scenario. Raises ScenarioError, naming the existing ones."""
    try:
        return find_file(what, "configs/scenarios", "configs/suites")
    except ConfigError as error:
        raise ScenarioError(str(error)) from None


def _of_scenario(data: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """A suite of one scenario, under the controllers that it names, without an agent's."""
    controllers = data.get("controllers")
    names = [_name(entry) for entry in controllers] if isinstance(controllers, list) else []
    return {
        "title": file.stem,
        "controllers": [name for name in names if name not in (None, AGENT, POLICY)],
        "seeds": list(range(1, SEEDS + 1)),
        "scenarios": [{"name": file.stem, "title": file.stem, "group": file.stem, "scenario": dict(data)}],
    }


def _name(entry: object) -> object:
    return entry.get("name") if isinstance(entry, Mapping) else entry


def _whose_attributes(axes: Mapping[str, Any]) -> list[str]:
    """First parts of the keys that are no scenario's."""
    first = [key.partition(".")[0] for key in axes if "." in key]
    return list(dict.fromkeys(name for name in first if name not in Scenario.model_fields))


def _sorted(
    axes: Mapping[str, list[Any]], controllers: Sequence[str]
) -> tuple[dict[str, list[Any]], dict[str, dict[str, list[Any]]]]:
    """(axes of the scenario, axes of each controller by its name). Raises ScenarioError."""
    of_scenario: dict[str, list[Any]] = {}
    of_controllers: dict[str, dict[str, list[Any]]] = {}
    for key, values in axes.items():
        first, dot, rest = key.partition(".")
        if first == "seed":
            raise ScenarioError("command line: seed: every point is played with all seeds: --seeds 1-20")
        if first in Scenario.model_fields:
            of_scenario[key] = values
        elif first in controllers and dot:
            of_controllers.setdefault(first, {})[rest] = values
        else:
            parameters = [*Scenario.model_fields, *controllers, *controller_names()]
            raise ScenarioError(
                f"command line: {key}: {first!r} is neither a key of a scenario nor a controller"
                f"{nearest(first, parameters)}"
            )
    return of_scenario, of_controllers


def _with_axes(entry: Any, axes: Mapping[str, Any]) -> Any:
    """The entry with these axes in addition to its grid's."""
    if not axes:
        return entry
    if isinstance(entry, str):  # a controller's short form
        entry = in_full(entry)
    if not isinstance(entry, Mapping):
        return entry
    grid = entry.get("grid")
    return {**entry, "grid": {**(grid if isinstance(grid, Mapping) else {}), **axes}}


def parse_axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Key -> its values, in the order given. Raises ScenarioError, naming the text."""
    axes: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not (key and equals):
            raise ScenarioError(f"command line: {shown(text)} is not of the form key=a,b,c")
        if key in axes:
            raise ScenarioError(f"command line: {key}: is there twice; its values go into one list")
        match = _RANGE.fullmatch(values)
        axes[key] = _range(key, match[1]) if match else _listed(key, values)
    return axes


def _listed(key: str, text: str) -> list[Any]:
    """Reads the values between commas, each as YAML. Raises ScenarioError."""
    try:
        values = parse(f"[{text}]")
    except yaml.YAMLError:
        raise ScenarioError(f"command line: {key}: not YAML values with commas: {shown(text)}") from None
    if not isinstance(values, list) or not values:
        raise ScenarioError(f"command line: {key}: there are no values: {key}=a,b,c")
    return [_number(value) for value in values]


def _number(value: Any) -> Any:
    """Reads "1e9" as a number, as the simulator and a figure's axis do; YAML reads a text."""
    if not isinstance(value, str) or not re.fullmatch(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+", value):
        return value
    return float(value)


def _range(key: str, text: str) -> list[Any]:
    """Counts as Python's range, from start in steps of step, without stop; of decimal numbers, exactly."""
    place = f"command line: {key}: range({text})"
    try:
        numbers = [Decimal(part.strip()) for part in text.split(",")]
    except InvalidOperation:
        raise ScenarioError(f"{place}: expected range(start,stop) or range(start,stop,step)") from None
    if len(numbers) not in (2, 3) or not all(number.is_finite() for number in numbers):
        raise ScenarioError(f"{place}: expected range(start,stop) or range(start,stop,step)")
    start, stop, step = (*numbers, Decimal(1))[:3]
    if step == 0 or (stop - start) / step <= 0:
        raise ScenarioError(f"{place}: holds no values: steps of {step} do not lead from {start} to {stop}")
    count = ((stop - start) / step).to_integral_value(ROUND_CEILING)
    if count > MAX_POINTS:
        raise ScenarioError(f"{place}: {count} values; there may be at most {MAX_POINTS}")
    whole = all(number == number.to_integral_value() for number in (start, step))
    values = [start + number * step for number in range(int(count))]
    return [int(value) if whole else float(value) for value in values]

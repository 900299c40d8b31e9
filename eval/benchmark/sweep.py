# SPDX-License-Identifier: GPL-2.0-or-later
"""Suite of a sweep: a suite, or a scenario, over a grid of its keys and controllers' attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ns3_env.config.model import nearest
from ns3_env.config.packaged import find_file
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ConfigError, ScenarioError
from ns3_env.eval.benchmark.axes import parse_axes
from ns3_env.eval.benchmark.grid import short_names
from ns3_env.eval.benchmark.suite import SUITE_FOLDER, Suite, in_full, known_suites
from ns3_env.eval.episodes.names import is_known
from ns3_env.policies.released import controller_names
from ns3_env.scenario import AGENT, NETWORK, Scenario

#: Seeds of a scenario's sweep, where none are given: fewer decide nothing among six controllers.
SEEDS = 8
MAX_SEEDS = 10_000


def sweep_suite(
    what: Path, axes: Sequence[str], controllers: Sequence[str] = (), seeds: int | None = None
) -> tuple[Suite, Path]:
    """The suite of a sweep, and the folder for it where none is named.

    Args:
        what: a suite's YAML or name, or a scenario's.
        axes: "key=a,b,c" or "key=range(start,stop,step)"; the key is one of the scenario's, dotted, or
            NAME.ATTRIBUTE of a controller.
        controllers: names; by default the suite's, or those that scenario and axes name.
        seeds: 1 to this; by default the suite's, or ``SEEDS``.

    Raises:
        ScenarioError: the file, an axis or a controller is wrong.
    """
    if seeds is not None and not 1 <= seeds <= MAX_SEEDS:
        raise ScenarioError(f"--seeds: must be in 1 to {MAX_SEEDS}, is {seeds}")
    file = _find(what)
    values = parse_axes(axes)
    if not values:
        raise ScenarioError("command line: name what is swept: key=a,b,c or key=range(start,stop,step)")
    data = dict(read_mapping(file, ScenarioError))
    if "scenarios" not in data:
        data = _of_scenario(data, file)
    elif controllers:
        data["controllers"] = list(controllers)
    if not isinstance(data.get("controllers") or [], list) or not isinstance(data["scenarios"], list):
        return Suite.from_mapping(data, str(file), file.parent), Path()  # says what is wrong with it
    own = list(data.get("controllers") or [])
    own += [name for name in controllers if name not in map(_name, own)]
    own += [name for name in _whose_attributes(values) if name not in [*map(_name, own)] and is_known(name)]
    if not own:
        raise ScenarioError("--controllers: name those that the scenario is played under, e.g. hpcc,dcqcn")
    of_scenario, of_controllers = _sorted(values, [str(_name(entry)) for entry in own])
    data["controllers"] = [_with_axes(entry, of_controllers.get(str(_name(entry)), {})) for entry in own]
    data["scenarios"] = [_with_axes(entry, of_scenario) for entry in data["scenarios"]]
    if seeds is not None:
        data["seeds"] = list(range(1, seeds + 1))
    data["title"] = f"{data.get('title') or file.stem}: {', '.join(axes)}"
    names = "-".join(short_names(list(values)).values())
    return Suite.from_mapping(data, str(file), file.parent), Path("runs") / f"sweep-{file.stem}-{names}"


def _find(what: Path) -> Path:
    """The file of a suite or a scenario. Raises ScenarioError, naming those that there are."""
    if what.exists():
        return what
    if what.name in known_suites() and len(what.parts) == 1:
        return SUITE_FOLDER / f"{what}.yaml"
    try:
        return find_file(what, "configs/scenarios")
    except ConfigError as error:
        raise ScenarioError(f"{error}; suites: {', '.join(known_suites())}") from None


def _of_scenario(data: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """A suite of one scenario, under the controllers that it names, those of an agent left out."""
    named = data.get("controllers")
    names = [_name(entry) for entry in named] if isinstance(named, list) else []
    return {
        "title": file.stem,
        "controllers": [name for name in names if name not in (None, AGENT, NETWORK)],
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
            raise ScenarioError("command line: seed: every point is played with all seeds: --seeds N")
        if first in Scenario.model_fields:
            of_scenario[key] = values
        elif first in controllers and dot:
            of_controllers.setdefault(first, {})[rest] = values
        else:
            known = [*Scenario.model_fields, *controllers, *controller_names()]
            raise ScenarioError(
                f"command line: {key}: {first!r} is neither a key of a scenario nor a controller"
                f"{nearest(first, known)}"
            )
    return of_scenario, of_controllers


def _with_axes(entry: Any, axes: Mapping[str, Any]) -> Any:
    """The entry with these axes beside those of its own grid."""
    if not axes:
        return entry
    if isinstance(entry, str):  # a controller's short form
        entry = in_full(entry)
    if not isinstance(entry, Mapping):
        return entry
    own = entry.get("grid")
    return {**entry, "grid": {**(own if isinstance(own, Mapping) else {}), **axes}}

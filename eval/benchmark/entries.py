# SPDX-License-Identifier: GPL-2.0-or-later
"""Resolves a suite's entry: its scenario whole, or one entry for each point of its grid."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ns3_env.config.model import shown
from ns3_env.config.overrides import put
from ns3_env.config.yaml import read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.grid import named, points
from ns3_env.scenario import Scenario


def scenarios_of(entry: Any, place: str, folder: Path) -> Iterator[Any]:
    """The entry with its scenario whole, checked and with its files read; of a grid, one for each point.

    What is no entry at all is handed on: the suite's model says what is wrong with it.

    Raises:
        ScenarioError: the scenario, its file or the grid is wrong.
    """
    if not isinstance(entry, Mapping) or not isinstance(entry.get("scenario"), str | Mapping):
        yield entry
        return
    data, source, where = _given(entry["scenario"], f"{place}.scenario", folder)
    if entry.get("grid") is None:
        yield {**entry, "scenario": _whole(data, source, where)}
        return
    for point in points(entry["grid"], f"{place}.grid"):
        own = data
        for key, value in point.values.items():
            own = _put(own, key, value.value, f"{place}.grid.{key}")
        whole = _whole(own, f"{source}, with {point.text}" if point.values else source, where)
        made = named(entry, point, place)
        parameters = {key: _resolved(whole, key, value) for key, value in made["parameters"].items()}
        yield {**made, "parameters": parameters, "scenario": whole}


def controllers_of(entry: Any, place: str) -> Iterator[Any]:
    """The entry, or one for each point of its grid over attributes. Raises ScenarioError."""
    if not isinstance(entry, Mapping) or entry.get("grid") is None:
        yield entry
        return
    for point in points(entry["grid"], f"{place}.grid"):
        attributes = entry.get("attributes") or {}
        values = {key: value.value for key, value in point.values.items()}
        yield {**named(entry, point, place), "attributes": {**attributes, **values}}


def _resolved(whole: Mapping[str, Any], key: str, given: Any) -> Any:
    """A parameter as a number where the scenario has one for it: 1000 for "1us"."""
    at: Any = whole
    for part in key.split("."):
        at = at[int(part)] if isinstance(at, list) else at.get(part) if isinstance(at, Mapping) else None
    is_number = isinstance(at, int | float) and not isinstance(at, bool)
    return at if is_number and isinstance(given, str) else given


def _put(data: Mapping[str, Any], key: str, value: Any, place: str) -> dict[str, Any]:
    try:
        return put(data, key, value)
    except ValueError as error:
        raise ScenarioError(f"{place}: {error}") from None


def _given(given: str | Mapping[str, Any], place: str, folder: Path) -> tuple[dict[str, Any], str, Path]:
    """(a scenario's keys, what errors name, where its files are looked for). Raises ScenarioError."""
    if not isinstance(given, str):
        return copy.deepcopy(dict(given)), place, folder
    file = folder / given
    if not _is_file(file):
        near = sorted(path.name for path in folder.glob("*.yaml"))
        there = f"there are {', '.join(near)}" if near else "there are no scenarios there"
        raise ScenarioError(f"{place}: there is no file {shown(given)} in {folder}; {there}")
    return read_mapping(file, ScenarioError), str(file), file.parent


def _whole(data: Mapping[str, Any], source: str, folder: Path) -> dict[str, Any]:
    """All of a scenario's keys, defaults too. Raises ScenarioError."""
    return Scenario.from_mapping(data, source, folder).without_files().model_dump(mode="json")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False

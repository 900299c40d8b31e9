# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios declared in YAML: one with axes, whose combinations are its variants."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import Field

from ns3_env.config.imports import trust_named_in
from ns3_env.config.model import Strict, validate
from ns3_env.config.yaml import put, read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario

V = TypeVar("V", bound="Variants")
#: Key of a file for parts that several declarations share by YAML's anchors.
_SHARED = "shared"
#: Key that marks a number which depends on the scale.
_SCALED = "scaled"


class Variants(Strict):
    """A scenario, and its variants over axes.

    ``scenario`` and the values of ``axes`` are keys of a scenario, those of axes dotted. A number that
    depends on the scale is ``{scaled: NUMBER, least: NUMBER, most: NUMBER, plus: NUMBER}``: see ``scaled``.
    """

    scenario: dict[str, Any] = Field(default={})
    axes: dict[str, dict[str | int | float, dict[str, Any]]] = Field(
        default={}, description="the cases are the combinations of these values, the last axis fastest"
    )
    without: list[list[Any]] = Field(default=[], description="combinations that are no cases")

    def cases(self, scale: float = 1.0) -> dict[Any, Scenario]:
        """Scenarios of a scale, by the name on the axis, or a tuple of names on several or no axes."""
        every = (x for x in itertools.product(*self.axes.values()) if list(x) not in self.without)
        names = (x[0] if len(x) == 1 else x for x in every)
        return {case: self.case(case, scale) for case in names}

    def case(self, case: Any, scale: float = 1.0) -> Scenario:
        """One of the :meth:`cases`. Raises KeyError."""
        keys: Mapping[str, Any] = self.scenario
        names = case if isinstance(case, tuple) else (case,)
        for axis, name in zip(self.axes.values(), names, strict=True):
            for key, value in axis[name].items():
                keys = put(keys, key, value)
        return Scenario.from_mapping(scaled(keys, scale), str(case))


def scaled(value: Any, scale: float) -> Any:
    """The value, its numbers at this scale: ``max(least, min(most, scale * NUMBER)) + plus``, whole if NUMBER
    is."""
    if isinstance(value, list):
        return [scaled(item, scale) for item in value]
    if not isinstance(value, Mapping):
        return value
    if _SCALED not in value:
        return {key: scaled(item, scale) for key, item in value.items()}
    number = scale * value[_SCALED]
    if isinstance(value[_SCALED], int):
        number = round(number)
    return max(value.get("least", number), min(value.get("most", number), number)) + value.get("plus", 0)


def read_variants(file: Path, model: type[V]) -> dict[str, V]:
    """The declarations in a file of this package, by name; functions that it names may be imported."""
    trust_named_in([file.read_text(encoding="utf-8")])
    return {
        name: validate(keys, model, f"{file}: {name}", raises=ScenarioError)
        for name, keys in read_mapping(file, ScenarioError).items()
        if name != _SHARED
    }

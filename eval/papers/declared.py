# SPDX-License-Identifier: GPL-2.0-or-later
"""Declarations of experiments: sizes, scenarios, printed numbers and tables of ``experiments.yaml``."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ns3_env.config.imports import trust_named_in
from ns3_env.config.model import Strict, validate
from ns3_env.config.yaml import put, read_mapping
from ns3_env.errors import ScenarioError
from ns3_env.eval.papers.entries import Entries
from ns3_env.eval.papers.outcome import Grid, Row, grid
from ns3_env.scenario import Scenario

FILE = "experiments.yaml"
#: Key of a file for parts that several experiments share by YAML's anchors.
_SHARED = "shared"
#: Key that marks a number which depends on the scale.
_SCALED = "scaled"


class Published(Strict):
    """A number that is compared with the paper's; ``published`` is None if the paper has none."""

    what: str
    unit: str = ""
    published: int | float | None = None
    where: str = ""


class Columns(Strict):
    """Heads of a table's first columns, and its other columns as :func:`outcome.grid` has them."""

    first: list[str]
    columns: str


class Declared(Strict):
    """An experiment.

    ``scenario`` and the values of ``axes`` are keys of a scenario, those of axes dotted. A number that
    depends on the scale is ``{scaled: NUMBER, least: NUMBER, most: NUMBER, plus: NUMBER}``: see ``scaled``.
    """

    source: str = Field(description="figures and sections of the paper")
    scale: float = Field(default=1.0, gt=0, description="of a run without --scale; 1 is the paper's size")
    what_scales: str
    repetitions: int = Field(default=0, ge=0, description="seeds at scale 1; 0: one, whatever the scale")
    entries: Entries | None = None
    scenario: dict[str, Any] = Field(default={})
    axes: dict[str, dict[str | int | float, dict[str, Any]]] = Field(
        default={}, description="the cases are the combinations of these values, the last axis fastest"
    )
    without: list[list[Any]] = Field(default=[], description="combinations that are no cases")
    rows: dict[str, Published] = Field(default={})
    tables: dict[str, Columns] = Field(default={}, description="by title")
    printed: dict[str, dict[Any, list[float]]] = Field(
        default={}, description="the paper's own numbers by case and entry, in the order of its columns"
    )

    def cases(self, scale: float) -> dict[Any, Scenario]:
        """Scenarios of a scale, by the name on the axis, or a tuple of names on several."""
        result = {}
        for names in itertools.product(*self.axes.values()):
            if list(names) in self.without:
                continue
            keys: Mapping[str, Any] = self.scenario
            for axis, name in zip(self.axes.values(), names, strict=True):
                for key, value in axis[name].items():
                    keys = put(keys, key, value)
            case = names[0] if len(names) == 1 else names
            result[case] = Scenario.from_mapping(scaled(keys, scale), str(case))
        return result

    def compare(self, values: Mapping[str, float]) -> list[Row]:
        """Returns the ``rows`` of our numbers, by name."""
        return [
            Row(row.what, row.unit, row.published, float(values[name]), row.where)
            for name, row in self.rows.items()
            if name in values
        ]

    def grids(self, *numbers: Any) -> list[Grid]:
        """Returns the tables with these numbers, in their order; see :func:`outcome.grid`."""
        return [
            grid(title, table.first, table.columns, rows)
            for (title, table), rows in zip(self.tables.items(), numbers, strict=True)
        ]


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


@functools.cache
def _all() -> Mapping[str, Declared]:
    return dict(_read())


def _read() -> Iterator[tuple[str, Declared]]:
    for file in sorted(Path(__file__).parent.glob(f"*/{FILE}")):
        trust_named_in([file.read_text(encoding="utf-8")])  # functions of the paper's own modules
        for name, keys in read_mapping(file, ScenarioError).items():
            if name != _SHARED:
                yield name, validate(keys, Declared, f"{file}: {name}", raises=ScenarioError)


def declared(name: str) -> Declared:
    """The experiment of this name. Raises KeyError."""
    return _all()[name]

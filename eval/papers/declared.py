# SPDX-License-Identifier: GPL-2.0-or-later
"""Declarations of experiments: sizes, scenarios, printed numbers and tables of ``experiments.yaml``."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ns3_env.config.model import Strict
from ns3_env.eval.episodes.variants import Variants, read_variants
from ns3_env.eval.papers.entries import Entries
from ns3_env.eval.papers.outcome import Grid, Row, grid
from ns3_env.eval.papers.verdicts import Comparison

FILE = "experiments.yaml"


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


class Declared(Variants):
    """An experiment, whose variants are its cases."""

    source: str = Field(description="figures and sections of the paper")
    scale: float = Field(default=1.0, gt=0, description="of a run without --scale; 1 is the paper's size")
    what_scales: str
    repetitions: int = Field(default=0, ge=0, description="seeds at scale 1; 0: one, whatever the scale")
    entries: Entries | None = None
    rows: dict[str, Published] = Field(default={})
    claims: dict[str, Comparison] = Field(default={}, description="those that only compare, by text")
    tables: dict[str, Columns] = Field(default={}, description="by title")
    printed: dict[str, dict[Any, list[float]]] = Field(
        default={}, description="the paper's own numbers by case and entry, in the order of its columns"
    )

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


@functools.cache
def _all() -> Mapping[str, Declared]:
    files = sorted(Path(__file__).parent.glob(f"*/{FILE}"))
    return {name: one for file in files for name, one in read_variants(file, Declared).items()}


def declared(name: str) -> Declared:
    """The experiment of this name. Raises KeyError."""
    return _all()[name]

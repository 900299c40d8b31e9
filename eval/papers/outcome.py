# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcome of a paper's experiment: numbers beside the paper's, verdicts on its claims, files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

#: One number of an episode, or what defines it is missing.
Measured = Mapping[str, float | None]


def defined(x: Any) -> Any:
    """The value; None in the place of NaN."""
    return None if isinstance(x, float) and math.isnan(x) else x


@dataclass(frozen=True)
class Row:
    """One number of ours beside the paper's.

    Attributes:
        what: was measured.
        unit: of both numbers; "" for none.
        published: as the paper prints it; None where it prints none.
        ours: NaN where the run does not define it.
        where: section or figure of ``published``.
    """

    what: str
    unit: str
    published: float | None
    ours: float
    where: str = ""

    @property
    def deviation(self) -> float | None:
        """(ours − published) / |published|; None without both numbers, or of a zero."""
        if not self.published or math.isnan(self.ours):
            return None
        return (self.ours - self.published) / abs(self.published)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what is not defined is None."""
        return {
            "what": self.what,
            "unit": self.unit,
            "where": self.where,
            "published": self.published,
            "ours": defined(self.ours),
            "deviation": self.deviation,
        }


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, tested.

    Attributes:
        text: the claim, in our words, with its place in the paper.
        holds: None where the run cannot tell.
        evidence: the numbers behind the verdict.
    """

    text: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Grid:
    """Numbers that the paper draws but does not print: ``rows`` of texts and numbers under ``columns``."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what is not defined is None."""
        rows = [[defined(x) for x in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


def grid(
    title: str,
    heads: Sequence[str],
    names: Iterable[str | tuple[str, float]],
    rows: Iterable[tuple[str | tuple[str | float, ...], Measured]],
) -> Grid:
    """A grid of numbers by name.

    Args:
        title: over it.
        heads: of all columns.
        names: of the numbers, each with what divides it, if anything; NaN where a row does not define one.
        rows: what stands in the first column (or several), and the row's numbers.
    """
    pairs = [(name, None) if isinstance(name, str) else name for name in names]
    return Grid(
        title,
        heads,
        [
            (*(first if isinstance(first, tuple) else (first,)), *(_cell(own, *pair) for pair in pairs))
            for first, own in rows
        ],
    )


def _cell(own: Measured, name: str, divisor: float | None) -> float:
    value = own.get(name)
    return math.nan if value is None else value if divisor is None else value / divisor


@dataclass(frozen=True)
class Outcome:
    """What an experiment leaves.

    Attributes:
        rows: the table published / ours / deviation.
        claims: with verdicts.
        grids: more tables.
        notes: a sentence each on what a reader must know of this run.
        pictures: PNG by file name without ending, in the paper's order.
        series: CSV text by file name without ending.
        measured: for programs: numbers by case, entry and name.
    """

    rows: Sequence[Row] = ()
    claims: Sequence[Claim] = ()
    grids: Sequence[Grid] = ()
    notes: Sequence[str] = ()
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    series: Mapping[str, str] = field(default_factory=dict)
    measured: Mapping[str, Mapping[str, Measured]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Everything but pictures and series, for JSON."""
        return {
            "rows": [row.as_dict() for row in self.rows],
            "claims": [asdict(claim) for claim in self.claims],
            "grids": [grid.as_dict() for grid in self.grids],
            "notes": list(self.notes),
            "pictures": [f"{name}.png" for name in self.pictures],
            "measured": {
                case: {name: dict(own) for name, own in by_name.items()}
                for case, by_name in self.measured.items()
            },
        }

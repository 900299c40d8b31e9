# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcome of a paper's experiment: numbers beside the paper's, verdicts on its claims, files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ns3_env.simulator import Simulator

#: Told what is being played, for whoever waits.
Progress = Callable[[str], None]
#: Files of trained policies, by the name under which they play.
Policies = Mapping[str, Path]
#: One number of an episode, or what defines it is missing.
Measured = Mapping[str, float | None]


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
            "ours": None if math.isnan(self.ours) else self.ours,
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"text": self.text, "holds": self.holds, "evidence": self.evidence}


@dataclass(frozen=True)
class Grid:
    """Numbers that the paper draws but does not print: ``rows`` of texts and numbers under ``columns``."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str | float]]

    def as_dict(self) -> dict[str, Any]:
        """For JSON; what is not defined is None."""
        rows = [[None if isinstance(x, float) and math.isnan(x) else x for x in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows}


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
            "claims": [claim.as_dict() for claim in self.claims],
            "grids": [grid.as_dict() for grid in self.grids],
            "notes": list(self.notes),
            "pictures": [f"{name}.png" for name in self.pictures],
            "measured": {
                case: {name: dict(own) for name, own in by_name.items()}
                for case, by_name in self.measured.items()
            },
        }


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Attributes:
        name: on the command line.
        title: one line.
        source: its figures and sections.
        scale: of a run without ``--scale``; 1 is the paper's size.
        what_scales: in words.
        run: plays it on a simulator at a scale above 0. Raises ScenarioError, SimulatorError.
        playing: as ``run``, with these policies in the place of released ones of the same names, or beside
            them; None where no trained policy plays.
    """

    name: str
    title: str
    source: str
    scale: float
    what_scales: str
    run: Callable[[Simulator, float, Progress], Outcome]
    playing: Callable[[Simulator, float, Progress, Policies], Outcome] | None = None

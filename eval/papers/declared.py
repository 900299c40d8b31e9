# SPDX-License-Identifier: GPL-2.0-or-later
"""Declarations of experiments in ``experiments.yaml``: sizes, scenarios, contenders, numbers, tables."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ns3_env.config.model import Strict
from ns3_env.errors import ConfigError
from ns3_env.eval.episodes.variants import Variants, read_variants
from ns3_env.eval.papers.outcome import Grid, Row, grid
from ns3_env.eval.papers.verdicts import Comparison
from ns3_env.policies.released import released
from ns3_env.programs.parameters import PAPER, parameters_of
from ns3_env.scenario import AGENT, Scenario

FILE = "experiments.yaml"
#: Files of trained policies, by the name they are run under.
Policies = Mapping[str, Path]


class Entries(Strict):
    """Contenders: controllers with settings that they lack by themselves, and trained policies.

    Attributes:
        controllers: controllers of the simulator, with their attributes; "dcqcn+window" is a separate entry,
            of dcqcn.
        released: names of released policies.
        parameters: "paper": controllers have the values of their own papers, if known; "published":
            those of the published simulator.
    """

    controllers: Mapping[str, Mapping[str, bool]]
    released: tuple[str, ...] = ()
    parameters: Literal["paper", "published"] = "published"

    @property
    def names(self) -> tuple[str, ...]:
        """All, in the paper's order."""
        return (*self.controllers, *self.released)

    def present(self, files: Policies) -> tuple[Policies, tuple[str, ...]]:
        """The policies given, and available released ones whose names are not given; a note for
        each that is missing or not the released one."""
        policies = dict(files)
        notes = [f"{name.upper()} is a policy given for this run." for name in files]
        for name in self.released:
            if name in files:
                continue
            try:
                policies[name] = released(name)
            except ConfigError:
                notes.append(f"{name.upper()} did not play: no policy of that name is released.")
        return policies, tuple(notes)

    def each(self, base: Scenario, policies: Policies, parameters: str | None = None) -> dict[str, Scenario]:
        """The scenario under each entry, by name: the paper's controllers first, then the added policies.

        ``parameters`` replaces the entries' own setting.
        """
        present = [name for name in self.names if name in self.controllers or name in policies]
        return {
            name: base.under(AGENT).playing(policies[name])
            if name in policies
            else self._controlled(base, name, parameters or self.parameters)
            for name in (*present, *(name for name in policies if name not in self.names))
        }

    def _controlled(self, base: Scenario, name: str, parameters: str) -> Scenario:
        controller = name.partition("+")[0]
        preset = parameters_of(controller, parameters) if controller in PAPER else {}
        return base.under(controller, {**preset, **self.controllers[name]})


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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Protocol of search subjects: points in a space of numbers that stand for a controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ns3_env.scenario import Controller
from ns3_env.simulator.results import Floats

#: A point of a search, (n,).
Point = Floats
#: What is kept of a point beside its score, by column: numbers, or what tells it from others.
Values = dict[str, int | float | str]


@dataclass(frozen=True)
class Space:
    """Where a search looks; every array is (n,).

    Attributes:
        start: where it begins.
        scale: what a step of 1 means, by coordinate.
        low: lower ends, -inf of what has none.
        high: upper ends, inf of what has none.
        integer: coordinates of which only whole numbers are different.
    """

    start: Point
    scale: Floats
    low: Floats
    high: Floats
    integer: tuple[int, ...] = ()


class Subject(Protocol):
    """Something that is searched: knows its space, and what a point of it stands for."""

    @property
    def space(self) -> Space:
        """Where to look."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Keys of ``describe``."""
        ...

    @property
    def label(self) -> str:
        """What tables call the best that is found."""
        ...

    @property
    def before(self) -> tuple[str, Controller] | None:
        """What the best that is found is compared with, and its name; None where there is nothing."""
        ...

    def describe(self, point: Point) -> Values:
        """What the trials' log keeps of a point."""
        ...

    def controller(self, point: Point, folder: Path) -> Controller:
        """The controller that a point stands for; files that it needs are written into ``folder``."""
        ...

    def save(self, point: Point, folder: Path) -> None:
        """Writes a checkpoint's files into ``folder``."""
        ...

    def remarks(self, found: Controller) -> list[str]:
        """Lines on what was found, for whoever wants to use it."""
        ...

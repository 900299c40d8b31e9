# SPDX-License-Identifier: GPL-2.0-or-later
"""Search subjects: points in a space of numbers, each a controller; ranges as such a space."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ns3_env.agents.search.config import Parameter
from ns3_env.scenario import Controller
from ns3_env.simulator.results import Floats

#: A point of a search, (n,).
Point = Floats
#: Values recorded of a point in addition to its score, by column: numbers, or a text that identifies it.
Values = dict[str, int | float | str]
#: Extent of whole numbers beyond their range's ends before they are rounded.
_ROUNDING = 0.49


@dataclass(frozen=True)
class Space:
    """Space of a search; every array is (n,).

    Attributes:
        start: first point of the search.
        scale: size of a step of 1, by coordinate.
        low: lower bounds; -inf: none.
        high: upper bounds; inf: none.
        integer: indices of the coordinates that are whole numbers.
    """

    start: Point
    scale: Floats
    low: Floats
    high: Floats
    integer: tuple[int, ...] = ()


class Subject(ABC):
    """Something that is searched: knows its space, and the controller that a point of it represents.

    Attributes:
        space: space of the search.
        columns: keys of ``describe``.
        label: name of the best point in tables.
        before: baseline that the best point is compared with, as (name, controller); None: no baseline.
    """

    space: Space
    columns: Sequence[str]
    label: str
    before: tuple[str, Controller] | None = None

    @abstractmethod
    def describe(self, point: Point) -> Values:
        """Returns the values that the trials' log records of a point."""

    @abstractmethod
    def controller(self, point: Point, folder: Path) -> Controller:
        """The controller that a point represents; files that it needs are written into ``folder``."""

    @abstractmethod
    def save(self, point: Point, folder: Path) -> None:
        """Writes a checkpoint's files into ``folder``."""

    @abstractmethod
    def remarks(self, controller: Controller) -> list[str]:
        """Lines on the result, for users."""


class ParametersSubject(Subject):
    """A subject whose points are numbers in ranges, each with a start."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = dict(parameters)
        self.space = space_of(self.parameters)
        self.columns = tuple(self.parameters)

    def describe(self, point: Point) -> Values:
        """The parameters' values."""
        return dict(values_at(self.parameters, point))


def coordinate(parameter: Parameter, value: float) -> float:
    """Returns the coordinate of a value in the search: in [0, 1], or the value itself of whole numbers."""
    if parameter.integer:
        return value
    low, high = parameter.low, parameter.high
    if parameter.log:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def value_at(parameter: Parameter, at: float) -> int | float:
    """The value that a coordinate represents, within the range."""
    low, high = parameter.low, parameter.high
    if parameter.integer:
        return round(min(max(at, low), high))
    share = min(max(at, 0.0), 1.0)
    value = low * (high / low) ** share if parameter.log else low + share * (high - low)
    return min(max(value, low), high)


def space_of(parameters: Mapping[str, Parameter]) -> Space:
    """A coordinate in [0, 1] for each, of its logarithm if ``log``; whole numbers have their own unit."""
    each = parameters.values()
    ends = [(p.low - _ROUNDING, p.high + _ROUNDING) if p.integer else (0.0, 1.0) for p in each]
    low, high = np.array(ends).T
    start = np.array([coordinate(p, float(p.start or 0.0)) for p in each])
    return Space(start, high - low, low, high, tuple(i for i, p in enumerate(each) if p.integer))


def values_at(parameters: Mapping[str, Parameter], point: Point) -> dict[str, int | float]:
    """The value of each parameter at a point."""
    return {name: value_at(p, float(at)) for (name, p), at in zip(parameters.items(), point, strict=True)}

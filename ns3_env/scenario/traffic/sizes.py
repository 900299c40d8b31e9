# SPDX-License-Identifier: GPL-2.0-or-later
"""Sizes of flows: a single one, perhaps ``endless``, and distributions by name, points or file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Discriminator, Field, PrivateAttr, Tag, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import Self

from ns3_env.config import units
from ns3_env.config.bounds import MAX_BYTES, WHY_BYTES, Bytes, at_most
from ns3_env.config.files import LineFaults, NamedFile
from ns3_env.config.model import Strict, shown

#: As users write it.
ENDLESS: Literal["endless"] = "endless"
#: The same in columns of sizes: of ``Flows``, of the simulator's input, and of results.
ENDLESS_BYTES = 0

_read = units.reader(units.SIZE, is_whole=True)


def _size(value: Any) -> Any:
    try:
        return _read(value)
    except PydanticCustomError as error:
        text = f"{error}; a flow that never ends is '{ENDLESS}'"
        raise PydanticCustomError("wrong_unit", "{text}", {"text": text}) from None


def _tag(value: Any) -> str:
    return ENDLESS if value == ENDLESS else "bytes"


#: Of one flow. An endless one sends until the episode ends.
FlowSize = Annotated[
    Annotated[Literal["endless"], Tag(ENDLESS)]
    | Annotated[int, at_most(MAX_BYTES, WHY_BYTES), BeforeValidator(_size), Field(ge=1), Tag("bytes")],
    Discriminator(_tag),
]


def bytes_of(size: int | Literal["endless"]) -> int:
    """A size as columns have it."""
    return ENDLESS_BYTES if size == ENDLESS else size


def size_of(size_bytes: int) -> int | Literal["endless"]:
    """A column's size as a user writes it."""
    return ENDLESS if size_bytes == ENDLESS_BYTES else size_bytes


#: Flow-size distributions: (bytes, percent of flows no larger), linear between points
#: (docs/sources/traffic.md).
SIZE_CDFS: dict[str, list[tuple[float, float]]] = {
    "websearch": [
        (0, 0),
        (10_000, 15),
        (20_000, 20),
        (30_000, 30),
        (50_000, 40),
        (80_000, 53),
        (200_000, 60),
        (1_000_000, 70),
        (2_000_000, 80),
        (5_000_000, 90),
        (10_000_000, 97),
        (30_000_000, 100),
    ],
    "fb_hadoop": [
        (0, 0),
        (100, 1),
        (200, 2),
        (300, 5),
        (350, 15),
        (400, 20),
        (500, 30),
        (600, 40),
        (700, 50),
        (1_000, 60),
        (2_000, 67),
        (7_000, 70),
        (30_000, 72),
        (50_000, 82),
        (80_000, 87),
        (120_000, 90),
        (300_000, 95),
        (1_000_000, 97.5),
        (2_000_000, 99),
        (10_000_000, 100),
    ],
}


def to_percent(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Reads points (bytes, share) as (bytes, percent): shares that end at 1 are fractions."""
    factor = 100 if points and points[-1][1] == 1 else 1
    return [(size, factor * share) for size, share in points]


def distribution_fault(points: Sequence[tuple[float, float]]) -> str | None:
    """Why points (bytes, percent) are no distribution; None if they are one."""
    ascending = all(x <= y and p <= q for (x, p), (y, q) in itertools.pairwise(points))
    if len(points) < 2 or not ascending or points[0][1] != 0 or points[-1][1] != 100 or points[0][0] < 0:
        text = "points (bytes, percent) must ascend, from 0 to 100 percent, or to 1 as fractions"
        return f"{text}; they go from {points[0][1]:g} to {points[-1][1]:g}" if points else text
    return "sizes must be positive" if points[-1][0] <= 0 else None


def mean_size_bytes(cdf: Sequence[tuple[float, float]]) -> float:
    """Mean of a size distribution given by points, linear between them."""
    return sum((q - p) / 100 * (x + y) / 2 for (x, p), (y, q) in itertools.pairwise(cdf))


def sample_sizes(
    cdf: Sequence[tuple[float, float]], count: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """``count`` flow sizes (bytes, at least 1) drawn from a distribution."""
    sizes, percents = np.array(cdf, dtype=np.float64).T
    samples = np.interp(random.random(count) * 100, percents, sizes)
    whole: NDArray[np.int64] = np.maximum(np.rint(samples), 1).astype(np.int64)
    return whole


_NUMBER = re.compile(r"([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?")
MAX_POINTS = 100_000
_THREE_NUMBERS = (
    "three numbers, as ns-2 has them (size, a count, fraction): say unit_bytes, 1460 where sizes are packets "
    "(pFabric's files), 1 where they are bytes"
)


class SizeFile(Strict):
    """A file with a line ``size_bytes percent`` for each point, ascending from 0 to 100 percent, or to 1.

    Shares that end at 1 are fractions. Numbers are separated by blanks or a comma; empty lines, text after
    a ``#``, and a first line of words are ignored. A first line with a single number is the mean, as Homa's
    distributions have it: their first share is above 0, and no flow is smaller than its size. The same is
    true of lines with three numbers, ns-2's, whose second one is ignored; their sizes are packets in
    pFabric's files and bytes in others, so that ``unit_bytes`` must specify it. A relative ``file`` is looked
    for next to the scenario's file.
    """

    file: NamedFile
    unit_bytes: Bytes | None = Field(
        default=None, ge=1, description="of the file's sizes: 1460 if they count packets of as much; none: 1"
    )

    _points: list[tuple[float, float]] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _read(self) -> Self:
        wrong = LineFaults(self.file)
        wrong.read("distribution", lambda text: self._take(text.read().splitlines(), wrong))
        self._points = to_percent(self._points)
        if not wrong and (fault := distribution_fault(self._points)) is not None:
            wrong.add(0, fault)
        if wrong:
            # The key "file" already precedes it: it is the tag of this kind of sizes.
            raise ValueError("\n".join(text.removeprefix("file: ") for text in wrong.texts()))
        return self

    def _take(self, lines: Sequence[str], wrong: LineFaults) -> None:
        columns, with_mean = 0, False
        for number, line in enumerate(lines, start=1):
            words = line.partition("#")[0].replace(",", " ").split()
            if not words:
                continue
            if not columns and _is_header(words):
                columns = len(words)
                continue
            if len(words) == 1 and not (columns or with_mean) and _NUMBER.fullmatch(words[0]):
                with_mean = True
                continue
            if len(self._points) >= MAX_POINTS:
                wrong.add(number, f"there may be at most {MAX_POINTS} points: sizes need no more")
                break
            columns = columns or len(words)
            if len(words) != columns or columns not in (2, 3) or not all(map(_NUMBER.fullmatch, words)):
                wrong.add(number, f"{shown(line.strip())} is no point; a line holds size_bytes and percent")
                continue
            if columns == 3 and self.unit_bytes is None:
                wrong.add(number, _THREE_NUMBERS)
                break
            self._add(words, wrong, number, may_begin_above_0=with_mean or columns == 3)

    def _add(self, words: Sequence[str], wrong: LineFaults, number: int, *, may_begin_above_0: bool) -> None:
        """Adds the point of a line, or its fault."""
        size, percent = float(words[0]) * (self.unit_bytes or 1), float(words[-1])
        before = self._points[-1] if self._points else (0.0, 0.0)
        if size > MAX_BYTES:
            wrong.add(number, f"size_bytes is {words[0]}, must be in [0, {MAX_BYTES}]")
        elif size < before[0] or percent < before[1]:
            wrong.add(number, "sizes and percentages must ascend from line to line")
        else:
            if may_begin_above_0 and not self._points and percent > 0:
                self._points.append((size, 0.0))
            self._points.append((size, percent))

    @property
    def points(self) -> list[tuple[float, float]]:
        """(bytes, percent of flows no larger)."""
        return self._points


def _is_header(words: Sequence[str]) -> bool:
    """Returns whether a line has the columns' names."""
    return len(words) in (2, 3) and not any(digit.isdigit() for word in words for digit in word)

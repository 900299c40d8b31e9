# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the published simulator's files: counts and ids, a row a line, then comments.

The formats: docs/sources/published-simulator.md, "Files".
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ns3_env.config.model import shown
from ns3_env.errors import ScenarioWarning

#: Nanoseconds of the units that its times have.
UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_COUNT = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9.]+")


def nanoseconds(number: str, unit: str) -> int:
    """A time as the published simulator reads it: a double of the unit, cut to whole nanoseconds.

    Half of all times with decimals so become a nanosecond less: 0.35 us are 349 ns.

    Raises ValueError for what is no number, or a time without an end.
    """
    return math.floor(Fraction(float(number)) * UNITS_NS[unit])


class PublishedText:
    """A file's words in turn, each with its line."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = enumerate(lines, start=1)
        self._words: list[str] = []
        self.line = 0

    def next(self, what: str) -> str:
        """The next word. Raises ValueError where the file ends before ``what``."""
        while not self._words:
            number, text = next(self._lines, (0, ""))
            if not number:
                raise ValueError(f"the file ends where {what} should stand")
            self.line = number
            self._words = text.split()[::-1]
        return self._words.pop()

    def count(self, what: str) -> int:
        """The next word, a whole number. Raises ValueError."""
        word = self.next(what)
        if not _COUNT.fullmatch(word):
            raise ValueError(f"{what} is {shown(word)}, must be a whole number")
        return int(word)

    def row(self, columns: Sequence[str], what: str) -> list[str]:
        """The next line's words, one for each column. Raises ValueError where there are others."""
        words = [self.next(what), *self._words[::-1]]
        self._words = []
        if len(words) != len(columns):
            raise ValueError(f"{len(words)} values where {what} should stand: {' '.join(columns)}")
        return words

    def pass_over(self, file: str, columns: Sequence[str], what: str) -> None:
        """Reads to the file's end, which is a comment; a warning where that has more rows of numbers."""
        rows, first = 0, 0
        while True:
            if len(self._words) == len(columns) and all(_NUMBER.match(word) for word in self._words):
                rows, first = rows + 1, first or self.line
            number, text = next(self._lines, (0, ""))
            if not number:
                break
            self.line, self._words = number, text.split()
        if rows:
            warnings.warn(
                f"{file}:{first}: {rows} rows more than the first line announces ({what}) are a comment, as "
                "for the published simulator: they are not played",
                ScenarioWarning,
                stacklevel=2,
            )

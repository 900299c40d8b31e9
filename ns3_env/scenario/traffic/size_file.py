# SPDX-License-Identifier: GPL-2.0-or-later
"""Distribution of flow sizes from a file: a size and a percentage a line, as published."""

from __future__ import annotations

import re

from pydantic import PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_BYTES
from ns3_env.config.files import LineFaults, NamedFile, read_text
from ns3_env.config.model import Strict, shown
from ns3_env.scenario.traffic.sizes import distribution_fault

_NUMBER = re.compile(r"[0-9]{1,30}(\.[0-9]{0,30})?([eE]\+?[0-9]{1,2})?")
MAX_POINTS = 100_000


class SizeFile(Strict):
    """A file with a line ``size_bytes percent`` for each point, ascending from 0 to 100 percent.

    Empty lines, and what stands after a ``#``, say nothing. A relative ``file`` is looked for beside the
    scenario's own file.
    """

    file: NamedFile

    _points: list[tuple[float, float]] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _read(self) -> Self:
        wrong = LineFaults(self.file)
        try:
            self._points = _points(read_text(self.file), wrong)
        except OSError as error:
            wrong.add(0, error.strerror or str(error))
        except UnicodeDecodeError:
            wrong.add(0, "not a distribution: it is not UTF-8 text")
        if not wrong and (fault := distribution_fault(self._points)) is not None:
            wrong.add(0, fault)
        if wrong:
            # The key "file" stands before it already: it is the tag of this kind of sizes.
            raise ValueError("\n".join(text.removeprefix("file: ") for text in wrong.texts()))
        return self

    @property
    def points(self) -> list[tuple[float, float]]:
        """(bytes, percent of flows no larger)."""
        return self._points


def _points(text: str, wrong: LineFaults) -> list[tuple[float, float]]:
    points: list[tuple[float, float]] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(points) >= MAX_POINTS:
            wrong.add(number, f"there may be at most {MAX_POINTS} points: sizes need no more")
            break
        if len(words) != 2 or not all(_NUMBER.fullmatch(word) for word in words):
            wrong.add(number, f"{shown(line.strip())} is no point; a line holds size_bytes and percent")
            continue
        size, percent = map(float, words)
        if size > MAX_BYTES:
            wrong.add(number, f"size_bytes is {words[0]}, must be in [0, {MAX_BYTES}]")
        elif points and (size < points[-1][0] or percent < points[-1][1]):
            wrong.add(number, "sizes and percentages must ascend from line to line")
        else:
            points.append((size, percent))
    return points

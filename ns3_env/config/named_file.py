# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that a scenario names, found beside the scenario's own, and their faults by line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

_FAULTS_SHOWN = 10


def _beside_the_scenario(file: str, info: ValidationInfo) -> str:
    folder = (info.context or {}).get("folder", "")
    return os.path.abspath(os.path.join(folder, file))


#: A relative one lies beside the scenario's own file; for a scenario without, in the working directory.
NamedFile = Annotated[str, Field(min_length=1), AfterValidator(_beside_the_scenario)]


class LineFaults:
    """What is wrong with a file, each fault with its line."""

    def __init__(self, file: str = "") -> None:
        self.file = file
        self._found: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, line: int, text: str) -> None:
        """Line 0 is the file itself."""
        self._found.append((line, text))

    def texts(self, more: Iterable[tuple[int, str]] = ()) -> list[str]:
        """The first ones, and ``more``, by line, each as "file: PATH:LINE: text"; the others are counted."""
        found = sorted([*self._found, *more], key=lambda fault: fault[0])
        place = f"file: {self.file}"
        shown = [
            f"{place}:{line}: {text}" if line else f"{place}: {text}" for line, text in found[:_FAULTS_SHOWN]
        ]
        if len(found) > _FAULTS_SHOWN:
            shown.append(f"{place}: {len(found) - _FAULTS_SHOWN} more faults like these")
        return shown

# SPDX-License-Identifier: GPL-2.0-or-later
"""One attempt to read an input: an object, or one kind of error, quickly and in short lines."""

import re
import warnings
from collections.abc import Callable
from typing import TypeVar

from ns3_env.errors import ConfigError, ScenarioError, ScenarioWarning
from tests.cpu_time import within_cpu_s

T = TypeVar("T")

QUICKLY_S = 1.0
_MOST_CHARACTERS = 1000  # of a line

#: Inputs and refusals, by kind.
counts: dict[str, tuple[int, int]] = {}


def attempt(kind: str, read: Callable[[], T], source: str, most_lines: int = 25) -> T | None:
    """Returns the result of ``read`` on an input; None if it refuses it properly.

    Fails if it needs long, raises anything else, prints more than ``most_lines``, or prints something that
    does not name its source (``FILE: ``), or with the place in it (``FILE:LINE:COLUMN: ``).
    """
    count, refused = counts.get(kind, (0, 0))
    counts[kind] = count + 1, refused
    try:
        with within_cpu_s(QUICKLY_S), warnings.catch_warnings():
            warnings.simplefilter("ignore", ScenarioWarning)
            value = read()
    except (ConfigError, ScenarioError) as error:
        counts[kind] = count + 1, refused + 1
        text = str(error)
        assert text, "an error without words"
        assert len(text) < most_lines * _MOST_CHARACTERS
        assert len(text.splitlines()) <= most_lines
        place = re.escape(source.removesuffix(": ")) + r"(:\d+:\d+: |: )" * source.endswith(": ")
        assert all(re.match(place, line) for line in text.splitlines()), text
        return None
    return value

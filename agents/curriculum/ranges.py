# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranges that numbers are drawn from, their logarithms uniform."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import AfterValidator

Ends = tuple[int | float, int | float]


def ascending(ends: Ends) -> Ends:
    """The ends of a range. Raises ValueError where they are none."""
    if not 0 < ends[0] <= ends[1]:
        raise ValueError(f"a range is [least, largest], above 0: not {list(ends)}")
    return ends


#: Least and largest value; whole numbers where both are.
Range = Annotated[Ends, AfterValidator(ascending)]


def draw(ends: Ends, random: np.random.Generator) -> int | float:
    """A number of the range, its logarithm uniform: 25 to 100 is as likely as 100 to 400."""
    value = float(np.exp(random.uniform(np.log(ends[0]), np.log(ends[1]))))
    return round(value) if all(isinstance(end, int) for end in ends) else value

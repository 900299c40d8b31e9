# SPDX-License-Identifier: GPL-2.0-or-later
"""Numbers of an accepted input against the bounds of their names' units."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from ns3_env.config import bounds

#: The largest value of a number whose name ends so.
BY_UNIT: dict[str, float] = {
    "_ns": bounds.MAX_TIME_NS,
    "_bytes": bounds.MAX_BYTES,
    "_bps": bounds.MAX_RATE_BPS,
    "_s": bounds.MAX_WALL_S,
    "_probability": 1,
    "_share": 1,
}
#: Bound of every other number: seeds have 63 bits.
_LARGEST = 2**63


def faults(content: Any, name: str = "") -> Iterator[str]:
    """Names every number that is not finite, or too large for its unit."""
    if isinstance(content, BaseModel):
        for key in type(content).model_fields:
            if key != "attributes":  # of a controller: the simulator knows their ranges (test_attributes)
                yield from faults(getattr(content, key), key)
        yield from faults(content.model_extra or {}, name)
    elif isinstance(content, dict):
        for key, value in content.items():
            if key != "attributes":  # of a controller: the simulator knows their ranges (test_attributes)
                yield from faults(value, str(key))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from faults(value, name)
    elif isinstance(content, int | float) and not isinstance(content, bool):
        limit = next((high for end, high in BY_UNIT.items() if name.endswith(end)), None)
        if not math.isfinite(content):
            yield f"{name} is {content}"
        elif limit is not None and not 0 <= content <= limit:
            yield f"{name} is {content}, not in [0, {limit:g}]"
        elif isinstance(content, int) and abs(content) > _LARGEST:
            yield f"{name} is {content}"

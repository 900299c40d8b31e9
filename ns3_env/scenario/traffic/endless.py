# SPDX-License-Identifier: GPL-2.0-or-later
"""Size of a flow as a user writes it: a number of bytes, or ``endless``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag
from pydantic_core import PydanticCustomError

from ns3_env.config import units
from ns3_env.config.bounds import MAX_BYTES, WHY_BYTES, at_most

#: As users write it.
ENDLESS: Literal["endless"] = "endless"
#: The same in columns of sizes: of ``Flows``, of what the simulator reads, and of results.
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Copies an environment around branches of its simulators."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeVar

T = TypeVar("T")


def around(original: T, shared: Iterable[object], **replaced: Any) -> T:
    """A copy of the object without its constructor, its attributes copied deeply.

    Args:
        original: what is copied.
        shared: what both refer to, also within attributes.
        replaced: attributes of the copy.
    """
    memo = {id(thing): thing for thing in shared}
    made = object.__new__(type(original))
    rest = {name: value for name, value in original.__dict__.items() if name not in replaced}
    made.__dict__.update(copy.deepcopy(rest, memo), **replaced)
    return made

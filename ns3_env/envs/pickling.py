# SPDX-License-Identifier: GPL-2.0-or-later
"""Arguments that an environment keeps, to be made again after pickling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def arguments(variables: Mapping[str, Any]) -> dict[str, Any]:
    """A constructor's arguments, from its ``locals()`` as it starts, in EzPickle's form."""
    return {name: value for name, value in variables.items() if name not in ("self", "__class__")}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Makes a package's ``__getattr__``.

    Args:
        package: name of the package, for errors.
        names: the module of each public name; some need libraries that are extras.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(names[name]), name)

    return find

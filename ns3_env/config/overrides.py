# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets values by dotted keys, such as ``traffic.parts.0.load``, in mappings and lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def put(data: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """``data`` with the value at ``key``; what is on the way is copied, what is not there is made.

    Args:
        data: keys and values, as in a YAML file.
        key: names from the outside to the inside, with dots between them; ``0`` of what is not there is
            the first entry of a list.
        value: what is put there.

    Raises:
        ValueError: the key leads through something that holds no keys, or to an entry that a list lacks.
    """
    result = dict(data)
    at: dict[str, Any] | list[Any] = result
    *parents, last = names = key.split(".")
    for depth, parent in enumerate(parents):
        there = at[_entry(at, parent)] if isinstance(at, list) else at.get(parent)
        inner = _made(names[depth + 1]) if there is None else there
        if not isinstance(inner, dict | list):
            raise ValueError(f"{'.'.join(parents[: depth + 1])!r} holds a value, not keys")
        copied = dict(inner) if isinstance(inner, dict) else list(inner)
        _set(at, parent, copied)
        at = copied
    _set(at, last, value)
    return result


def _made(name: str) -> dict[str, Any] | list[Any]:
    """What has an entry of this name, where there is nothing yet."""
    if name == "0":
        return [None]
    if name.isascii() and name.isdecimal():
        raise ValueError(f"{name[:40]!r} is no entry of a list that is not there yet: it begins with 0")
    return {}


def _set(at: dict[str, Any] | list[Any], name: str, value: Any) -> None:
    if isinstance(at, list):
        at[_entry(at, name)] = value
    else:
        at[name] = value


def _entry(at: list[Any], name: str) -> int:
    """The place in a list that the name is. Raises ValueError."""
    if name.isascii() and name.isdecimal() and len(name) <= 9 and int(name) < len(at):
        return int(name)
    there = f"0 to {len(at) - 1}" if at else "there are none"
    raise ValueError(f"{name[:40]!r} is no entry of a list; its entries have numbers: {there}")

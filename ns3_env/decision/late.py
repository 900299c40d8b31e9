# SPDX-License-Identifier: GPL-2.0-or-later
"""Dicts and lists whose content is worked out when somebody first looks: what infos tell of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=type)


def _looks(*names: str) -> Callable[[T], T]:
    """A class decorator: these methods of its base fill the object first."""

    def put(target: T) -> T:
        base: type = target.__mro__[1]

        def looking(name: str) -> Callable[..., Any]:
            method = getattr(base, name)

            def look(self: Any, *arguments: Any, **keywords: Any) -> Any:
                self.fill()
                return method(self, *arguments, **keywords)

            return look

        for name in names:
            setattr(target, name, looking(name))
        return target

    return put


_BOTH = (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__repr__"),
    *("__reversed__", "__setitem__", "clear", "copy", "pop"),
)


@_looks(
    *_BOTH,
    "__ior__",
    "__or__",
    "__ror__",
    "get",
    "items",
    "keys",
    "popitem",
    "setdefault",
    "update",
    "values",
)
class LateDict(dict[str, Any]):
    """A dict that begins to hold what ``make()`` gives when it is first read, compared, copied or changed.

    It may be dropped unread at next to no cost. What ``make`` works with must not change until then.
    """

    __slots__ = ("_make",)
    __hash__ = None

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        """``make()``: the content, asked for at most once."""
        self._make: Callable[[], dict[str, Any]] | None = make
        dict.__setitem__(
            self, "", None
        )  # so that C code that asks for the size alone does not take it for empty

    def fill(self) -> None:
        """Nobody needs to call it."""
        make, self._make = self._make, None
        if make is not None:
            dict.clear(self)
            dict.update(self, make())

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)


@_looks(
    *_BOTH,
    *("__add__", "__ge__", "__gt__", "__iadd__", "__imul__", "__le__", "__lt__", "__mul__", "__rmul__"),
    *("append", "count", "extend", "index", "insert", "remove", "reverse", "sort"),
)
class LateList(list[Any]):
    """A list that begins to hold what ``make()`` gives when it is first read, compared, copied or changed.

    As :class:`LateDict`.
    """

    __slots__ = ("_make",)
    __hash__ = None

    def __init__(self, make: Callable[[], list[Any]]) -> None:
        """``make()``: the content, asked for at most once."""
        self._make: Callable[[], list[Any]] | None = make
        list.append(self, None)

    def fill(self) -> None:
        """Nobody needs to call it."""
        make, self._make = self._make, None
        if make is not None:
            list.clear(self)
            list.extend(self, make())

    def __radd__(self, other: list[Any]) -> list[Any]:
        return other + self[:]

    def __reduce__(self) -> Any:
        return list, (self.copy(),)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads rates, times and sizes with their units, such as "25Gbps" or "64KiB", exactly.

``k`` and ``K`` are 1000, ``Ki`` is 1024; so are the larger ones. A number without a unit is in the unit that
the key's name ends with.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from pydantic_core import PydanticCustomError

from ns3_env.config.model import shown

#: Digits and exponents are few, so that no text makes a number that is slow to compute.
_NUMBER = r"[+-]?(?:[0-9][0-9_]{0,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,2})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*([^\W\d_][\w/]*)?\s*")


@dataclass(frozen=True)
class Dimension:
    """Something that is measured, and the units that it is written with.

    Attributes:
        name: name with its article, for errors.
        unit: unit of a number without one.
        units: size of each unit, in multiples of ``unit``.
        listed: units that errors name.
        example: one of them in use.
    """

    name: str
    unit: str
    units: Mapping[str, Fraction]
    listed: str
    example: str

    @property
    def takes(self) -> str:
        """Describes valid values, for errors."""
        return f"{self.name} takes {self.listed} (such as {self.example}), or a number of {self.unit}"


def _prefixed(prefixes: Mapping[str, int], *units: str) -> dict[str, Fraction]:
    return {prefix + unit: Fraction(factor) for prefix, factor in prefixes.items() for unit in units}


_DECIMAL = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

RATE = Dimension(
    "a rate",
    "bit/s",
    _prefixed(_DECIMAL, "bps", "b/s", "bit/s"),
    "bps, kbps, Mbps, Gbps or Tbps",
    "25Gbps",
)
TIME = Dimension(
    "a time",
    "ns",
    {
        "ps": Fraction(1, 1000),
        "ns": Fraction(1),
        **dict.fromkeys(("us", "\N{MICRO SIGN}s", "\N{GREEK SMALL LETTER MU}s"), Fraction(10**3)),
        "ms": Fraction(10**6),
        "s": Fraction(10**9),
    },
    "ps, ns, us, ms or s",
    "10us",
)
SIZE = Dimension(
    "a size",
    "bytes",
    {**_prefixed(_DECIMAL, "B"), **_prefixed(_BINARY, "B")},
    "B, kB, MB, GB, TB, or KiB, MiB, GiB, TiB",
    "64KiB",
)

#: Units of keys, by their ending.
BY_SUFFIX = {"_bps": RATE, "_ns": TIME, "_bytes": SIZE}


def quantity(text: str, dimension: Dimension) -> Fraction:
    """The number of ``dimension.unit`` that a text represents, exactly.

    Raises ValueError, listing the units.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{shown(text)} is no number with a unit: {dimension.takes}")
    number, unit = Fraction(match[1].replace("_", "")), match[2]
    if unit is None:
        return number
    if unit in dimension.units:
        return number * dimension.units[unit]
    other = next((x for x in (RATE, TIME, SIZE) if unit in x.units), None)
    what = f"is {other.name}" if other is not None else f"has the unknown unit {shown(unit)}"
    raise ValueError(f"{shown(text)} {what}; {dimension.takes}")


def whole(text: str, dimension: Dimension) -> int:
    """Reads a whole number as ``quantity`` does. Raises ValueError."""
    number = quantity(text, dimension)
    if number.denominator != 1:
        raise ValueError(f"{shown(text)} is no whole number of {dimension.unit}")
    return int(number)


def reader(dimension: Dimension, *, is_whole: bool) -> Callable[[Any], Any]:
    """A validator's function: texts become numbers, all else stays as it is."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return whole(value, dimension) if is_whole else float(quantity(value, dimension))
        except ValueError as error:
            raise PydanticCustomError("wrong_unit", "{text}", {"text": str(error)}) from None

    return read


def nanoseconds(text: str) -> int:
    """An option's value, in argparse's form. Raises ArgumentTypeError."""
    try:
        return whole(text, TIME)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def plain(data: Any) -> Any:
    """Keys and values with numbers in place of texts with units, at any depth, as resolved files keep them.

    Any other value stays: the key's reader reports its fault.
    """
    if isinstance(data, Mapping):
        return {key: _plain_value(str(key), value) for key, value in data.items()}
    return [plain(value) for value in data] if isinstance(data, list) else data


def _plain_value(key: str, value: Any) -> Any:
    dimension = next((x for end, x in BY_SUFFIX.items() if key.endswith(end)), None)
    if dimension is None or isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, list):
        return [_plain_value(key, x) for x in value]
    if not isinstance(value, str):
        return value
    try:
        number = quantity(value, dimension)
    except ValueError:
        return value
    return int(number) if number.denominator == 1 and dimension is not RATE else float(number)

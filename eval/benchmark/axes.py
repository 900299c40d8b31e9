# SPDX-License-Identifier: GPL-2.0-or-later
"""Parses the axes of a sweep's command line: ``key=a,b,c`` and ``key=range(start,stop,step)``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any

import yaml

from ns3_env.config.model import shown
from ns3_env.config.yaml import parse
from ns3_env.errors import ScenarioError
from ns3_env.eval.benchmark.grid import MAX_POINTS

_RANGE = re.compile(r"\s*range\(([^()]*)\)\s*")


def parse_axes(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Key -> its values, in the order given. Raises ScenarioError, naming the text."""
    found: dict[str, list[Any]] = {}
    for text in texts:
        key, equals, values = text.partition("=")
        if not (key and equals):
            raise ScenarioError(f"command line: {shown(text)} is not of the form key=a,b,c")
        if key in found:
            raise ScenarioError(f"command line: {key}: is there twice; its values go into one list")
        match = _RANGE.fullmatch(values)
        found[key] = _range(key, match[1]) if match else _listed(key, values)
    return found


def _listed(key: str, text: str) -> list[Any]:
    """What stands between commas, each as YAML. Raises ScenarioError."""
    try:
        values = parse(f"[{text}]")
    except yaml.YAMLError:
        raise ScenarioError(f"command line: {key}: not YAML values with commas: {shown(text)}") from None
    if not isinstance(values, list) or not values:
        raise ScenarioError(f"command line: {key}: there are no values: {key}=a,b,c")
    return [_number(value) for value in values]


def _number(value: Any) -> Any:
    """YAML takes 1e9 for a text; the simulator, and a figure's axis, for a number."""
    if not isinstance(value, str) or not re.fullmatch(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+", value):
        return value
    return float(value)


def _range(key: str, text: str) -> list[Any]:
    """As Python's: from start in steps of step, without stop; of decimal numbers, exactly."""
    place = f"command line: {key}: range({text})"
    try:
        numbers = [Decimal(part.strip()) for part in text.split(",")]
    except InvalidOperation:
        raise ScenarioError(f"{place}: expected range(start,stop) or range(start,stop,step)") from None
    if len(numbers) not in (2, 3) or not all(number.is_finite() for number in numbers):
        raise ScenarioError(f"{place}: expected range(start,stop) or range(start,stop,step)")
    start, stop, step = (*numbers, Decimal(1))[:3]
    if step == 0 or (stop - start) / step <= 0:
        raise ScenarioError(f"{place}: holds no values: steps of {step} do not lead from {start} to {stop}")
    count = ((stop - start) / step).to_integral_value(ROUND_CEILING)
    if count > MAX_POINTS:
        raise ScenarioError(f"{place}: {count} values; there may be at most {MAX_POINTS}")
    whole = all(number == number.to_integral_value() for number in (start, step))
    values = [start + number * step for number in range(int(count))]
    return [int(value) if whole else float(value) for value in values]

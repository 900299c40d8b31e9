# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces as JSON, as three projects write them.

Chakra's jsonizer: the metadata and then each node, an object behind the other, as protocol buffers are in
JSON (numbers of 64 bits as texts, zeros left out). Chakra's feeder: one object, whose ``workload_graph``
lists nodes with their attributes next to ``Id``, ``NodeType``, ``runtime``. STAGE: the same as ``nodes``,
with names instead of types' numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.trace import (
    COMM_TYPES,
    INPUTS,
    METADATA,
    NODE_TYPES,
    Node,
    checked_bits,
    take_number,
)
from ns3_env.scenario.traffic.chakra.wire import Budget, WireError

_BEGIN = re.compile(rb"\s*\{\s*[\"}]")
_SPACE = re.compile(r"\s*")
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: Other projects' names of a node's parts, by how they are spelt in the schema.
_SAME = {"node_type": "type", "runtime": "duration_micros"}
_TYPES = {name: number for number, name in enumerate(NODE_TYPES)} | {
    "COLL_COMM_NODE": NODE_TYPES.index("COMM_COLL_NODE")
}
_DEPENDENCIES = ("ctrl_deps", "data_deps")
#: Keys of nodes that are no attributes.
_PARTS = {"id", "name", "type", "duration_micros", "start_time_micros", "inputs", "outputs", "attr"}


def is_json(data: bytes) -> bool:
    """Returns whether a file starts as one of JSON does."""
    return _BEGIN.match(data) is not None


def read_json(data: bytes, budget: Budget) -> list[Node]:
    """The nodes of a file of JSON. Raises WireError: its fault, and at which node."""
    try:
        objects = list(_objects(data.decode(), budget))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise WireError(f"no JSON: {error}") from None
    first = objects[0]
    for key in ("workload_graph", "nodes"):
        if isinstance(first.get(key), list):
            if key == "nodes" and "schema" in first:
                raise WireError("a trace of PyTorch starts with its schema; write that key first")
            objects = [first, *first[key]]
            budget.spend(nodes=len(objects))
            break
    if "traceEvents" in first:
        raise WireError("a trace of Kineto has traceEvents within its first MiB, and a list of them")
    return [_node(content, place) for place, content in enumerate(objects[1:])]


def _objects(text: str, budget: Budget) -> Iterator[dict[str, Any]]:
    decoder, place = json.JSONDecoder(), _end_of_space(text, 0)
    while place < len(text):
        content, place = decoder.raw_decode(text, place)
        if not isinstance(content, dict):
            raise WireError(f"{shown(content)} where an object should stand")
        budget.spend(nodes=1)
        yield content
        place = _end_of_space(text, place)


def _end_of_space(text: str, place: int) -> int:
    space = _SPACE.match(text, place)
    return place if space is None else space.end()


def _node(content: Any, place: int) -> Node:
    if not isinstance(content, dict):
        raise WireError(f"node {place} of the list is {shown(content)}, no object")
    parts = {_spelling(str(key)): value for key, value in content.items()}
    number = _whole(parts.get("id", 0), f"node {place} of the list: id")
    where = f"node {number}"
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    attributes = parts.get("attr", [])
    if not isinstance(attributes, list):
        raise WireError(f"{where}: attr is {shown(attributes)}, no list")
    for attribute in attributes:
        _take_attribute(attribute, where, numbers, texts)
    for key, value in parts.items():
        if key not in _PARTS and key not in _DEPENDENCIES:
            _take(key, value, where, numbers, texts)
    kind = _type(parts.get("type", 0), where)
    if kind == METADATA and isinstance(parts.get("inputs"), dict):
        texts[INPUTS] = str(parts["inputs"].get("values", ""))
    if texts.get("comm_type") in COMM_TYPES:
        numbers["comm_type"] = COMM_TYPES[texts.pop("comm_type")]
    after = [_whole(x, f"{where}: {key}") for key in _DEPENDENCIES for x in _list(parts.get(key, []), where)]
    micros = _whole(parts.get("duration_micros", 0), f"{where}: duration_micros")
    micros = micros or numbers.get("runtime", 0)
    return Node(number, kind, str(parts.get("name", "")), tuple(dict.fromkeys(after)), micros, numbers, texts)


def _spelling(key: str) -> str:
    """A key as the schema spells it."""
    name = _CAPITAL.sub("_", key).lower()
    return _SAME.get(name, name)


def _take_attribute(attribute: Any, where: str, numbers: dict[str, int], texts: dict[str, str]) -> None:
    """Keeps an AttributeProto: its name, and its one value, without the description."""
    if not isinstance(attribute, Mapping):
        raise WireError(f"{where}: an attribute is {shown(attribute)}, no object")
    name = str(attribute.get("name", ""))
    for key, value in attribute.items():
        kind = _spelling(str(key))
        if kind.endswith("_val") and kind != "bytes_val":
            whole = kind not in ("string_val", "double_val", "float_val", "bool_val")
            _take(name, _whole(value, f"{where}: {name}") if whole else value, where, numbers, texts)


def _take(name: str, value: Any, where: str, numbers: dict[str, int], texts: dict[str, str]) -> None:
    if isinstance(value, bool | int):
        numbers[name] = checked_bits(int(value), f"{where}: {shown(name)[1:-1]}")
    elif isinstance(value, float):
        take_number(name, value, numbers, texts)
    elif isinstance(value, str):
        texts[name] = value


def _whole(value: Any, what: str) -> int:
    """A whole number of 64 bits, which may be a text. Raises WireError."""
    try:
        if isinstance(value, float) and not (math.isfinite(value) and value.is_integer()):
            raise ValueError
        number = int(value)
    except (TypeError, ValueError):
        raise WireError(f"{what} is {shown(value)}, must be a whole number") from None
    return checked_bits(number, what)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise WireError(f"{where}: its dependencies are {shown(value)}, no list")
    return value


def _type(value: Any, where: str) -> int:
    if isinstance(value, str) and value.upper() in _TYPES:
        return _TYPES[value.upper()]
    return _whole(value, f"{where}: type")

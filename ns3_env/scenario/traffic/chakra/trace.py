# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra: the nodes that one rank's file has.

Of the schema (``et_def.proto``, package ChakraProtoMsg) what traffic needs: GlobalMetadata (version 1), Node
(id 1, name 2, type 3, ctrl_deps 4, data_deps 5, duration_micros 7, attr 10), AttributeProto (name 1, and one
of the values 3 to 32). A file is the metadata and then the nodes, each behind its length.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ns3_env.scenario.traffic.chakra import wire

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
#: Names of the schema's NodeType that are known here.
NODE_TYPES = range(1, 11)
COLLECTIVES = {
    0: "ALL_REDUCE",
    1: "REDUCE",
    2: "ALL_GATHER",
    3: "GATHER",
    4: "SCATTER",
    5: "BROADCAST",
    6: "ALL_TO_ALL",
    7: "REDUCE_SCATTER",
    8: "REDUCE_SCATTER_BLOCK",
    9: "BARRIER",
}
VERSION = b"0.0.4"
_ID, _NAME, _TYPE, _CONTROL, _DATA, _DURATION, _ATTRIBUTE = 1, 2, 3, 4, 5, 7, 10
#: Fields of AttributeProto that hold one whole number: int32, int64, uint32, uint64; a bool; and a text.
_WHOLE, _BOOL, _TEXT = (7, 9, 11, 13), 27, 29


@dataclass(frozen=True)
class Node:
    """A node of one rank's trace; ``after`` are ids of nodes of the same rank."""

    id: int
    type: int
    name: str = ""
    after: tuple[int, ...] = ()
    duration_micros: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """An attribute that the node must have. Raises WireError."""
        if name not in self.numbers:
            raise wire.WireError(f"node {self.id} ({self.name}) has no attribute {name}")
        return self.numbers[name]


def read_trace(data: bytes) -> list[Node]:
    """The nodes of a file. Raises wire.WireError: what is wrong with it."""
    _, *nodes = wire.messages(data) if data else (b"",)
    found = [_node(message) for message in nodes]
    known = {node.id for node in found}
    if len(known) < len(found):
        raise wire.WireError("several nodes have the same id")
    for node in found:
        if strange := [other for other in node.after if other not in known]:
            raise wire.WireError(f"node {node.id} depends on {strange[0]}, which there is not")
        if node.type not in NODE_TYPES:
            raise wire.WireError(f"node {node.id} has type {node.type}, which the schema has not")
    return found


def _node(message: bytes) -> Node:
    number = {_ID: 0, _TYPE: 0, _DURATION: 0}
    name, after = "", []
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    for key, _, value in wire.fields(message):
        if key in number and isinstance(value, int):
            number[key] = value
        elif key == _NAME and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif key in (_CONTROL, _DATA):
            after += wire.packed(value)
        elif key == _ATTRIBUTE and isinstance(value, bytes):
            _attribute(value, numbers, texts)
    unique = tuple(dict.fromkeys(after))
    return Node(number[_ID], number[_TYPE], name, unique, number[_DURATION], numbers, texts)


def _attribute(message: bytes, numbers: dict[str, int], texts: dict[str, str]) -> None:
    name = ""
    for key, _, value in wire.fields(message):
        if key == 1 and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif key in (*_WHOLE, _BOOL) and isinstance(value, int):
            numbers[name] = wire.signed(value)
        elif key == _TEXT and isinstance(value, bytes):
            texts[name] = value.decode("utf-8", "replace")


def written_trace(nodes: Iterable[Node]) -> bytes:
    """A file with these nodes; numbers are int64."""
    return wire.framed(wire.written(1, VERSION)) + b"".join(wire.framed(_written(node)) for node in nodes)


def _written(node: Node) -> bytes:
    parts = [
        wire.written(_ID, node.id),
        wire.written(_NAME, node.name.encode()),
        wire.written(_TYPE, node.type),
    ]
    if node.after:
        parts.append(wire.written(_DATA, b"".join(map(wire.written_varint, node.after))))
    if node.duration_micros:
        parts.append(wire.written(_DURATION, node.duration_micros))
    for name, value in node.numbers.items():
        parts.append(wire.written(_ATTRIBUTE, wire.written(1, name.encode()) + wire.written(9, value)))
    for name, text in node.texts.items():
        content = wire.written(1, name.encode()) + wire.written(_TEXT, text.encode())
        parts.append(wire.written(_ATTRIBUTE, content))
    return b"".join(parts)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra: the nodes that one rank's file of protocol buffers has.

Of the schema (``et_def.proto``, package ChakraProtoMsg) the parts that traffic needs: GlobalMetadata (version
1), Node (id 1, name 2, type 3, ctrl_deps 4, data_deps 5, duration_micros 7, inputs 8, attr 10), IOInfo
(values 1), AttributeProto (name 1, and one of the values 3 to 32). A file is the metadata and then the nodes,
each behind its length.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise

from ns3_env.config.bounds import MAX_BYTES, MAX_TIME_NS
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra import wire

METADATA, LOAD, STORE, COMPUTE, SEND, RECEIVE, COLLECTIVE = 1, 2, 3, 4, 5, 6, 7
#: The schema's NodeType, by number; 0 is a node without a type, which is over after its duration.
NODE_TYPES = (
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
    "STORAGE_NODE",
    "BATCH_NODE",
    "CHECKPOINT_NODE",
)
#: Attribute of a metadata node: its inputs' values, in which PyTorch records process groups.
INPUTS = "inputs.values"
#: Attributes of schedules' nodes, which files of traces lack: number of the unit that computes; a receive has
#: the first send of any tag; the node is over when it may start.
CPU, ANY_TAG, AT_ONCE = "goal cpu", "goal any tag", "goal at once"
#: Attribute of a collective: the kind of parallelism ("tensor", "data"); results name it with the collective.
PARALLELISM = "parallelism"
#: Attribute of an all-to-all: the list of sizes, in any unit, that it sends to each rank of its group.
SPLIT = "in_split_size"
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
#: comm_type of a collective, by its name.
COMM_TYPES = {name: number for number, name in COLLECTIVES.items()}
VERSION = b"0.0.4"
_ID, _NAME, _TYPE, _CONTROL, _DATA, _DURATION, _INPUTS, _ATTRIBUTE = 1, 2, 3, 4, 5, 7, 8, 10
#: Fields of AttributeProto with one value: whole numbers and bools as varints, numbers of fixed length,
#: texts.
_WHOLE = dict.fromkeys((7, 9, 11, 13, 27), wire.signed) | dict.fromkeys((15, 17), wire.unzigzag)
_FIXED = {3: "d", 5: "f", 19: "I", 21: "Q", 23: "i", 25: "q"}
_TEXT = 29
_MAX_MICROS = MAX_TIME_NS // 1000


@dataclass(frozen=True)
class Node:
    """A node of one rank's trace; ``after`` are ids of nodes of the same rank, which may lie behind it in the
    file, or not in it at all."""

    id: int
    type: int
    name: str = ""
    after: tuple[int, ...] = ()
    duration_micros: float = 0
    numbers: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"node {self.id} ({self.shown_name})"

    @property
    def shown_name(self) -> str:
        """The name as an error shows it: in one line, shortened."""
        return shown(self.name)[1:-1]

    def number(self, name: str, default: int | None = None) -> int:
        """An attribute, a number or a number's text; without a default it must be there. Raises WireError."""
        if name in self.numbers:
            return self.numbers[name]
        if name not in self.texts and default is not None:
            return default
        try:
            number = int(self.texts[name])
        except KeyError:
            raise wire.WireError(f"{self} has no attribute {name}") from None
        except ValueError:
            raise wire.WireError(f"{self}: {name} is {shown(self.texts[name])}, no whole number") from None
        return checked_bits(number, f"{self}: {name}")

    def has(self, name: str | None) -> bool:
        """Returns whether it has this attribute."""
        return name in self.numbers or name in self.texts

    def text(self, name: str) -> str:
        """An attribute as a text, "" without one."""
        return self.texts.get(name) or str(self.numbers.get(name, ""))

    @property
    def group(self) -> str:
        """Name of its process group, which older traces of STAGE call ``comm_group``; "" without one."""
        return self.text("pg_name") or self.text("comm_group")

    def size(self) -> int:
        """Bytes that it moves (``comm_size``). Raises WireError."""
        size = self.number("comm_size")
        if not 0 <= size <= MAX_BYTES:
            raise wire.WireError(f"{self}: comm_size is {size}, must be in [0, {MAX_BYTES}]")
        return size

    def parts(self, ranks: int) -> list[int]:
        """Bytes that it sends to each rank of its group (``in_split_size``); [] if that has no list of all.
        Raises WireError."""
        if not self.has(SPLIT):
            return []
        try:
            split = json.loads(self.text(SPLIT))
        except (ValueError, RecursionError):  # PyTorch's profiler cuts long ones: [1, 2, ..., 3]
            return []
        if not isinstance(split, list) or not all(type(x) is int and x >= 0 for x in split):
            raise wire.WireError(f"{self}: {SPLIT} is {shown(split)}, must be a list of sizes")
        if split and len(split) != ranks:
            raise wire.WireError(f"{self}: {SPLIT} has {len(split)} sizes for {ranks} ranks")
        size, total = self.size(), sum(split)
        edges = [size * edge // max(total, 1) for edge in accumulate(split, initial=0)]
        return [end - begin for begin, end in pairwise(edges)] if total else []

    @property
    def iteration(self) -> int:
        """The job's iteration that it is of (``iteration``, which traces of files have not)."""
        return self.numbers.get("iteration", 0)

    def takes_turns(self) -> bool:
        """Returns whether it is a computation, of which a unit of its rank does one after the other."""
        return self.type == COMPUTE

    @property
    def unit(self) -> tuple[bool, int]:
        """Unit of its rank that does it: whether that is a processor, and its number (``CPU``)."""
        return self.of_processor(), self.numbers.get(CPU, 0)

    def of_processor(self) -> bool:
        """Returns whether the processor does it (``is_cpu_op``), and not the accelerator."""
        return bool(self.numbers.get("is_cpu_op"))

    def launches(self) -> bool:
        """Returns whether the processor starts another node's communication here."""
        required = {COLLECTIVE: "comm_type", SEND: "comm_dst", RECEIVE: "comm_src"}.get(self.type)
        return self.of_processor() and not self.has(required)


def read_protobuf(data: bytes, budget: wire.Budget) -> list[Node]:
    """The nodes of a file of protocol buffers. Raises wire.WireError: its fault."""
    _, *nodes = islice(wire.messages(data), budget.nodes + 2) if data else (b"",)
    budget.spend(nodes=len(nodes))
    return [_node(message) for message in nodes]


def check_nodes(trace: Sequence[Node]) -> None:
    """Raises wire.WireError if nodes do not follow the schema, or two have the same id."""
    if len({node.id for node in trace}) < len(trace):
        raise wire.WireError("several nodes have the same id")
    for node in trace:
        if not 0 <= node.type < len(NODE_TYPES):
            raise wire.WireError(f"node {node.id} has type {node.type}, which the schema has not")
        if not 0 <= node.duration_micros <= _MAX_MICROS:
            raise wire.WireError(f"{node}: duration_micros is {node.duration_micros}, at most {_MAX_MICROS}")


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
        elif key == _INPUTS and isinstance(value, bytes) and number[_TYPE] == METADATA:
            texts[INPUTS] = _text_field(value, 1)
    unique = tuple(dict.fromkeys(after))
    micros = number[_DURATION] or numbers.get("runtime", 0)
    return Node(number[_ID], number[_TYPE], name, unique, micros, numbers, texts)


def _text_field(message: bytes, number: int) -> str:
    """A message's text with this number, "" without one."""
    texts = (value for key, _, value in wire.fields(message) if key == number and isinstance(value, bytes))
    return next(texts, b"").decode("utf-8", "replace")


def _attribute(message: bytes, numbers: dict[str, int], texts: dict[str, str]) -> None:
    name = ""
    for key, _, value in wire.fields(message):
        if key == 1 and isinstance(value, bytes):
            name = value.decode("utf-8", "replace")
        elif key in _WHOLE and isinstance(value, int):
            numbers[name] = _WHOLE[key](value)
        elif key in _FIXED and isinstance(value, bytes):
            take_number(name, wire.read_fixed(value, _FIXED[key]), numbers, texts)
        elif key == _TEXT and isinstance(value, bytes):
            texts[name] = value.decode("utf-8", "replace")


def checked_bits(number: int, what: str) -> int:
    """A whole number, which must have 64 bits. Raises WireError."""
    if not -(1 << 63) <= number < 1 << 64:
        raise wire.WireError(f"{what} is {shown(number)}, which has more than 64 bits")
    return number


def take_number(name: str, number: float, numbers: dict[str, int], texts: dict[str, str]) -> None:
    """Keeps a number; one that is not whole as a text, which errors show."""
    if math.isfinite(number) and number == int(number):
        numbers[name] = int(number)
    else:
        texts[name] = str(number)


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
        parts.append(wire.written(_DURATION, int(node.duration_micros)))
    for name, value in node.numbers.items():
        parts.append(wire.written(_ATTRIBUTE, wire.written(1, name.encode()) + wire.written(9, value)))
    for name, text in node.texts.items():
        content = wire.written(1, name.encode()) + wire.written(_TEXT, text.encode())
        parts.append(wire.written(_ATTRIBUTE, content))
    return b"".join(parts)

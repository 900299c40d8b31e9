# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces of MLCommons Chakra: the nodes that one rank's file of protocol buffers has.

A file is a GlobalMetadata and then Nodes, each behind its length.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

from ns3_env.config.bounds import MAX_BYTES, MAX_TIME_NS
from ns3_env.config.model import shown
from ns3_env.config.protobuf import message_classes
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError

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
#: The parts of the schema (et_def.proto) that traffic needs; proto2, so that an attribute of 0 is there.
_SCHEMA = """
syntax = "proto2";
package ChakraProtoMsg;
message GlobalMetadata { optional string version = 1; }
message IOInfo { optional string values = 1; }
message AttributeProto {
    optional string name = 1; optional double double_val = 3; optional float float_val = 5;
    optional int32 int32_val = 7; optional int64 int64_val = 9; optional uint32 uint32_val = 11;
    optional uint64 uint64_val = 13; optional sint32 sint32_val = 15; optional sint64 sint64_val = 17;
    optional fixed32 fixed32_val = 19; optional fixed64 fixed64_val = 21; optional sfixed32 sfixed32_val = 23;
    optional sfixed64 sfixed64_val = 25; optional bool bool_val = 27; optional string string_val = 29;
}
message Node {
    optional uint64 id = 1; optional string name = 2; optional uint64 type = 3;
    repeated uint64 ctrl_deps = 4; repeated uint64 data_deps = 5; optional uint64 duration_micros = 7;
    optional IOInfo inputs = 8; repeated AttributeProto attr = 10;
}
"""
_MAX_MICROS = MAX_TIME_NS // 1000
_SAME_ID = "several nodes have the same id"


@cache
def _messages() -> dict[str, Any]:
    return message_classes(_SCHEMA)


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
        """An attribute, a number or its text; without a default it must be there. Raises TraceError."""
        if name in self.numbers:
            return self.numbers[name]
        if name not in self.texts and default is not None:
            return default
        try:
            number = int(self.texts[name])
        except KeyError:
            raise TraceError(f"{self} has no attribute {name}") from None
        except ValueError:
            raise TraceError(f"{self}: {name} is {shown(self.texts[name])}, no whole number") from None
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
        """Bytes that it moves (``comm_size``). Raises TraceError."""
        size = self.number("comm_size")
        if not 0 <= size <= MAX_BYTES:
            raise TraceError(f"{self}: comm_size is {size}, must be in [0, {MAX_BYTES}]")
        return size

    def parts(self, ranks: int) -> list[int]:
        """Bytes that it sends to each rank of its group (``in_split_size``); [] if that has no list of all.
        Raises TraceError."""
        if not self.has(SPLIT):
            return []
        try:
            split = json.loads(self.text(SPLIT))
        except (ValueError, RecursionError):  # PyTorch's profiler cuts long ones: [1, 2, ..., 3]
            return []
        if not isinstance(split, list) or not all(type(x) is int and x >= 0 for x in split):
            raise TraceError(f"{self}: {SPLIT} is {shown(split)}, must be a list of sizes")
        if split and len(split) != ranks:
            raise TraceError(f"{self}: {SPLIT} has {len(split)} sizes for {ranks} ranks")
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


def read_protobuf(data: bytes, budget: Budget) -> list[Node]:
    """The nodes of a file of protocol buffers. Raises TraceError: its fault."""
    nodes: dict[int, Node] = {}
    for message in _node_messages(data):
        budget.spend(nodes=1)
        if message.id in nodes:
            raise TraceError(_SAME_ID)
        nodes[message.id] = _node(message)
    return [*nodes.values()]


def _node_messages(data: bytes) -> Iterator[Any]:
    """Yields the messages of nodes. Raises TraceError."""
    from google.protobuf.message import DecodeError
    from google.protobuf.proto import parse_length_prefixed

    stream, kinds = io.BytesIO(data), _messages()
    try:
        parse_length_prefixed(kinds["GlobalMetadata"], stream)
        while (message := parse_length_prefixed(kinds["Node"], stream)) is not None:
            yield message
    except (DecodeError, ValueError) as error:
        raise TraceError(f"no node of a Chakra trace before byte {stream.tell()}: {error}") from None


def check_nodes(trace: Sequence[Node]) -> None:
    """Raises TraceError if nodes do not follow the schema, or two have the same id."""
    if len({node.id for node in trace}) < len(trace):
        raise TraceError(_SAME_ID)
    for node in trace:
        if not 0 <= node.type < len(NODE_TYPES):
            raise TraceError(f"node {node.id} has type {node.type}, which the schema has not")
        if not 0 <= node.duration_micros <= _MAX_MICROS:
            raise TraceError(f"{node}: duration_micros is {node.duration_micros}, at most {_MAX_MICROS}")


def _node(message: Any) -> Node:
    numbers: dict[str, int] = {}
    texts: dict[str, str] = {}
    for attribute in message.attr:
        for kind, value in attribute.ListFields():
            if kind.name != "name" and isinstance(value, int | float):
                take_number(_text(attribute.name), value, numbers, texts)
            elif kind.name != "name":
                texts[_text(attribute.name)] = _text(value)
    if message.type == METADATA and message.HasField("inputs"):
        texts[INPUTS] = _text(message.inputs.values)
    after = tuple(dict.fromkeys([*message.ctrl_deps, *message.data_deps]))
    micros = message.duration_micros or numbers.get("runtime", 0)
    return Node(message.id, message.type, _text(message.name), after, micros, numbers, texts)


def _text(value: str | bytes) -> str:
    """A text; protobuf gives bytes that are no UTF-8 as they are."""
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def checked_bits(number: int, what: str) -> int:
    """A whole number, which must have 64 bits. Raises TraceError."""
    if not -(1 << 63) <= number < 1 << 64:
        raise TraceError(f"{what} is {shown(number)}, which has more than 64 bits")
    return number


def take_number(name: str, number: float, numbers: dict[str, int], texts: dict[str, str]) -> None:
    """Keeps a number; one that is not whole as a text, which errors show."""
    if math.isfinite(number) and number == int(number):
        numbers[name] = int(number)
    else:
        texts[name] = str(number)


def written_trace(nodes: Iterable[Node]) -> bytes:
    """A file with these nodes; numbers are int64."""
    from google.protobuf.proto import serialize_length_prefixed

    stream = io.BytesIO()
    serialize_length_prefixed(_messages()["GlobalMetadata"](version="0.0.4"), stream)
    for node in nodes:
        attributes = [{"name": name, "int64_val": value} for name, value in node.numbers.items()]
        attributes += [{"name": name, "string_val": text} for name, text in node.texts.items()]
        parts = {"id": node.id, "name": node.name, "type": node.type, "data_deps": node.after}
        micros = {"duration_micros": int(node.duration_micros)} if node.duration_micros else {}
        serialize_length_prefixed(_messages()["Node"](**parts, **micros, attr=attributes), stream)
    return stream.getvalue()

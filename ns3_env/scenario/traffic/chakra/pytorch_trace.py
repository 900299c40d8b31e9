# SPDX-License-Identifier: GPL-2.0-or-later
"""Execution traces as PyTorch's ExecutionTraceObserver writes them, one rank's operators each.

A node is an operator, with the one that called it (``ctrl_deps``) and the tensors that it was called with:
there are no times, and no dependencies. A ``record_param_comms`` node is a collective. Operators whose
operations are counted, and those that call no other that computes, compute one after the other in the order
of their ids, which are those of their starts. A collective comes after the computation before it, and after
those before it of its group; a computation waits for the collectives of tensors that it touches, and for
those that were waited for before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from ns3_env.config.json_list import open_list
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.operators import (
    collective_type,
    count_operations,
    element_bytes,
    group_node,
    group_text,
    is_free,
    letters,
    split_text,
)
from ns3_env.scenario.traffic.chakra.trace import (
    COLLECTIVE,
    COMPUTE,
    RECEIVE,
    SEND,
    SPLIT,
    Node,
    checked_bits,
)
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS

_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:[^\[\]{}]{0,1000}"nodes"\s*:\s*(?=\[)')
_TYPES = {"send": SEND, "recv": RECEIVE}
#: Operators that call each other; a file with more around one is damaged.
_MOST_CALLERS = 1000
#: Operators around a collective.
_AROUND = ("c10d::", "nccl:", "_c10d_functional::", "gloo:")


class _Tensor(NamedTuple):
    """Number of a tensor's storage, 0 if that is not known, and its bytes."""

    storage: int
    size_bytes: int


class _Operator(NamedTuple):
    id: int
    name: str
    storages: frozenset[int]
    size_bytes: int
    operations: int


class _Record(NamedTuple):
    """A ``record_param_comms`` node."""

    id: int
    line: int
    parent: int
    attributes: dict[str, Any]
    values: list[Any]
    storages: frozenset[int]

    @property
    def name(self) -> str:
        return letters(self.attributes["collective_name"])

    @property
    def group(self) -> str:
        return str(self.attributes.get("pg_name", ""))

    def number(self, name: str) -> int:
        value = self.attributes.get(name, 0)
        if type(value) is not int:
            raise TraceError(f"line {self.line}: {name} is {shown(value)}, must be a whole number")
        return checked_bits(value, f"line {self.line}: {name}")

    def before_name(self, places: int) -> int | None:
        """The number this many places before the name among the values; None if there is none.

        One place before it is the other rank of a send or receive, three places the sequence number.
        """
        texts = [i for i, value in enumerate(self.values) if value == self.attributes["collective_name"]]
        value = self.values[texts[0] - places] if texts and texts[0] >= places else None
        value = value[0] if isinstance(value, list) and value else value
        return value if type(value) is int else None


def find_pytorch_nodes(data: bytes) -> int | None:
    """The place where the list of nodes starts; None in a file of another form."""
    head = _HEAD.match(data)
    return None if head is None else head.end()


def take_objects(data: bytes, begin: int, take: Callable[[int, Mapping[str, Any]], None]) -> None:
    """Hands each object of a list in JSON, with its line, to ``take``.

    Raises:
        TraceError: of ``take``, or a fault of the list, with the line.
    """
    rows = open_list(data, begin)
    try:
        for content in rows.objects(is_all=False):
            take(rows.line, content)
    except TraceError:
        raise
    except ValueError as error:
        raise TraceError(f"line {rows.line}: {error}") from None


def read_pytorch(data: bytes, begin: int, budget: Budget) -> list[Node]:
    """The nodes of a trace that Chakra's would have; one of the file is in memory at a time.

    Raises:
        TraceError: its fault, with the line.
    """
    trace = _Trace()
    take_objects(data, begin, trace.take)
    return list(trace.nodes(budget))


@dataclass
class _Trace:
    _parent: dict[int, int] = field(default_factory=dict)
    _operators: list[_Operator] = field(default_factory=list)
    _records: list[_Record] = field(default_factory=list)
    #: Parent and storages of operators around collectives.
    _around: dict[int, tuple[int, frozenset[int]]] = field(default_factory=dict)
    #: Texts that list process groups.
    _groups: list[str] = field(default_factory=list)

    def take(self, line: int, content: Mapping[str, Any]) -> None:
        """Reads a node of the file. Raises TraceError."""
        number, parent = (_whole(content, key, line) for key in ("id", "ctrl_deps"))
        self._parent[number] = parent
        name = str(content.get("name", ""))
        inputs, outputs = (_part(content, key, line) for key in ("inputs", "outputs"))
        if name.startswith("## process_group:init"):
            self._groups += [text for text in inputs["values"] if isinstance(text, str)]
        if name.startswith(("##", "[")):
            return
        tensors = list(_tensors([inputs["values"], outputs["values"]]))
        storages = frozenset(tensor.storage for tensor in tensors if tensor.storage)
        attributes = _attributes(content)
        if name == "record_param_comms":
            if "collective_name" in attributes:
                record = _Record(number, line, parent, attributes, inputs["values"], storages)
                self._records.append(record)
        elif name.startswith(_AROUND):
            self._around[number] = parent, storages
        elif tensors and not is_free(name, str(attributes.get("op_schema", ""))):
            operations = count_operations(name, inputs["shapes"], outputs["shapes"])
            size_bytes = sum(tensor.size_bytes for tensor in tensors)
            self._operators.append(_Operator(number, name, storages, size_bytes, operations))

    def nodes(self, budget: Budget) -> Iterator[Node]:
        """Yields the nodes in the order of their starts. Raises TraceError."""
        if not self._records:
            text = "no record_param_comms node has a collective_name"
            raise TraceError(f"{text}: PyTorch 2.4 and later record collectives of NCCL so")
        yield from self._group_nodes(budget)
        order = _Order()
        parts: list[_Operator | _Record] = [*self._computing(), *self._records]
        for part in sorted(parts, key=lambda part: part.id):
            if isinstance(part, _Operator):
                node = order.computation(part)
            elif part.name == "init":
                continue
            elif part.name == "wait":
                order.wait(part)
                continue
            else:
                node = order.communication(part, self._touched(part), self._ranks(part))
            budget.spend(nodes=1)
            yield node

    def _computing(self) -> list[_Operator]:
        """The operators that compute: those whose operations are counted, with all that they call, and
        others that call none of either sort."""
        counted = {operator.id for operator in self._operators if operator.operations}
        callers: set[int] = set()
        outside = []
        for operator in self._operators:
            around = list(islice(self._callers(operator.id), _MOST_CALLERS))
            if counted.isdisjoint(around):
                outside.append(operator)
                callers.update(around)
        return [operator for operator in outside if operator.operations or operator.id not in callers]

    def _callers(self, number: int) -> Iterator[int]:
        """Yields the nodes around a node, the innermost first; the outermost is its own."""
        while (parent := self._parent.get(number, number)) != number:
            yield parent
            number = parent

    def _group_nodes(self, budget: Budget) -> Iterator[Node]:
        """Yields nodes that list process groups, also those that only their collectives tell."""
        last = max(self._parent)
        names = "".join(self._groups)
        regular = {
            record.group: self._ranks(record)
            for record in self._records
            if record.group and not re.search(rf'"pg_name":\s*"{re.escape(record.group)}"', names)
        }
        texts = [group_text(name, ranks) for name, ranks in regular.items() if ranks]
        for i, text in enumerate([*self._groups, *texts], start=1):
            budget.spend(nodes=1)
            yield group_node(last + i, text)

    def _touched(self, record: _Record) -> frozenset[int]:
        """Storages of a collective's tensors, also of those that only operators around it have."""
        storages, parent = record.storages, record.parent
        while parent in self._around:
            parent, more = self._around.pop(parent)
            storages |= more
        return storages

    @staticmethod
    def _ranks(record: _Record) -> list[int]:
        """A group's ranks if they are evenly spaced; otherwise empty."""
        start, stride = record.number("global_rank_start"), record.number("global_rank_stride")
        count = record.number("pg_size")
        if stride < 1 or start < 0 or not 0 < count <= MAX_RANKS:
            return []
        return list(range(start, start + stride * count, stride))


@dataclass
class _Order:
    """Makes nodes with what each waits for."""

    #: Computation before, and collectives that were waited for since.
    _ready: list[int] = field(default_factory=list)
    #: The last collective of each group.
    _last: dict[str, int] = field(default_factory=dict)
    #: The collective under way of each storage, and of each group and sequence number.
    _of_storage: dict[int, int] = field(default_factory=dict)
    _of_number: dict[tuple[str, int | None], int] = field(default_factory=dict)

    def computation(self, operator: _Operator) -> Node:
        """The node of a computation."""
        after = self._ready + [self._of_storage.pop(x) for x in operator.storages if x in self._of_storage]
        self._ready = [operator.id]
        numbers = {
            "is_cpu_op": 0,
            "num_ops": checked_bits(operator.operations, operator.name),
            "tensor_size": checked_bits(operator.size_bytes, operator.name),
        }
        return Node(operator.id, COMPUTE, operator.name, tuple(dict.fromkeys(after)), 0, numbers)

    def wait(self, record: _Record) -> None:
        """Makes what follows wait for the collective of this number."""
        collective = self._of_number.pop((record.group, record.before_name(3)), None)
        if collective is not None:
            self._ready.append(collective)

    def communication(self, record: _Record, storages: frozenset[int], ranks: Sequence[int]) -> Node:
        """The node of a collective, a send or a receive. Raises TraceError."""
        after = self._ready + [self._of_storage[x] for x in storages if x in self._of_storage]
        numbers, texts = {"is_cpu_op": 0}, {"pg_name": record.group}
        if (kind := _TYPES.get(record.name)) is not None:
            peer = record.before_name(1)
            if peer is None or (ranks and not 0 <= peer < len(ranks)):
                raise TraceError(f"line {record.line}: {record.name} with rank {peer} of {len(ranks)}")
            numbers["comm_dst" if kind == SEND else "comm_src"] = ranks[peer] if ranks else peer
        else:
            kind = COLLECTIVE
            name = record.attributes["collective_name"]
            numbers["comm_type"] = collective_type(name, f"line {record.line}", also=tuple(_TYPES))
            after += [self._last[record.group]] if record.group in self._last else []
            self._last[record.group] = record.id
            texts |= split_text(record.attributes.get(SPLIT))
        numbers["comm_size"] = 0 if record.name == "barrier" else _size_bytes(record)
        self._of_storage.update(dict.fromkeys(storages, record.id))
        self._of_number[record.group, record.before_name(3)] = record.id
        return Node(record.id, kind, record.name, tuple(dict.fromkeys(after)), 0, numbers, texts)


def _size_bytes(record: _Record) -> int:
    """Bytes that a rank brings, or receives. Raises TraceError."""
    each = element_bytes(record.attributes.get("dtype", ""), f"line {record.line}")
    return record.number("out_msg_nelems" if record.name == "recv" else "in_msg_nelems") * each


def _whole(content: Mapping[str, Any], key: str, line: int) -> int:
    value = content.get(key)
    if type(value) is not int:
        raise TraceError(f"line {line}: {key} is {shown(value)}, must be a whole number")
    return checked_bits(value, f"line {line}: {key}")


def _part(content: Mapping[str, Any], key: str, line: int) -> dict[str, list[Any]]:
    """The values and shapes of inputs or outputs. Raises TraceError."""
    part = content.get(key, {})
    lists = {name: part.get(name, []) for name in ("values", "shapes")} if isinstance(part, dict) else {}
    if not lists or not all(isinstance(value, list) for value in lists.values()):
        raise TraceError(f"line {line}: {key} are {shown(part)}, must be lists of values and shapes")
    return lists


def _attributes(content: Mapping[str, Any]) -> dict[str, Any]:
    attributes = content.get("attrs", [])
    rows = [x for x in attributes if isinstance(x, dict)] if isinstance(attributes, list) else []
    return {str(row.get("name", "")): row.get("value") for row in rows}


def _tensors(values: list[Any]) -> Iterator[_Tensor]:
    """Yields tensors among values: id, storage, offset, elements, bytes of each, device."""
    todo = [values]
    while todo:
        value = todo.pop()
        if len(value) == 6 and isinstance(value[5], str) and all(type(x) is int for x in value[:5]):
            yield _Tensor(value[1], value[3] * value[4])
        else:
            todo += [x for x in value if isinstance(x, list)]

# SPDX-License-Identifier: GPL-2.0-or-later
"""PyTorch's names: kinds of collectives, bytes of types, operations of operators."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.trace import AT_ONCE, COMM_TYPES, INPUTS, METADATA, SPLIT, Node

_LETTERS = re.compile(r"[^a-z]")
#: Kinds of collectives by their names there, of which only the letters count.
_KINDS = {
    "ALL_REDUCE": ("allreduce", "allreducecoalesced", "allreducesparse"),
    "ALL_GATHER": ("allgather", "allgatherbase", "allgatherintotensor", "allgatherintotensorcoalesced"),
    "REDUCE_SCATTER": (
        "reducescatter",
        "reducescatterbase",
        "reducescattertensor",
        "reducescattertensorcoalesced",
    ),
    "BROADCAST": ("broadcast", "broadcastoop"),
    "ALL_TO_ALL": ("alltoall", "alltoallv", "alltoallbase", "alltoallsingle"),
    "BARRIER": ("barrier",),
    "REDUCE": ("reduce", "reduceoop"),
    "GATHER": ("gather",),
    "SCATTER": ("scatter",),
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}
#: Bytes of an element, by the name of its type.
_BYTES = {
    **dict.fromkeys(("Byte", "Char", "Bool"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16"), 2),
    **dict.fromkeys(("Int", "Float", "ComplexHalf"), 4),
    **dict.fromkeys(("Long", "Double", "ComplexFloat"), 8),
    "ComplexDouble": 16,
}
#: Return a view of an argument, as in the schema ("Tensor(a)"; "(a!)" is written to).
_VIEW = re.compile(r"->.*\(a\)")
_ALLOCATION = re.compile(r"aten::(empty|new_empty|resize_|set_|item|_local_scalar_dense|record_stream)")


def letters(name: object) -> str:
    """A collective's name, of which only the letters count: all_reduce and allreduce are the same."""
    return _LETTERS.sub("", str(name).lower())


def collective_type(name: object, where: str, also: Sequence[str] = ()) -> int:
    """The schema's ``comm_type`` of a collective. Raises TraceError: ``where``, and the allowed values."""
    kind = _KIND_OF.get(letters(name))
    if kind is None:
        raise TraceError(
            f"{where}: the collective is {shown(name)}; it may be {', '.join((*also, *_KIND_OF))}"
        )
    return COMM_TYPES[kind]


def element_bytes(dtype: object, where: str) -> int:
    """Bytes of an element of this type. Raises TraceError: ``where``, and the allowed values."""
    name = str(dtype)
    each = _BYTES.get(name, 1 if name.startswith(("Float8", "Q")) else 0)
    if not each:
        types = ", ".join((*_BYTES, "Float8..."))
        raise TraceError(f"{where}: dtype is {shown(dtype)}; it may be {types}")
    return each


def split_text(split: object) -> dict[str, str]:
    """Returns the sizes of an all-to-all by receiver as an attribute; empty if they are not recorded."""
    text = split if isinstance(split, str) else json.dumps(split)
    return {} if text in ("null", "", "[]") else {SPLIT: text}


def group_text(name: str, ranks: Sequence[int]) -> str:
    """A process group as PyTorch records it."""
    return json.dumps([{"pg_name": name, "ranks": list(ranks)}])


def group_node(number: int, text: str) -> Node:
    """The node that lists process groups."""
    return Node(number, METADATA, "process groups", (), 0, {AT_ONCE: 1}, {INPUTS: text})


def is_free(name: str, schema: str) -> bool:
    """Returns whether an operator neither computes nor moves data: views, and allocations."""
    return bool(_VIEW.search(schema) or _ALLOCATION.match(name))


def count_operations(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Operations of an operator: those of products of matrices, convolutions and attention; otherwise 0.

    A product of m x k and k x n matrices has 2 m k n; attention two products forward. The forward part of a
    convolution has 2 times an output's elements times a filter's, its backward part twice that.

    Args:
        name: name of the operator.
        inputs: shape of each input, [] if it is no tensor.
        outputs: shape of each output.
    """
    ins, outs = list(map(_shape, inputs)), list(map(_shape, outputs))
    kind = name.removeprefix("aten::")
    first = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1, "linear": 0}.get(kind)
    if first is not None and (pair := _shapes(ins, first, first + 1)):
        return 2 * math.prod(pair[0]) * (pair[1][0] if kind == "linear" else pair[1][-1])  # 2 m k n
    if kind.startswith("_scaled_dot_product_") and "backward" not in kind:
        pair = [shape for shape in _shapes(ins, 0, 1) if len(shape) == 4]  # batch, heads, length, width
        return 4 * math.prod(pair[0]) * pair[1][2] if len(pair) == 2 else 0  # 2 q k^T, 2 of that and v
    if kind in ("convolution", "_convolution", "cudnn_convolution") and (pair := _shapes(ins, 0, 1)):
        return 2 * math.prod(outs[0]) * math.prod(pair[1][1:]) if outs and outs[0] else 0
    if kind == "convolution_backward" and (pair := _shapes(ins, 0, 2)):
        return 4 * math.prod(pair[0]) * math.prod(pair[1][1:])
    return 0


def _shape(value: Any) -> list[int]:
    """A shape, [] of anything else."""
    return value if isinstance(value, list) and all(type(x) is int for x in value) else []


def _shapes(shapes: Sequence[list[int]], *places: int) -> list[list[int]]:
    """The shapes at these places; [] if one is missing."""
    pair = [shapes[i] for i in places if i < len(shapes) and shapes[i]]
    return pair if len(pair) == len(places) else []

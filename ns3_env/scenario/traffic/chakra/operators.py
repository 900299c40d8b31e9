# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations of PyTorch's operators, by the shapes of their tensors."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

#: Return a view of an argument, as the schema says ("Tensor(a)"; "(a!)" is written to).
_VIEW = re.compile(r"->.*\(a\)")
_ALLOCATION = re.compile(r"aten::(empty|new_empty|resize_|set_|item|_local_scalar_dense|record_stream)")


def is_free(name: str, schema: str) -> bool:
    """Returns whether an operator neither computes nor moves data: views, and allocations."""
    return bool(_VIEW.search(schema) or _ALLOCATION.match(name))


def count_operations(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Operations of an operator: those of products of matrices, convolutions and attention; of others 0.

    A product of m x k and k x n matrices has 2 m k n; attention two products forward. The forward part of a
    convolution has 2 times an output's elements times a filter's, its backward part twice as many.

    Args:
        name: name of the operator.
        inputs: shape of each input, [] of what is no tensor.
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
    """A shape, [] of what is none."""
    return value if isinstance(value, list) and all(type(x) is int for x in value) else []


def _shapes(shapes: Sequence[list[int]], *places: int) -> list[list[int]]:
    """The shapes at these places; [] if one is missing."""
    pair = [shapes[i] for i in places if i < len(shapes) and shapes[i]]
    return pair if len(pair) == len(places) else []

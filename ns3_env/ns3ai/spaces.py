# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium spaces as ns3-ai's space descriptions and back, with shapes and dtypes kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ns3_env.ns3ai.messages import Dtype, SpaceType, message, put, taken

Space = spaces.Space[Any]

#: What a box holds, by its description's dtype.
DTYPES: dict[Dtype, np.dtype[Any]] = {
    Dtype.INT: np.dtype(np.int32),
    Dtype.UINT: np.dtype(np.uint32),
    Dtype.FLOAT: np.dtype(np.float32),
    Dtype.DOUBLE: np.dtype(np.float64),
}


def dtype_on_the_wire(dtype: DTypeLike) -> Dtype:
    """The one that holds every value of ``dtype``; of 64-bit integers, those that fit 32.

    Raises ValueError where none does.
    """
    given = np.dtype(dtype)
    if given.kind == "f" and given.itemsize <= 8:
        return Dtype.FLOAT if given.itemsize <= 4 else Dtype.DOUBLE
    if given.kind in "ub":
        return Dtype.UINT
    if given.kind == "i":
        return Dtype.INT
    raise ValueError(f"ns3-ai has no box of {given}: it has int32, uint32, float32 and float64")


def describe(space: Space, name: str = "") -> Any:
    """A ``SpaceDescription``. A box's bounds become two numbers, the least and the greatest of its elements'.

    Raises ValueError for a space that ns3-ai does not have, named.
    """
    described = message("SpaceDescription", name=name)
    if isinstance(space, spaces.Discrete):
        if space.start != 0:
            raise ValueError(f"ns3-ai has no {space}: its discrete spaces begin at 0")
        described.type = SpaceType.Discrete
        put(described.space, message("DiscreteSpace", n=int(space.n)))
    elif isinstance(space, spaces.Box):
        box = message("BoxSpace", dtype=dtype_on_the_wire(space.dtype), shape=space.shape)
        box.low, box.high = float(space.low.min()), float(space.high.max())
        described.type = SpaceType.Box
        put(described.space, box)
    elif isinstance(space, spaces.Tuple):
        described.type = SpaceType.Tuple
        put(described.space, message("TupleSpace", element=[describe(inner) for inner in space.spaces]))
    elif isinstance(space, spaces.Dict):
        described.type = SpaceType.Dict
        inner = [describe(value, key) for key, value in space.spaces.items()]
        put(described.space, message("DictSpace", element=inner))
    else:
        raise ValueError(f"ns3-ai has no {type(space).__name__}: it has Discrete, Box, Tuple and Dict")
    return described


def space_of(description: Any) -> Space:
    """The space of a ``SpaceDescription``; a dictionary's keys keep their order. Raises ValueError."""
    kind = description.type
    if kind == SpaceType.Discrete:
        return spaces.Discrete(int(taken(description.space, "DiscreteSpace").n))
    if kind == SpaceType.Box:
        return _box(taken(description.space, "BoxSpace"))
    if kind == SpaceType.Tuple:
        return spaces.Tuple([space_of(inner) for inner in taken(description.space, "TupleSpace").element])
    if kind == SpaceType.Dict:
        held = taken(description.space, "DictSpace").element
        return spaces.Dict(OrderedDict((inner.name, space_of(inner)) for inner in held))
    raise ValueError(f"a space of type {kind}; types are {', '.join(f'{t} {t.name}' for t in SpaceType)}")


def _box(description: Any) -> spaces.Box:
    """A box of a ``BoxSpace``."""
    if description.dtype not in DTYPES:
        raise ValueError(f"a box of dtype {description.dtype}; dtypes are 1 INT, 2 UINT, 3 FLOAT, 4 DOUBLE")
    dtype = DTYPES[description.dtype]
    shape = tuple(description.shape)
    low, high = _within(description.low, dtype), _within(description.high, dtype)
    if not low <= high:
        raise ValueError(f"a box from {description.low} to {description.high}")
    return spaces.Box(low[()], high[()], shape=shape, dtype=dtype.type)


def _within(bound: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """A bound, which comes as a 32-bit float, as a number of the box: for integers, the nearest there is."""
    if dtype.kind == "f":
        return np.asarray(bound, dtype=dtype)
    limits = np.iinfo(dtype)
    return np.asarray(int(np.clip(np.float64(bound), limits.min, limits.max)), dtype=dtype)

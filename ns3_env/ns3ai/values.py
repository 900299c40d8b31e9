# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of spaces as ns3-ai's containers and back, in the space's shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ns3_env.ns3ai.messages import Dtype, SpaceType, message, put, taken
from ns3_env.ns3ai.spaces import DTYPES, Space, dtype_on_the_wire

#: Where a box's numbers lie, by their dtype.
_DATA = {
    Dtype.INT: "intData",
    Dtype.UINT: "uintData",
    Dtype.FLOAT: "floatData",
    Dtype.DOUBLE: "doubleData",
}


def contain(space: Space, value: Any, name: str = "", *, doubles: bool = True) -> Any:
    """A ``DataContainer``.

    Args:
        space: of the value.
        value: of the space's shape; integers that fit 32 bits.
        name: its key, in a dictionary.
        doubles: boxes of float64 are sent as doubles, as ns3-ai's C++ does. False: as floats, as its Python
            does whatever the space says, so that simulations take actions for containers of floats: a box of
            doubles would be a null pointer to them.

    Raises ValueError for another shape, a missing key, or an integer that does not fit.
    """
    held = message("DataContainer", name=name)
    if isinstance(space, spaces.Discrete):
        held.type = SpaceType.Discrete
        put(held.data, message("DiscreteDataContainer", data=int(value)))
    elif isinstance(space, spaces.Box):
        held.type = SpaceType.Box
        put(held.data, _box(space, value, doubles))
    elif isinstance(space, spaces.Tuple):
        held.type = SpaceType.Tuple
        inner = [
            contain(part, element, doubles=doubles) for part, element in zip(space.spaces, value, strict=True)
        ]
        put(held.data, message("TupleDataContainer", element=inner))
    elif isinstance(space, spaces.Dict):
        if missing := [key for key in space.spaces if key not in value]:
            raise ValueError(f"{missing[0]!r} is missing; the space has {', '.join(space.spaces)}")
        held.type = SpaceType.Dict
        inner = [contain(part, value[key], key, doubles=doubles) for key, part in space.spaces.items()]
        put(held.data, message("DictDataContainer", element=inner))
    else:
        raise ValueError(f"ns3-ai has no {type(space).__name__}")
    return held


def _box(space: spaces.Box, value: Any, doubles: bool) -> Any:
    """A ``BoxDataContainer``."""
    numbers = np.asarray(value)
    if numbers.shape != space.shape:
        raise ValueError(f"a value of shape {numbers.shape} where the space has {space.shape}")
    dtype = dtype_on_the_wire(space.dtype)
    if dtype == Dtype.DOUBLE and not doubles:
        dtype = Dtype.FLOAT
    box = message("BoxDataContainer", dtype=dtype, shape=space.shape)
    getattr(box, _DATA[dtype]).extend(numbers.astype(space.dtype).ravel().tolist())
    return box


def value_of(space: Space, container: Any) -> Any:
    """The value that a ``DataContainer`` holds, in the space's shape and dtype.

    Raises ValueError where it is none of the space's.
    """
    if isinstance(space, spaces.Discrete):
        return np.int64(_held(container, SpaceType.Discrete).data)
    if isinstance(space, spaces.Box):
        return _array(space, _held(container, SpaceType.Box))
    if isinstance(space, spaces.Tuple):
        elements = _held(container, SpaceType.Tuple).element
        if len(elements) != len(space.spaces):
            raise ValueError(f"{len(elements)} elements where the space has {len(space.spaces)}")
        return tuple(value_of(part, inner) for part, inner in zip(space.spaces, elements, strict=True))
    if isinstance(space, spaces.Dict):
        named = {inner.name: inner for inner in _held(container, SpaceType.Dict).element}
        if set(named) != set(space.spaces):
            raise ValueError(f"keys {sorted(named)} where the space has {sorted(space.spaces)}")
        return {key: value_of(part, named[key]) for key, part in space.spaces.items()}
    raise ValueError(f"ns3-ai has no {type(space).__name__}")


def _held(container: Any, kind: SpaceType) -> Any:
    """The container's content, of that kind."""
    if container.type != kind:
        raise ValueError(f"a value of type {container.type} where the space is a {kind.name}")
    return taken(container.data, f"{kind.name}DataContainer")


def _array(space: spaces.Box, box: Any) -> NDArray[Any]:
    """What a ``BoxDataContainer`` holds. Its own shape may be left out: the space's is known."""
    if box.dtype not in DTYPES:
        raise ValueError(f"a box of dtype {box.dtype}; dtypes are 1 INT, 2 UINT, 3 FLOAT, 4 DOUBLE")
    numbers = np.array(getattr(box, _DATA[box.dtype]), dtype=DTYPES[box.dtype])
    count = int(np.prod(space.shape))
    if numbers.size != count:
        raise ValueError(f"{numbers.size} numbers where the space's shape {space.shape} has {count}")
    return numbers.astype(space.dtype, copy=False).reshape(space.shape)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Gymnasium spaces and their values as ns3-ai's messages and back, with shapes and dtypes kept."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import DTypeLike, NDArray

from ns3_env.ns3ai.gym_wire import Dtype, SpaceType, message, put, unpack

Space = spaces.Space[Any]
#: NumPy type of a box, by its description's dtype.
DTYPES: dict[Dtype, np.dtype[Any]] = {
    Dtype.INT: np.dtype(np.int32),
    Dtype.UINT: np.dtype(np.uint32),
    Dtype.FLOAT: np.dtype(np.float32),
    Dtype.DOUBLE: np.dtype(np.float64),
}
#: Field with a box's numbers, by their dtype.
_DATA = {
    Dtype.INT: "intData",
    Dtype.UINT: "uintData",
    Dtype.FLOAT: "floatData",
    Dtype.DOUBLE: "doubleData",
}


def dtype_on_the_wire(dtype: DTypeLike) -> Dtype:
    """The type that represents every value of ``dtype``; of 64-bit integers, those that fit 32.

    Raises ValueError if no type does.
    """
    numpy_type = np.dtype(dtype)
    if numpy_type.kind == "f" and numpy_type.itemsize <= 8:
        return Dtype.FLOAT if numpy_type.itemsize <= 4 else Dtype.DOUBLE
    if numpy_type.kind in "ub":
        return Dtype.UINT
    if numpy_type.kind == "i":
        return Dtype.INT
    raise ValueError(f"ns3-ai has no box of {numpy_type}: it has int32, uint32, float32 and float64")


def describe(space: Space, name: str = "") -> Any:
    """A ``SpaceDescription``. A box's bounds become two numbers, the least and the greatest of its elements'.

    Raises ValueError for a space that ns3-ai does not have, named.
    """
    content: dict[str, Any]
    if isinstance(space, spaces.Discrete):
        if space.start != 0:
            raise ValueError(f"ns3-ai has no {space}: its discrete spaces begin at 0")
        kind, content = SpaceType.Discrete, {"n": int(space.n)}
    elif isinstance(space, spaces.Box):
        kind, content = SpaceType.Box, {"dtype": dtype_on_the_wire(space.dtype), "shape": space.shape}
        content |= {"low": float(space.low.min()), "high": float(space.high.max())}
    elif isinstance(space, spaces.Tuple):
        kind, content = SpaceType.Tuple, {"element": [describe(inner) for inner in space.spaces]}
    elif isinstance(space, spaces.Dict):
        inner = [describe(value, key) for key, value in space.spaces.items()]
        kind, content = SpaceType.Dict, {"element": inner}
    else:
        raise ValueError(f"ns3-ai has no {type(space).__name__}: it has Discrete, Box, Tuple and Dict")
    described = message("SpaceDescription", name=name, type=kind)
    put(described.space, message(f"{kind.name}Space", **content))
    return described


def space_of(description: Any) -> Space:
    """The space of a ``SpaceDescription``; a dictionary's keys keep their order. Raises ValueError."""
    kind = description.type
    if kind == SpaceType.Discrete:
        return spaces.Discrete(int(unpack(description.space, "DiscreteSpace").n))
    if kind == SpaceType.Box:
        return _box(unpack(description.space, "BoxSpace"))
    if kind == SpaceType.Tuple:
        return spaces.Tuple([space_of(inner) for inner in unpack(description.space, "TupleSpace").element])
    if kind == SpaceType.Dict:
        elements = unpack(description.space, "DictSpace").element
        return spaces.Dict(OrderedDict((inner.name, space_of(inner)) for inner in elements))
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


def contain(space: Space, value: Any, name: str = "", *, doubles: bool = True) -> Any:
    """A ``DataContainer``.

    Args:
        space: space of the value.
        value: value of the space's shape; integers fit 32 bits.
        name: key of the value in a dictionary.
        doubles: boxes of float64 are sent as doubles, as ns3-ai's C++ does. False: as floats, as its Python
            does for any space, because simulations cast actions to containers of floats: a box of
            doubles would be a null pointer to them.

    Raises ValueError for another shape, a missing key, or an integer that does not fit.
    """
    content: dict[str, Any]
    if isinstance(space, spaces.Discrete):
        kind, content = SpaceType.Discrete, {"data": int(value)}
    elif isinstance(space, spaces.Box):
        kind, content = SpaceType.Box, _box_content(space, value, doubles)
    elif isinstance(space, spaces.Tuple):
        parts = zip(space.spaces, value, strict=True)
        inner = [contain(part, element, doubles=doubles) for part, element in parts]
        kind, content = SpaceType.Tuple, {"element": inner}
    elif isinstance(space, spaces.Dict):
        if missing := [key for key in space.spaces if key not in value]:
            raise ValueError(f"{missing[0]!r} is missing; the space has {', '.join(space.spaces)}")
        inner = [contain(part, value[key], key, doubles=doubles) for key, part in space.spaces.items()]
        kind, content = SpaceType.Dict, {"element": inner}
    else:
        raise ValueError(f"ns3-ai has no {type(space).__name__}")
    container = message("DataContainer", name=name, type=kind)
    put(container.data, message(f"{kind.name}DataContainer", **content))
    return container


def _box_content(space: spaces.Box, value: Any, doubles: bool) -> dict[str, Any]:
    """Fields of a ``BoxDataContainer``."""
    numbers = np.asarray(value)
    if numbers.shape != space.shape:
        raise ValueError(f"a value of shape {numbers.shape} where the space has {space.shape}")
    dtype = dtype_on_the_wire(space.dtype)
    if dtype == Dtype.DOUBLE and not doubles:
        dtype = Dtype.FLOAT
    return {"dtype": dtype, "shape": space.shape, _DATA[dtype]: numbers.astype(space.dtype).ravel().tolist()}


def value_of(space: Space, container: Any) -> Any:
    """The value in a ``DataContainer``, in the space's shape and dtype.

    Raises ValueError if the space does not contain it.
    """
    if isinstance(space, spaces.Discrete):
        return np.int64(_content(container, SpaceType.Discrete).data)
    if isinstance(space, spaces.Box):
        return _array(space, _content(container, SpaceType.Box))
    if isinstance(space, spaces.Tuple):
        elements = _content(container, SpaceType.Tuple).element
        if len(elements) != len(space.spaces):
            raise ValueError(f"{len(elements)} elements where the space has {len(space.spaces)}")
        return tuple(value_of(part, inner) for part, inner in zip(space.spaces, elements, strict=True))
    if isinstance(space, spaces.Dict):
        by_name = {inner.name: inner for inner in _content(container, SpaceType.Dict).element}
        if set(by_name) != set(space.spaces):
            raise ValueError(f"keys {sorted(by_name)} where the space has {sorted(space.spaces)}")
        return {key: value_of(part, by_name[key]) for key, part in space.spaces.items()}
    raise ValueError(f"ns3-ai has no {type(space).__name__}")


def _content(container: Any, kind: SpaceType) -> Any:
    """The container's content, of that kind."""
    if container.type != kind:
        raise ValueError(f"a value of type {container.type} where the space is a {kind.name}")
    return unpack(container.data, f"{kind.name}DataContainer")


def _array(space: spaces.Box, box: Any) -> NDArray[Any]:
    """Returns the array in a ``BoxDataContainer``. Its own shape may be left out: the space's is known."""
    if box.dtype not in DTYPES:
        raise ValueError(f"a box of dtype {box.dtype}; dtypes are 1 INT, 2 UINT, 3 FLOAT, 4 DOUBLE")
    numbers = np.array(getattr(box, _DATA[box.dtype]), dtype=DTYPES[box.dtype])
    count = int(np.prod(space.shape))
    if numbers.size != count:
        raise ValueError(f"{numbers.size} numbers where the space's shape {space.shape} has {count}")
    return numbers.astype(space.dtype, copy=False).reshape(space.shape)

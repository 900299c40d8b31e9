# SPDX-License-Identifier: GPL-2.0-or-later
"""Arrays as text in a page: bytes of equal weight together, deflated, base64."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: How the page's script names a type.
_KINDS = {"<u4": "u32", "<f4": "f32", "<f8": "f64", "|u1": "u8"}


def pack(array: npt.NDArray[Any]) -> dict[str, str | int]:
    """{"kind": type, "count": numbers, "data": text}; page/unpack.js reads it.

    The lowest bytes of all numbers come first, then the next ones: small numbers deflate to little.
    """
    kind = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    flat = np.ascontiguousarray(array.astype(kind)).reshape(-1)
    planes = flat.view(np.uint8).reshape(-1, kind.itemsize).T.tobytes()
    text = base64.b64encode(zlib.compress(planes, 6)).decode()
    return {"kind": _KINDS[kind.str], "count": len(flat), "data": text}

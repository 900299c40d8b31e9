# SPDX-License-Identifier: GPL-2.0-or-later
"""Wire format of protocol buffers, as far as execution traces need it.

A message is a row of fields: a varint with the field's number and wire type, and a value (a varint, eight or
four bytes, or a length and bytes). https://protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ns3_env.config.bounds import MAX_JOB_BYTES, MAX_NODES, WHY_NODES

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_LONGEST = 10  # bytes of a varint
_MASK = (1 << 64) - 1


class WireError(ValueError):
    """Bytes that are no messages."""


@dataclass
class Budget:
    """Nodes and bytes that the files of a job may still have, all ranks together."""

    nodes: int = MAX_NODES
    size_bytes: int = MAX_JOB_BYTES

    def spend(self, nodes: int = 0, size_bytes: int = 0) -> None:
        """Subtracts the amount read. Raises WireError if it is more than a job may have."""
        self.nodes -= nodes
        self.size_bytes -= size_bytes
        if self.nodes < 0:
            raise WireError(f"a job may have at most {MAX_NODES} nodes, of all ranks together: {WHY_NODES}")
        if self.size_bytes < 0:
            raise WireError(f"a job's files may have at most {MAX_JOB_BYTES} B together: {WHY_NODES}")


def varint(data: bytes, place: int) -> tuple[int, int]:
    """A whole number of 64 bits, and its end. Raises WireError."""
    value = 0
    for i in range(_LONGEST):
        if place + i >= len(data):
            raise WireError(f"it ends within a number, at byte {place + i}")
        value |= (data[place + i] & 0x7F) << (7 * i)
        if data[place + i] < 0x80:
            return value & _MASK, place + i + 1
    raise WireError(f"a number of more than {_LONGEST} bytes at byte {place}")


def fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """(field's number, wire type, value) of a message, in its order. Raises WireError."""
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, place = varint(data, place)
            yield number, kind, value
            continue
        if kind == BYTES:
            length, place = varint(data, place)
        elif kind in (FIXED64, FIXED32):
            length = 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"wire type {kind} at byte {place}")
        if place + length > len(data):
            raise WireError(f"a field of {length} bytes at byte {place}, of {len(data)}")
        yield number, kind, data[place : place + length]
        place += length


def messages(data: bytes) -> Iterator[bytes]:
    """Messages one after the other, each behind its length as a varint. Raises WireError."""
    place = 0
    while place < len(data):
        length, place = varint(data, place)
        if place + length > len(data):
            raise WireError(f"a message of {length} bytes at byte {place}, of {len(data)}")
        yield data[place : place + length]
        place += length


def signed(value: int) -> int:
    """A varint of 64 bits as int32 and int64 have it."""
    return value - (1 << 64) if value >> 63 else value


def unzigzag(value: int) -> int:
    """A varint as sint32 and sint64 have it."""
    return value >> 1 ^ -(value & 1)


def read_fixed(value: bytes, form: str) -> float:
    """A number of four or eight bytes, ``form`` as in struct. Raises WireError for other lengths."""
    if len(value) != struct.calcsize(form):
        raise WireError(f"a number of {len(value)} bytes")
    number: float = struct.unpack("<" + form, value)[0]
    return number


def packed(value: int | bytes) -> list[int]:
    """A repeated number: one, or several in one field. Raises WireError."""
    if isinstance(value, int):
        return [value]
    numbers, place = [], 0
    while place < len(value):
        number, place = varint(value, place)
        numbers.append(number)
    return numbers


def written_varint(value: int) -> bytes:
    """A whole number of 64 bits; below 0 as int64 has it."""
    value &= _MASK
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def written(number: int, value: int | bytes) -> bytes:
    """A field: a varint, or bytes."""
    if isinstance(value, int):
        return written_varint(number << 3 | VARINT) + written_varint(value)
    return written_varint(number << 3 | BYTES) + written_varint(len(value)) + value


def framed(message: bytes) -> bytes:
    """A message behind its length."""
    return written_varint(len(message)) + message

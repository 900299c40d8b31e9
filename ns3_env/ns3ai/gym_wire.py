# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of ns3-ai's Gym interface, sent and received in buffers of 1 KiB.

They are Protocol Buffers of the package ``ns3_ai_gym``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final

from ns3_env.config.protobuf import message_classes
from ns3_env.ns3ai.segments import MOST_BYTES, SegmentEnd, TooLarge

PACKAGE: Final = "ns3_ai_gym"
#: Time between two checks of the peer, s.
SLICE_S = 0.02
#: A varint without an end, which is in no message.
_NO_MESSAGE = b"\xff" * 16
_NONSENSE_PATIENCE_S = 0.5


class SpaceType(IntEnum):
    """Kind of space, or of value, that follows."""

    NoSpaceType = 0
    Discrete = 1
    Box = 2
    Tuple = 3
    Dict = 4


class Dtype(IntEnum):
    """Type of a box's numbers."""

    NoDType = 0
    INT = 1
    UINT = 2
    FLOAT = 3
    DOUBLE = 4


class Reason(IntEnum):
    """Why an episode is over."""

    SimulationEnd = 0
    GameOver = 1


_SCHEMA: Final = """
syntax = "proto3";
package ns3_ai_gym;
enum SpaceType { NoSpaceType = 0; Discrete = 1; Box = 2; Tuple = 3; Dict = 4; }
enum Dtype { NoDType = 0; INT = 1; UINT = 2; FLOAT = 3; DOUBLE = 4; }
enum Reason { SimulationEnd = 0; GameOver = 1; }
message SpaceDescription { SpaceType type = 1; google.protobuf.Any space = 2; string name = 3; }
message DiscreteSpace { int32 n = 1; }
message BoxSpace { float low = 1; float high = 2; Dtype dtype = 3; repeated uint32 shape = 4; }
message TupleSpace { repeated SpaceDescription element = 1; }
message DictSpace { repeated SpaceDescription element = 1; }
message DataContainer { SpaceType type = 1; google.protobuf.Any data = 2; string name = 3; }
message DiscreteDataContainer { int32 data = 1; }
message BoxDataContainer {
    Dtype dtype = 1; repeated uint32 shape = 2; repeated int32 intData = 3; repeated uint32 uintData = 4;
    repeated float floatData = 5; repeated double doubleData = 6;
}
message TupleDataContainer { repeated DataContainer element = 1; }
message DictDataContainer { repeated DataContainer element = 1; }
message SimInitMsg { SpaceDescription obsSpace = 1; SpaceDescription actSpace = 2; }
message SimInitAck { bool done = 1; bool stopSimReq = 2; }
message EnvStateMsg {
    DataContainer obsData = 1; float reward = 2; bool isGameOver = 3; Reason reason = 4; string info = 5;
}
message EnvActMsg { DataContainer actData = 1; bool stopSimReq = 2; }
"""
_CLASSES: Final = message_classes(_SCHEMA)


def message(name: str, /, **fields: Any) -> Any:
    """A message of that name, e.g. "EnvActMsg", with these fields."""
    return _CLASSES[name](**fields)


def parsed(name: str, content: bytes) -> Any:
    """The message in the bytes. Raises ValueError if they are not one."""
    try:
        return _CLASSES[name].FromString(content)
    except Exception as error:  # DecodeError: of google.protobuf.message, or of its compiled part
        raise ValueError(f"no {name}: {error}") from None


def put(any_field: Any, inner: Any) -> None:
    """Puts a message into a field of type ``google.protobuf.Any``."""
    any_field.type_url = f"type.googleapis.com/{inner.DESCRIPTOR.full_name}"
    any_field.value = inner.SerializeToString()


def unpack(any_field: Any, name: str) -> Any:
    """The message of that name out of a field of type ``google.protobuf.Any``. Raises ValueError."""
    type_name = str(any_field.type_url).rpartition("/")[2]
    if type_name != f"{PACKAGE}.{name}":
        raise ValueError(f"a {type_name or 'message without a type'} where a {PACKAGE}.{name} should be")
    return parsed(name, any_field.value)


class MessageTooLargeError(ValueError):
    """A message larger than ns3-ai's buffers (1 KiB); the error names it and its size."""


class WireError(RuntimeError):
    """The other end broke the protocol; the error explains how."""


def too_large(name: str, size: int | str, who: str) -> MessageTooLargeError:
    """Describes the fault in a message of that size."""
    return MessageTooLargeError(
        f"{who}: {name} takes {size} B, and a message of ns3-ai holds {MOST_BYTES} B: "
        "smaller boxes, float32 instead of float64, or fewer elements"
    )


class GymWire:
    """Messages in and out of one end of a segment.

    Args:
        end: one end of the segment.
        peer: name of the other end, for errors.
        look: function called every 0.02 s during a wait for the other end; an exception that it raises ends
            the wait.
    """

    def __init__(self, end: SegmentEnd, peer: str, look: Callable[[], object]) -> None:
        self._end = end
        self._peer = peer
        self._health = look

    def send(self, message: Any) -> None:
        """Sends a message, as soon as the last one has been read.

        Raises MessageTooLargeError: nothing is sent then.
        """
        content = message.SerializeToString()
        if len(content) > MOST_BYTES:
            raise too_large(message.DESCRIPTOR.name, len(content), "refused, and not sent")
        while not self._end.send(content, SLICE_S):
            self._health()

    def send_nonsense(self) -> None:
        """Sends an invalid message: ns3-ai's Python, which would wait for ever, raises an error."""
        self._end.send(_NO_MESSAGE, _NONSENSE_PATIENCE_S)

    def receive(self, name: str) -> Any:
        """The next message, which must be one of that name.

        Raises MessageTooLargeError if it was written past the buffer's end, WireError if it is another.
        """
        try:
            while (content := self._end.receive(SLICE_S)) is None:
                self._health()
        except TooLarge as error:
            raise too_large(name, str(error), f"{self._peer} wrote past its buffer's end") from None
        try:
            return parsed(name, content)
        except ValueError as error:
            raise WireError(f"{self._peer} sent {len(content)} B that are {error}") from None

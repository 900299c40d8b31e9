# SPDX-License-Identifier: GPL-2.0-or-later
"""Shared-memory segments of ns3-ai and their names, in either of Boost's two layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ns3_env import _ns3ai, _ns3ai_boost187

#: Most bytes of a message of the Gym interface.
MOST_BYTES = _ns3ai.GYM_BUFFER_BYTES


class Names(NamedTuple):
    """Names of the segment and the objects in it: ns3-ai's own."""

    segment: str = "My Seg"
    to_python: str = "My Cpp to Python Msg"
    to_simulator: str = "My Python to Cpp Msg"
    lockable: str = "My Lockable"


#: One end of a segment, in either layout. ``send``, ``finish`` (nothing more comes) and ``receive`` give
#: False or None if the peer lets them wait for longer than ``timeout_s``; ``rows`` are elements of the
#: vectors; after ``unlink`` no process finds the segment any more, and processes that have it keep it.
SegmentEnd = _ns3ai.SegmentEnd


class SegmentError(RuntimeError):
    """No such segment, one that cannot be made, or one with unexpected contents."""


#: Exception for a message larger than a buffer, in either layout; its text is the bytes it needs.
TooLarge = (_ns3ai.TooLarge, _ns3ai_boost187.TooLarge)

#: Makes Python's end, of a given number of bytes: as Boost up to 1.84 does, which most simulations are built
#: with, and as from 1.87 on.
MAKERS: Sequence[Callable[[Names, int], SegmentEnd]] = (
    _ns3ai.SegmentEnd.create,
    _ns3ai_boost187.SegmentEnd.create,
)


def made(maker: Callable[[Names, int], SegmentEnd], names: Names, segment_bytes: int) -> SegmentEnd:
    """Python's end of the Gym interface. Raises SegmentError."""
    try:
        return maker(names, segment_bytes)
    except (_ns3ai.SegmentError, _ns3ai_boost187.SegmentError) as error:
        raise SegmentError(str(error)) from None


def opened(names: Names, element_bytes: tuple[int, int] | None = None) -> SegmentEnd:
    """The simulator's end, in the layout in which the objects are found.

    Args:
        names: names of the segment and its objects.
        element_bytes: sizes of an element of the simulator's vector and of Python's, for the vector
            interface; None: the Gym interface.

    Raises SegmentError.
    """

    def in_layout(end: type[SegmentEnd]) -> SegmentEnd:
        return end.open(names) if element_bytes is None else end.open_vectors(names, *element_bytes)

    try:
        return in_layout(_ns3ai.SegmentEnd)
    except _ns3ai.SegmentError as older:
        try:
            return in_layout(_ns3ai_boost187.SegmentEnd)
        except _ns3ai_boost187.SegmentError as newer:
            # If the newer layout has found them, its complaint is the actual fault.
            is_newer = "has no object" in str(older) and "has no object" not in str(newer)
            raise SegmentError(str(newer if is_newer else older)) from None

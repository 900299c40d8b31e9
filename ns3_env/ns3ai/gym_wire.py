# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of ns3-ai's Gym interface, sent and received in buffers of 1 KiB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ns3_env.ns3ai.messages import parsed
from ns3_env.ns3ai.segments import MOST_BYTES, SegmentEnd, TooLarge

#: Between two looks at the peer, s.
SLICE_S = 0.02
#: A number without an end.
_NO_MESSAGE = b"\xff" * 16
_NONSENSE_PATIENCE_S = 0.5


class MessageTooLargeError(ValueError):
    """A message that takes more than ns3-ai's buffers hold (1 KiB); the error names it and its size."""


class WireError(RuntimeError):
    """The other end said what it never should; the error says what."""


def too_large(name: str, size: int | str, who: str) -> MessageTooLargeError:
    """What is wrong with a message of that size."""
    return MessageTooLargeError(
        f"{who}: {name} takes {size} B, and a message of ns3-ai holds {MOST_BYTES} B: "
        "smaller boxes, float32 instead of float64, or fewer elements"
    )


class GymWire:
    """Messages in and out of one end of a segment.

    Args:
        end: of the segment.
        peer: how errors call the other end.
        look: called every 0.02 s while the other end is waited for; what it raises ends the wait.
    """

    def __init__(self, end: SegmentEnd, peer: str, look: Callable[[], object]) -> None:
        self._end = end
        self._peer = peer
        self._look = look

    def send(self, message: Any) -> None:
        """Sends a message, as soon as the last one has been read.

        Raises MessageTooLargeError: nothing is sent then.
        """
        content = message.SerializeToString()
        if len(content) > MOST_BYTES:
            raise too_large(message.DESCRIPTOR.name, len(content), "refused, and not sent")
        while not self._end.send(content, SLICE_S):
            self._look()

    def send_nonsense(self) -> None:
        """Sends what is no message: ns3-ai's Python, which would wait for ever, raises an error."""
        self._end.send(_NO_MESSAGE, _NONSENSE_PATIENCE_S)

    def receive(self, name: str) -> Any:
        """The next message, which must be one of that name.

        Raises MessageTooLargeError where it was written past the buffer's end, WireError where it is another.
        """
        try:
            while (content := self._end.receive(SLICE_S)) is None:
                self._look()
        except TooLarge as error:
            raise too_large(name, str(error), f"{self._peer} wrote past its buffer's end") from None
        try:
            return parsed(name, content)
        except ValueError as error:
            raise WireError(f"{self._peer} sent {len(content)} B that are {error}") from None

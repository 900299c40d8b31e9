# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a capture."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Frame(NamedTuple):
    time_ns: int
    length: int
    data: bytes

    @property
    def is_pfc(self) -> bool:
        return self.data[12:14] == b"\x88\x08"


def frames_of(path: Path) -> Iterator[Frame]:
    """The records of a capture; see pcap-savefile(5)."""
    content = path.read_bytes()
    magic, major, minor, _, _, _, link_type = struct.unpack_from("<IHHiIII", content)
    assert (magic, major, minor, link_type) == (0xA1B23C4D, 2, 4, 1)
    at = 24
    while at < len(content):
        seconds, nanoseconds, captured_length, length = struct.unpack_from("<IIII", content, at)
        yield Frame(seconds * 10**9 + nanoseconds, length, content[at + 16 : at + 16 + captured_length])
        at += 16 + captured_length

# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of a capture."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scapy.utils import RawPcapNgReader


class Frame(NamedTuple):
    port: str
    sent: bool
    time_ns: int
    length: int
    data: bytes

    @property
    def is_pfc(self) -> bool:
        return self.data[12:14] == b"\x88\x08"


def frames_of(path: Path) -> Iterator[Frame]:
    """The frames of a pcapng file, in its order."""
    with RawPcapNgReader(str(path)) as reader:
        for data, facts in reader:
            assert (facts.linktype, facts.tsresol) == (1, 10**9)
            time_ns = facts.tshigh << 32 | facts.tslow
            yield Frame(facts.ifname.decode(), facts.direction == 2, time_ns, facts.wirelen, data)

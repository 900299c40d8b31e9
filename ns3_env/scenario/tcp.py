# SPDX-License-Identifier: GPL-2.0-or-later
"""Section ``tcp`` of a scenario, under ``transport: tcp``: sockets and queues."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ns3_env.config.bounds import (
    MAX_PACKETS,
    MAX_PAYLOAD_BYTES,
    MAX_SOCKET_BUFFER_BYTES,
    MIN_SOCKET_BUFFER_SEGMENTS,
    WHY_SETTING,
    Bytes,
    Nanoseconds,
    at_most,
)
from ns3_env.config.model import Strict
from ns3_env.scenario.tcp_queue import Queue

#: Of the headers of IP and TCP without options: a segment carries so much less than the MTU.
HEADER_BYTES = 40

_Packets = Annotated[int, Field(ge=1), at_most(MAX_PACKETS, WHY_SETTING)]


class Tcp(Strict):
    """What all connections have in common, and the queues that they meet."""

    mtu_bytes: Bytes = Field(
        default=1500,
        ge=HEADER_BYTES + 1,
        le=MAX_PAYLOAD_BYTES + HEADER_BYTES,
        description="a full segment carries 40 B less",
    )
    initial_window_packets: _Packets = 10
    packets_per_ack: _Packets = Field(
        default=1, description="above 1 ACKs are delayed, and a window of one packet waits each time"
    )
    delayed_ack_timeout_ns: Nanoseconds = Field(default=1_000_000, gt=0)
    sack: bool = Field(default=True, description="selective acknowledgements (RFC 2018)")
    ecn: bool = Field(default=False, description="RFC 3168, for controllers that do not bring their own")
    pacing: bool = Field(default=False, description="segments are spread over the RTT; bbr does so anyway")
    min_rto_ns: Nanoseconds = Field(default=10_000_000, gt=0)
    initial_rto_ns: Nanoseconds = Field(default=1_000_000_000, gt=0, description="of a SYN")
    socket_buffer_bytes: Bytes = Field(
        default=4 << 20, le=MAX_SOCKET_BUFFER_BYTES, description="at either end; no window is wider"
    )
    queue: Queue = Field(default=Queue(), description="at each egress of a switch")
    host_queue: Queue | None = Field(
        default=None, description="at each egress of a host; none: one that never drops"
    )

    @property
    def payload_bytes(self) -> int:
        """Of a full segment."""
        return self.mtu_bytes - HEADER_BYTES

    @model_validator(mode="after")
    def _fits_together(self) -> Tcp:
        faults = []
        if self.packets_per_ack > 1 and self.delayed_ack_timeout_ns >= self.min_rto_ns:
            faults.append(
                f"delayed_ack_timeout_ns: {self.delayed_ack_timeout_ns} is not below min_rto_ns, "
                f"{self.min_rto_ns}: a window of one packet would time out each time; "
                "shorten it, or acknowledge every packet (packets_per_ack: 1)"
            )
        if self.socket_buffer_bytes < (least := MIN_SOCKET_BUFFER_SEGMENTS * self.payload_bytes):
            faults.append(
                f"socket_buffer_bytes: {self.socket_buffer_bytes} holds less than "
                f"{MIN_SOCKET_BUFFER_SEGMENTS} full segments: at least {least}"
            )
        if faults:
            raise ValueError("\n".join(faults))
        return self

# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP's queues: their capacity, and when they mark or drop before they are full."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from ns3_env.config.bounds import (
    MAX_BUFFER_BYTES,
    MAX_PACKETS,
    MAX_PAYLOAD_BYTES,
    MAX_SETTING,
    MAX_SOCKET_BUFFER_BYTES,
    MIN_SOCKET_BUFFER_SEGMENTS,
    WHY_BUFFER,
    WHY_SETTING,
    BitsPerSecond,
    Bytes,
    Nanoseconds,
    Real,
    at_most,
    excess,
)
from ns3_env.config.model import Strict, shown
from ns3_env.config.units import SIZE, Dimension, quantity

Unit = Literal["packets", "bytes", "bdps"]

_PACKETS = Dimension(
    "a number of packets",
    "packets",
    dict.fromkeys(("packet", "packets"), Fraction(1)),
    "packets",
    "100 packets",
)
_BDPS = Dimension(
    "a number of BDPs", "bdp", dict.fromkeys(("bdp", "bdps", "BDP", "BDPs"), Fraction(1)), "bdp", "1.5 bdp"
)
_DIMENSIONS: dict[Unit, Dimension] = {"packets": _PACKETS, "bytes": SIZE, "bdps": _BDPS}
_MOST: dict[Unit, tuple[float, str]] = {
    "packets": (MAX_SETTING, WHY_SETTING),
    "bytes": (MAX_BUFFER_BYTES, WHY_BUFFER),
    "bdps": (MAX_SETTING, WHY_SETTING),
}


class QueueLength(Strict):
    """Length of a queue: in packets, in bytes of their IP datagrams, or in BDPs of its port.

    A BDP is the port's rate times the longest base RTT of two hosts. Written as text, "100 packets", "150kB"
    or "1.5 bdp", which is also how a file has it.
    """

    amount: float = Field(ge=0)
    unit: Unit

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, value: Any) -> Any:
        if isinstance(value, Mapping):
            return value
        return _read(value) if isinstance(value, str) else _wrong(value)

    @model_validator(mode="after")
    def _is_sane(self) -> QueueLength:
        if (text := excess(self.amount, *_MOST[self.unit])) is not None:
            raise ValueError(f"{text} ({self.unit})")
        return self

    @model_serializer
    def text(self) -> str:
        """Text as a user writes it."""
        number = f"{self.amount:.17g}" if self.amount != round(self.amount, 6) else f"{self.amount:.12g}"
        return f"{number} {'B' if self.unit == 'bytes' else 'bdp' if self.unit == 'bdps' else 'packets'}"


def _read(text: str) -> dict[str, Any]:
    """Amount and unit of a length as text."""
    match = re.search(r"[^\W\d_]\w*\s*$", text)
    suffix = match[0].strip() if match else ""
    for unit, dimension in _DIMENSIONS.items():
        if suffix in dimension.units:
            try:
                return {"amount": float(quantity(text, dimension)), "unit": unit}
            except ValueError:
                break
    return _wrong(text)


def _wrong(value: object) -> dict[str, Any]:
    text = (
        f"{shown(value)} is no length of a queue: write packets ('100 packets'), bytes ('150kB') "
        "or BDPs of the port ('1.5 bdp')"
    )
    raise PydanticCustomError("wrong_unit", "{text}", {"text": text})


class Threshold(Strict):
    """ECN-capable packets that find the queue longer than this are marked (DCTCP's marking).

    With ``at_rate_bps`` the threshold is that of a port of this rate and grows with a port's rate, but is at
    least ``least_packets``.
    """

    threshold: QueueLength
    at_rate_bps: BitsPerSecond | None = Field(default=None, description="none: the same at any rate")
    least_packets: Real | None = Field(default=None, ge=0, description="at ports of any rate")

    @model_validator(mode="after")
    def _grows_in_packets(self) -> Threshold:
        if self.at_rate_bps is None and self.least_packets is not None:
            raise ValueError("least_packets: bounds a threshold that changes with the rate: give at_rate_bps")
        if self.at_rate_bps is not None and self.threshold.unit != "packets":
            raise ValueError("at_rate_bps: a threshold that grows with a port's rate is given in packets")
        return self

    def packets_at(self, rate_bps: float) -> float:
        """The threshold at a port of that rate; infinite if it is not in packets."""
        if self.threshold.unit != "packets":
            return math.inf
        growth = rate_bps / self.at_rate_bps if self.at_rate_bps is not None else 1.0
        return max(self.threshold.amount * growth, self.least_packets or 0.0)


class Red(Strict):
    """Random early detection (Floyd and Jacobson 1993): drops, or marks, as the average queue grows."""

    least: QueueLength = Field(description="average queue up to which nothing is dropped")
    most: QueueLength = Field(description="average queue at which highest_probability is reached")
    highest_probability: float = Field(default=0.1, gt=0, le=1)
    average_weight: float = Field(default=0.002, gt=0, le=1, description="of one arrival in the average")
    gentle: bool = Field(default=True, description="grows on to 1 at twice `most`; false: 1 from `most` on")
    ecn: bool = Field(default=False, description="marks ECN-capable packets instead of dropping them")

    @model_validator(mode="after")
    def _ascends(self) -> Red:
        if self.least.unit == self.most.unit and self.most.amount < self.least.amount:
            raise ValueError(f"most ({self.most.text()}) is below least ({self.least.text()})")
        return self


class RedMarking(Strict):
    """RED, by its name."""

    red: Red


def _kind(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return "auto"
    is_red = "red" in value if isinstance(value, Mapping) else isinstance(value, RedMarking)
    return "red" if is_red else "threshold"


def _some_kind(value: Any) -> Any:
    if value is None or value == "auto" or isinstance(value, Mapping | Threshold | RedMarking):
        return value
    if value == "none":
        return None
    text = (
        f"{shown(value)} is no marking: write auto, none, {{threshold: 65 packets}} "
        "or {red: {least: 5 packets, most: 15 packets}}"
    )
    raise PydanticCustomError("wrong_unit", "{text}", {"text": text})


#: "auto", none, a threshold, or RED.
Marking = Annotated[
    Annotated[Literal["auto"], Tag("auto")]
    | Annotated[None, Tag("none")]
    | Annotated[Threshold, Tag("threshold")]
    | Annotated[RedMarking, Tag("red")],
    Discriminator(_kind),
    BeforeValidator(_some_kind),
]


class Queue(Strict):
    """The queue of an egress. One packet more waits in the device, and one is on its way to the link."""

    none_keys = ("marking",)

    limit: QueueLength = Field(
        default=QueueLength(amount=1000, unit="packets"), description="what finds no room is dropped"
    )
    marking: Marking = Field(
        default="auto",
        description="auto: as the flows' controllers declare it; none: drop-tail; {threshold: ..}; {red: ..}",
    )

    @model_validator(mode="after")
    def _holds_something(self) -> Queue:
        if self.limit.amount < (1 if self.limit.unit == "packets" else math.ulp(0)):
            raise ValueError(f"limit: {self.limit.text()}: a queue holds at least a packet")
        return self

    @property
    def content(self) -> dict[str, Any]:
        """Keys as the simulator reads it, unless ``marking`` is "auto"."""
        marking: dict[str, Any] | None = None
        if isinstance(self.marking, Threshold):
            marking = {"kind": "threshold", **_content(self.marking)}
        elif isinstance(self.marking, RedMarking):
            marking = {"kind": "red", **_content(self.marking.red)}
        return {"limit": _content(self.limit), "marking": marking}


def _content(model: Strict) -> dict[str, Any]:
    """Keys of a model that are set, with lengths in numbers and not in words."""
    fields = {key: value for key, value in model if value is not None}
    return {key: _content(x) if isinstance(x, QueueLength) else x for key, x in fields.items()}


#: Bytes of IP's and TCP's headers without options: a segment carries the MTU less these bytes.
HEADER_BYTES = 40

_Packets = Annotated[int, Field(ge=1), at_most(MAX_PACKETS, WHY_SETTING)]


class AckNoise(Strict):
    """Random time that an ACK waits at its receiver, behind those before it: exponentially distributed."""

    mean_rtts: float = Field(default=0.01, gt=0, le=1, description="mean, in base RTTs of the flow's path")
    most_rtts: float = Field(default=0.1, gt=0, le=1, description="longest: a larger one is drawn again")

    @model_validator(mode="after")
    def _ascends(self) -> AckNoise:
        if self.most_rtts < self.mean_rtts:
            raise ValueError(f"most_rtts ({self.most_rtts:g}) is below mean_rtts ({self.mean_rtts:g})")
        return self


class Tcp(Strict):
    """Properties of all connections, and the queues that they meet."""

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
    ack_noise: AckNoise | None = Field(
        default=None, description="ACKs come late by a random time; none: as soon as they can"
    )
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
        """Payload of a full segment."""
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

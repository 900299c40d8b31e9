# SPDX-License-Identifier: GPL-2.0-or-later
"""Reliability of RDMA: recovery from losses, corruption by link, answers of network cards."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from ns3_env.config.bounds import (
    MAX_LINKS,
    MAX_PACKETS,
    MAX_RTTS,
    WHY_RTTS,
    DelayNs,
    Nanoseconds,
    at_most,
    few,
)
from ns3_env.config.model import Strict, named_by
from ns3_env.scenario.topology.directions import LinkDirections, by_direction
from ns3_env.scenario.topology.network import Network


class GoBackN(Strict):
    """The receiver keeps nothing out of order; the sender goes back to the first packet that is missing."""

    kind: Literal["go_back_n"] = "go_back_n"


class SelectiveRepeat(Strict):
    """The receiver keeps packets out of order, and the sender repeats missing ones (IRN, Mittal 2018).

    A packet beyond a gap is answered by a NACK that names the first missing packet and the one packet it
    answers. Each packet missing before an acknowledged one is sent again once in a recovery; one that is lost
    again waits for a timeout. The longer timeout, RTO_high, is ``retransmission_timeout_ns``, or else the
    largest base RTT and the time in which a full buffer drains at the slowest link.
    """

    kind: Literal["selective_repeat"] = "selective_repeat"
    rto_low_ns: Nanoseconds = Field(
        default=100_000, gt=0, description="timeout while few packets are in flight; at most RTO_high"
    )
    rto_low_packets: int = Field(default=3, ge=0, le=MAX_PACKETS, description="up to this number are few")
    bdp_cap: Annotated[float, at_most(MAX_RTTS, WHY_RTTS)] | None = Field(
        default=1.0,
        gt=0,
        description="in flight at most, in BDPs of the network's longest path; none: no cap",
    )
    reorder_packets: int = Field(
        default=0,
        ge=0,
        le=MAX_PACKETS,
        description="by which a packet may come late before it counts as lost",
    )


_Recoveries = GoBackN | SelectiveRepeat


def _spelled_out(value: Any) -> Any:
    """The name without settings means all defaults."""
    return {"kind": value} if value in ("go_back_n", "selective_repeat") else value


#: A kind's name, or the kind with its settings.
Recovery = Annotated[
    _Recoveries,
    Field(discriminator="kind"),
    BeforeValidator(named_by("kind", _Recoveries)),
    BeforeValidator(_spelled_out),
]


class Nic(Strict):
    """Delays of network cards, and the packets that they answer together."""

    cnp_delay_ns: DelayNs = Field(
        default=0,
        ge=0,
        description="a mark is returned by a separate packet (CNP), this long after the marked one; "
        "0: by its ACK",
    )
    ack_delay_ns: DelayNs = Field(
        default=0, ge=0, description="from a packet's arrival to its ACK; part of the base RTT"
    )
    ack_every: int = Field(
        default=1,
        ge=1,
        le=MAX_PACKETS,
        description="packets for an ACK; the last, repeated and out-of-order ones, and those on which a "
        "window closes, have one at once",
    )


class Corruption(LinkDirections):
    """Random corruption on some links: data, ACKs and NACKs that do not arrive; PFC frames always do."""

    packet_rate: float | None = Field(default=None, ge=0, le=1, description="probability of a packet")
    bit_error_rate: float | None = Field(
        default=None, ge=0, lt=1, description="of each bit on the wire: long packets are corrupted more often"
    )

    @model_validator(mode="after")
    def _one_rate(self) -> Corruption:
        if (self.packet_rate is None) == (self.bit_error_rate is None):
            raise ValueError("write packet_rate or bit_error_rate, one of them")
        return self


Corruptions = Annotated[list[Corruption], few(MAX_LINKS, "a network has no more links")]


def corruption_rows(corruptions: list[Corruption], network: Network) -> list[dict[str, float]]:
    """Each direction of a link that is corrupted, for the simulator; the last one that names it counts."""
    return [
        {
            "from": a,
            "to": b,
            "packet_rate": one.packet_rate or 0.0,
            "bit_error_rate": one.bit_error_rate or 0.0,
        }
        for (a, b), one in by_direction(corruptions, network).items()
    ]

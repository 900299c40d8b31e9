# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of switches: buffer, PFC, marking, congestion points, and their count of flows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from ns3_env.config.bounds import (
    MAX_ALPHA_SHIFT,
    MAX_LINKS,
    MAX_WEIGHT,
    WHY_HOSTS,
    BitsPerSecond,
    BufferBytes,
    HeadroomFrames,
    Nanoseconds,
    RealBufferBytes,
    ReserveBytes,
    few,
)
from ns3_env.config.model import Strict, auto_none_or_given


class CongestionPoints(Strict):
    """A congestion point at each egress queue (Jiang 2015, section 2.2; IEEE 802.1Q, clause 32).

    Some of the data frames that join the queue are samples. The source of a sample gets a feedback frame of
    102 B, which returns on the path of the data, before all other frames and in spite of pauses. It
    contains the queue's offset Q_off = q − q0 and its change ΔQ since the last sample, in units of 64 B, and
    −Fb = Q_off + w ΔQ in 6 bits. The defaults are those of QCN, with the target of Jiang 2015.
    """

    target_bytes: RealBufferBytes = Field(default=64_000, ge=1, description="q0, at any link rate")
    weight: float = Field(default=2, ge=0, le=MAX_WEIGHT, description="w")
    sample_bytes: RealBufferBytes = Field(
        default=150_000, ge=1, description="arriving, from sample to sample"
    )
    sample_jitter: float = Field(
        default=0.15, ge=0, le=1, description="each interval is longer or shorter by up to this share"
    )
    adaptive_sampling: bool = Field(
        default=True, description="shorter intervals, down to 18.5 kB of 150, as −Fb grows"
    )
    sample_probability: float | None = Field(
        default=None, gt=0, le=1, description="each frame with this probability, instead of by bytes"
    )
    feedback: Literal["negative", "both"] = Field(
        default="negative", description="negative: a frame only where Fb < 0; both: at each sample"
    )


#: "auto", how they are, or none.
CongestionPointsSetting = Annotated[
    Annotated[Literal["auto"], Tag("auto")]
    | Annotated[CongestionPoints, Tag("given")]
    | Annotated[None, Tag("none")],
    Discriminator(auto_none_or_given),
]


class Ecn(Strict):
    """Marking at dequeue: never below kmin, always above kmax, with growing probability up to pmax between.

    The thresholds apply at ``at_rate_bps`` and grow with a port's rate. The defaults are the published
    simulator's for DCQCN (docs/sources/published-simulator.md).
    """

    kmin_bytes: RealBufferBytes = Field(default=100_000, ge=0)
    kmax_bytes: RealBufferBytes = Field(default=400_000, ge=0)
    pmax: float = Field(default=0.2, ge=0, le=1)
    at_rate_bps: BitsPerSecond = 25e9

    @model_validator(mode="after")
    def _ordered(self) -> Ecn:
        if self.kmax_bytes < self.kmin_bytes:
            raise ValueError(f"kmax_bytes ({self.kmax_bytes:g}) is below kmin_bytes ({self.kmin_bytes:g})")
        return self


#: "auto", thresholds, or none.
EcnSetting = Annotated[
    Annotated[Literal["auto"], Tag("auto")] | Annotated[Ecn, Tag("given")] | Annotated[None, Tag("none")],
    Discriminator(auto_none_or_given),
]


class EcnAgents(Strict):
    """Ports whose marking thresholds an agent sets, at each interval's end (docs/thresholds.md)."""

    interval_ns: Nanoseconds = Field(default=50_000, gt=0, description="from decision to decision")
    ports: Literal["all", "hosts"] | Annotated[list[tuple[int, int]], few(MAX_LINKS, WHY_HOSTS)] = Field(
        default="all", description="all, hosts: those next to hosts, or a list of [switch, neighbour]"
    )


class PfcWatchdog(Strict):
    """Ends storms of PFC pauses at switches' ports, class by class, as SONiC does (docs/lossy.md)."""

    detection_ns: Nanoseconds = Field(
        default=200_000_000, gt=0, description="a longer pause, with packets waiting, is a storm"
    )
    restoration_ns: Nanoseconds = Field(
        default=200_000_000, gt=0, description="without a pause, after which the storm is over"
    )
    action: Literal["drop", "forward"] = Field(
        default="drop",
        description="drop: what waits and what arrives is lost during a storm; forward: pauses are ignored",
    )


class Switch(Strict):
    """Properties of all switches (docs/sources/published-simulator.md, "Switch")."""

    buffer_bytes: BufferBytes | None = Field(
        default=None,
        gt=0,
        description="shared by all ports; none: 32 MiB with links of 100 Gb/s and more, else 16; "
        "twice the reserves and headrooms if it is no more than these",
    )
    pfc: bool = Field(
        default=True,
        description="false: no pauses, headroom or thresholds; a packet for which no byte is left is lost",
    )
    pfc_watchdog: PfcWatchdog | None = Field(default=None, description="none: a pause may last for ever")
    trimming: bool = Field(
        default=False,
        description="true: a data packet for which there is no room is cut to its header, which goes ahead; "
        "the receiver's answer has the sender repeat the packet at once",
    )
    pfc_alpha_shift: int = Field(
        default=3, ge=0, le=MAX_ALPHA_SHIFT, description="threshold: free buffer >> this"
    )
    reserve_bytes: ReserveBytes = Field(
        default=4096, ge=0, description="of each ingress port, which no other one uses"
    )
    resume_offset_bytes: ReserveBytes = Field(default=3072, ge=0)
    headroom_frames: HeadroomFrames | None = Field(
        default=None,
        ge=0,
        description="full frames beyond 3 x rate x delay; none: 2, or 0 under the preset published",
    )
    ecn: EcnSetting = Field(
        default="auto",
        description="auto: as the flows' controllers are published, kmax at most half of the buffer; "
        "none: no marks",
    )
    ecn_agents: EcnAgents | None = Field(
        default=None, description="none: the thresholds of ecn stay; else an agent starts from them"
    )
    congestion_points: CongestionPointsSetting = Field(
        default="auto",
        description="auto: as the flows' controllers are published; none: no feedback frames",
    )
    scheduling: Literal["auto", "fifo", "least_remaining"] = Field(
        default="auto",
        description="auto: as the flows' controllers are published; least_remaining: ports and hosts send of "
        "the flow with the least bytes left, and buffers have no limit, regardless of the other keys",
    )
    flow_counter: Literal["exact", "timeout"] = "exact"
    flow_timeout_ns: Nanoseconds = Field(default=1_000_000, gt=0)


class TrafficClass(Strict):
    """A traffic class at all ports, hosts' and switches': its own queue, pauses, headroom and marks.

    Classes without a weight are served in their order, each before all that follow; those with weights share
    the rest by deficit round robin (IEEE 802.1Qaz). The least weight sends a full frame in each round.
    """

    name: str = Field(min_length=1, description="by which groups of flows name it")
    weight: float | None = Field(
        default=None, ge=1e-3, le=MAX_WEIGHT, description="of what strict classes leave; none: strict"
    )
    pfc: bool | None = Field(
        default=None,
        description="its own pauses; false: what exceeds its threshold is lost; none: as switch.pfc",
    )
    ecn: EcnSetting = Field(
        default="auto",
        description="auto: as switch.ecn, if that is auto as the controllers of the class's flows",
    )
    congestion_points: CongestionPointsSetting = Field(
        default="auto", description="auto: as switch.congestion_points, likewise"
    )

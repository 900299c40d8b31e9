# SPDX-License-Identifier: GPL-2.0-or-later
"""Congestion points of layer 2, by which switches send feedback on their queues to sources."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from ns3_env.config.bounds import RealBufferBytes
from ns3_env.config.model import Strict, auto_none_or_given


class CongestionPoints(Strict):
    """A congestion point at each egress queue (Jiang 2015, section 2.2; IEEE 802.1Q, clause 32).

    Some of the data frames that join the queue are samples. The source of a sample gets a feedback frame of
    102 B, which goes back by the way that the data came, before all other frames and in spite of pauses. It
    says the queue's offset Q_off = q − q0 and its change ΔQ since the last sample, in units of 64 B, and
    −Fb = Q_off + w ΔQ in 6 bits. The defaults are those of QCN, with the target of Jiang 2015.
    """

    target_bytes: RealBufferBytes = Field(default=64_000, ge=1, description="q0, at any link rate")
    weight: float = Field(default=2, ge=0, le=1e6, description="w")
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

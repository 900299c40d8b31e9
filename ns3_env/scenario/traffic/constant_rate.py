# SPDX-License-Identifier: GPL-2.0-or-later
"""Background traffic: a stream of packets at a fixed rate, which no controller steers."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import BitsPerSecond, Nanoseconds
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, Stream, TrafficKind, host_fault


class ConstantRate(TrafficKind):
    """An open-loop stream: full packets, evenly spaced, from ``start_ns`` and a phase to before ``stop_ns``.

    No ACKs, no window, no controller, nothing is sent again; a packet dropped by a switch or a link is lost.
    Streams obey PFC as all data do, and alternate with the flows of their host; delayed packets are sent as
    soon as possible, but not after ``stop_ns``. They are not marked, carry no telemetry (48 B of headers),
    and no switch counts them among its flows. An episode does not wait for them: a mix needs other flows.
    """

    kind: Literal["constant_rate"] = "constant_rate"
    src: int = Field(ge=0)
    dst: int = Field(ge=0)
    rate_bps: BitsPerSecond = Field(description="on the wire, headers included")
    start_ns: Nanoseconds = Field(default=0, ge=0)
    stop_ns: Nanoseconds | None = Field(default=None, gt=0, description="none: never")
    phase_ns: Annotated[Nanoseconds, Field(ge=0)] | Literal["drawn"] = Field(
        default="drawn",
        description="from start_ns to the first packet; drawn: from the seed, below the time from packet to "
        "packet, and 0 under the preset published",
    )

    @property
    def fixed_phase_ns(self) -> int | None:
        """The phase, None if it is drawn."""
        return None if self.phase_ns == "drawn" else self.phase_ns

    def faults(self, network: Network) -> list[str]:
        texts = host_fault(network, "src", self.src) + host_fault(network, "dst", self.dst)
        if self.src == self.dst:
            texts.append(f"dst: a stream from host {self.src} to itself")
        first_ns = self.start_ns + (self.fixed_phase_ns or 0)
        if self.stop_ns is not None and self.stop_ns <= first_ns:
            texts.append(f"stop_ns: {self.stop_ns} is not after the first packet, at {first_ns}")
        if not texts and self.rate_bps > (most := network.access[self.src].rate_bps):
            texts.append(
                f"rate_bps: {self.rate_bps:g} bit/s exceed the link of host {self.src}, {most:g} bit/s"
            )
        if self.controller is not None:
            texts.append(f"controller: nothing steers a stream, {self.controller!r} neither; leave it out")
        return texts

    def named_controllers(self) -> set[str]:
        return set()

    def is_background(self) -> bool:
        return True

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """No flow, and the stream."""
        stream = Stream(self.src, self.dst, self.rate_bps, self.start_ns, self.stop_ns, self.fixed_phase_ns)
        return Flows(streams=[stream])

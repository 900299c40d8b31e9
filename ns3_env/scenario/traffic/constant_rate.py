# SPDX-License-Identifier: GPL-2.0-or-later
"""Background traffic: a stream of packets at a fixed rate, which no controller steers."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import BitsPerSecond, Nanoseconds
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, Stream, TrafficKind, host_fault


class ConstantRate(TrafficKind):
    """An open-loop stream: full packets, evenly spaced, from ``start_ns`` to before ``stop_ns``.

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

    def faults(self, network: Network) -> list[str]:
        texts = host_fault(network, "src", self.src) + host_fault(network, "dst", self.dst)
        if self.src == self.dst:
            texts.append(f"dst: a stream from host {self.src} to itself")
        if self.stop_ns is not None and self.stop_ns <= self.start_ns:
            texts.append(f"stop_ns: {self.stop_ns} is not after start_ns, {self.start_ns}")
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
        return Flows(streams=[Stream(self.src, self.dst, self.rate_bps, self.start_ns, self.stop_ns)])

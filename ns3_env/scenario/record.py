# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of what is recorded while a scenario is played."""

from __future__ import annotations

from pydantic import Field

from ns3_env.config.bounds import Nanoseconds, PortNumber
from ns3_env.config.model import Strict


class Record(Strict):
    """What the results hold beside the flows."""

    queues: bool = True
    queue_series_ns: Nanoseconds = Field(
        default=0, ge=0, description="sampling interval of queue series; 0: none"
    )
    windows: bool = False
    events: bool = Field(default=False, description="marks and pauses, each with its time")
    controller_state: bool = Field(
        default=False, description="changes of what each flow's controller declares as state, by name"
    )
    controller_counters: bool = Field(default=False, description="as controller_state, of its counters")
    pcap: str | None = Field(
        default=None,
        min_length=1,
        description="frames of each port, to PREFIX-NODE-PORT.pcap; every episode writes them anew",
    )
    pcap_ports: list[tuple[PortNumber, PortNumber]] | None = Field(
        default=None, min_length=1, description="[node, port] of those captured; none: all"
    )
    pcap_snaplen: int = Field(default=65_535, ge=1, le=65_535, description="most bytes kept of a frame")

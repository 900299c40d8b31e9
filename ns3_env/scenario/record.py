# SPDX-License-Identifier: GPL-2.0-or-later
"""Settings of a run's records, and of the time in it that counts."""

from __future__ import annotations

from pydantic import Field

from ns3_env.config.bounds import Nanoseconds, PortNumber
from ns3_env.config.model import Strict


class Record(Strict):
    """Parts of the results in addition to the flows."""

    queues: bool = True
    queue_series_ns: Nanoseconds = Field(
        default=0, ge=0, description="sampling interval of queue series; 0: none"
    )
    film_ns: Nanoseconds = Field(
        default=0, ge=0, description="interval at which all ports and flows are sampled for a film; 0: none"
    )
    windows: bool = False
    events: bool = Field(default=False, description="marks and pauses, each with its time")
    reordering: bool = Field(
        default=False,
        description="packets of each flow that came out of order, and bytes that came twice (RDMA); "
        "always with selective_repeat",
    )
    controller_state: bool = Field(
        default=False, description="changes of what each flow's controller declares as state, by name"
    )
    controller_counters: bool = Field(default=False, description="as controller_state, of its counters")
    pcap: str | None = Field(
        default=None,
        min_length=1,
        description="frames of all ports, to PREFIX.pcapng; every episode writes it anew",
    )
    pcap_ports: list[tuple[PortNumber, PortNumber]] | None = Field(
        default=None, min_length=1, description="[node, port] of those captured; none: all"
    )
    pcap_snaplen: int = Field(default=65_535, ge=1, le=65_535, description="most bytes kept of a frame")


class Measurement(Strict):
    """The time in which traffic arrives at random, less a warm-up.

    Completion times and slowdowns are those of flows that start within it; delivered bytes, link use and
    queues those within it (docs/sources/metrics.md, "Measurement window").
    """

    warm_up_ns: Nanoseconds = Field(default=0, ge=0, description="what comes before does not count")
    end_ns: Nanoseconds | None = Field(
        default=None, gt=0, description="what comes from then on does not count; none: when arrivals end"
    )

    def span_ns(self, arrivals_end_ns: int | None) -> tuple[int, int] | None:
        """Start and end; None without an end.

        Args:
            arrivals_end_ns: time until which flows arrive at random; None of other traffic.
        """
        end = arrivals_end_ns if self.end_ns is None else self.end_ns
        return None if end is None else (self.warm_up_ns, end)

    def faults(self, arrivals_end_ns: int | None, time_limit_ns: int) -> list[str]:
        """Lists conflicts with the traffic and the time limit, as "key: text"."""
        span = self.span_ns(arrivals_end_ns)
        if span is None:
            return ["end_ns: none of this traffic arrives at random, so that it must be given"]
        begin, end = span
        if begin >= end:
            return [f"warm_up_ns: {begin} leaves nothing before the end, {end}"]
        if end > time_limit_ns:
            whose = "" if self.end_ns is not None else "by default the end of arrivals: "
            return [f"end_ns: {whose}{end} is after time_limit_ns, {time_limit_ns}"]
        return []

# SPDX-License-Identifier: GPL-2.0-or-later
"""Poisson arrivals at a load: of flows of random size, and of incasts to random receivers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, field_validator, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_COUNT, Bytes, FlowCount, Nanoseconds, RealBytes
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, TrafficKind
from ns3_env.scenario.traffic.sizes import (
    SIZE_CDFS,
    SizeFile,
    distribution_fault,
    mean_size_bytes,
    sample_sizes,
    to_percent,
)

_Points = list[tuple[RealBytes, float]]


def _sizes_tag(value: Any) -> str:
    if isinstance(value, str):
        return "name"
    return "file" if isinstance(value, Mapping | SizeFile) else "points"


#: The name of a distribution, its points, or the file with them.
_Sizes = Annotated[
    Annotated[str, Tag("name")] | Annotated[_Points, Tag("points")] | Annotated[SizeFile, Tag("file")],
    Discriminator(_sizes_tag),
]


def _arrivals(gap_ns: float, end_ns: int, random: np.random.Generator) -> list[float]:
    """Times of arrivals until the first one that is not before ``end_ns``, which is the list's last."""
    times = [random.exponential(gap_ns)]
    while times[-1] < end_ns:
        times.append(times[-1] + random.exponential(gap_ns))
    return times


class Poisson(TrafficKind):
    """Flows of random size between random hosts, so that each host sends at ``load`` of its link.

    Each host's gaps are exponential with mean 8 x mean size / (load x host rate) (docs/sources/traffic.md).
    """

    kind: Literal["poisson"] = "poisson"
    sizes: _Sizes = Field(
        default="websearch",
        description="name of a distribution, its points (bytes, percent), or {file: NAME}, a point a line",
    )
    load: float = Field(default=0.3, gt=0, le=1)
    duration_ns: Nanoseconds = Field(default=10_000_000, gt=0, description="flows start before")

    @field_validator("sizes")
    @classmethod
    def _is_distribution(cls, sizes: str | _Points | SizeFile) -> str | _Points | SizeFile:
        if isinstance(sizes, str) and sizes not in SIZE_CDFS:
            raise ValueError(
                f"unknown distribution {sizes!r}; known: {', '.join(sorted(SIZE_CDFS))}; "
                "a file's is given as {file: NAME}"
            )
        if not isinstance(sizes, list):
            return sizes
        points = to_percent(sizes)
        if (fault := distribution_fault(points)) is not None:
            raise ValueError(fault)
        return points

    @property
    def cdf(self) -> list[tuple[float, float]]:
        """The distribution's points."""
        if isinstance(self.sizes, SizeFile):
            return self.sizes.points
        return SIZE_CDFS[self.sizes] if isinstance(self.sizes, str) else self.sizes

    def without_files(self) -> Poisson:
        """The points, written out."""
        return self.model_copy(update={"sizes": self.cdf}) if isinstance(self.sizes, SizeFile) else self

    def arrivals_end_ns(self) -> int | None:
        return self.duration_ns

    def flow_count_is_drawn(self) -> bool:
        return True

    def expected_flows(self, network: Network) -> float:
        mean = mean_size_bytes(self.cdf)
        bits = (
            sum(network.access[host].rate_bps for host in network.hosts) * self.load * self.duration_ns / 1e9
        )
        return bits / (8 * mean) if mean > 0 else float("inf")

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """Draws flows, by start time, one at least."""
        mean = mean_size_bytes(self.cdf)
        hosts = network.hosts
        rows: list[tuple[int, int]] = []
        soonest: tuple[float, int] | None = None
        for host in hosts:
            gap_ns = 8e9 * mean / (self.load * network.access[host].rate_bps)
            times = _arrivals(gap_ns, self.duration_ns, random)
            if soonest is None or times[0] < soonest[0]:
                soonest = (times[0], host)
            rows += [(int(at), host) for at in times[:-1]]
        if not rows and soonest is not None:
            rows.append((0, soonest[1]))
        rows.sort()
        sizes = sample_sizes(self.cdf, len(rows), random)
        others = random.integers(len(hosts) - 1, size=len(rows))
        position = {host: i for i, host in enumerate(hosts)}
        flows = Flows()
        for (start, src), size, other in zip(rows, sizes, others, strict=True):
            dst = hosts[int(other) + (int(other) >= position[src])]
            flows.add(src, dst, int(size), start, self.controller)
        return flows


class PoissonIncast(TrafficKind):
    """Incasts at random times: ``fan_in`` random hosts send to a random host (docs/sources/traffic.md).

    The frequency is set by ``load``, the incasts' share of the capacity of all hosts' links, or by
    ``events_per_s``, over the whole network. There is at least one incast.
    """

    kind: Literal["poisson_incast"] = "poisson_incast"
    fan_in: FlowCount = Field(default=60, ge=1, description="senders of an incast, each with one flow")
    size_bytes: Bytes = Field(default=500_000, ge=1, description="of each flow")
    load: float | None = Field(default=None, gt=0, le=1, description="of the hosts' links; or events_per_s")
    events_per_s: float | None = Field(
        default=None, gt=0, le=MAX_COUNT, description="incasts of the whole network; or load"
    )
    duration_ns: Nanoseconds = Field(default=10_000_000, gt=0, description="incasts start before")

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.load is None) == (self.events_per_s is None):
            there = "neither" if self.load is None else "both"
            raise ValueError(
                f"give one of load and events_per_s; there is {there} (HPCC's evaluation: load: 0.02)"
            )
        return self

    def _gap_ns(self, network: Network) -> float:
        """Mean time between two incasts."""
        if self.events_per_s is not None:
            return 1e9 / self.events_per_s
        assert self.load is not None
        capacity_bps = sum(network.access[host].rate_bps for host in network.hosts)
        return 8e9 * self.fan_in * self.size_bytes / (self.load * capacity_bps)

    def faults(self, network: Network) -> list[str]:
        free = len(network.hosts) - 1
        if self.fan_in > free:
            return [f"fan_in: {self.fan_in} senders, but there are only {free} hosts beside the receiver"]
        return []

    def senders_at(self, network: Network) -> Counter[int]:
        """Number of senders of one incast, the same for any receiver."""
        return Counter(dict.fromkeys(network.hosts, self.fan_in))

    def expected_flows(self, network: Network) -> float:
        return max(1.0, self.duration_ns / self._gap_ns(network)) * self.fan_in

    def arrivals_end_ns(self) -> int | None:
        return self.duration_ns

    def flow_count_is_drawn(self) -> bool:
        return True

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        times = _arrivals(self._gap_ns(network), self.duration_ns, random)[:-1]
        flows = Flows()
        for start in map(int, times or [0.0]):
            receiver, *senders = random.choice(network.hosts, self.fan_in + 1, replace=False).tolist()
            for sender in senders:
                flows.add(sender, receiver, self.size_bytes, start, self.controller)
        return flows

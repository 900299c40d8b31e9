# SPDX-License-Identifier: GPL-2.0-or-later
"""Poisson arrivals of flows of random size, at a load of the hosts' links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, field_validator

from ns3_env.config.bounds import Nanoseconds, RealBytes
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import Flows, TrafficKind
from ns3_env.scenario.traffic.size_file import SizeFile
from ns3_env.scenario.traffic.sizes import SIZE_CDFS, distribution_fault, mean_size_bytes, sample_sizes

_Points = list[tuple[RealBytes, float]]


def _sizes_tag(value: Any) -> str:
    if isinstance(value, str):
        return "name"
    return "file" if isinstance(value, Mapping | SizeFile) else "points"


#: The name of a distribution, its points, or the file that holds them.
_Sizes = Annotated[
    Annotated[str, Tag("name")] | Annotated[_Points, Tag("points")] | Annotated[SizeFile, Tag("file")],
    Discriminator(_sizes_tag),
]


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
        if isinstance(sizes, list) and (fault := distribution_fault(sizes)) is not None:
            raise ValueError(fault)
        return sizes

    @property
    def cdf(self) -> list[tuple[float, float]]:
        """The distribution's points."""
        if isinstance(self.sizes, SizeFile):
            return self.sizes.points
        return SIZE_CDFS[self.sizes] if isinstance(self.sizes, str) else self.sizes

    def without_files(self) -> Poisson:
        """See the base class: the points, written out."""
        return self.model_copy(update={"sizes": self.cdf}) if isinstance(self.sizes, SizeFile) else self

    def arrivals_end_ns(self) -> int | None:
        """See the base class."""
        return self.duration_ns

    def flow_count_is_drawn(self) -> bool:
        """See the base class."""
        return True

    def expected_flows(self, network: Network) -> float:
        """See the base class."""
        mean = mean_size_bytes(self.cdf)
        bits = (
            sum(network.access[host].rate_bps for host in network.hosts) * self.load * self.duration_ns / 1e9
        )
        return bits / (8 * mean) if mean > 0 else float("inf")

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list, by start time. At least one flow."""
        mean = mean_size_bytes(self.cdf)
        hosts = network.hosts
        rows: list[tuple[int, int]] = []
        soonest: tuple[float, int] | None = None
        for host in hosts:
            gap_ns = 8e9 * mean / (self.load * network.access[host].rate_bps)
            at = random.exponential(gap_ns)
            if soonest is None or at < soonest[0]:
                soonest = (at, host)
            while at < self.duration_ns:
                rows.append((int(at), host))
                at += random.exponential(gap_ns)
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

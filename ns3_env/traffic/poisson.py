# SPDX-License-Identifier: GPL-2.0-or-later
"""How do flows of random size arrive at random? Poisson, at a load of the hosts' links."""

from __future__ import annotations

import itertools
from typing import Annotated, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag, field_validator

from ns3_env.bounds import Nanoseconds, RealBytes
from ns3_env.topology import Network
from ns3_env.traffic.kind import Flows, TrafficKind
from ns3_env.traffic.sizes import SIZE_CDFS, mean_size_bytes, sample_sizes

#: The name of a distribution, or its points.
_Sizes = Annotated[
    Annotated[str, Tag("name")] | Annotated[list[tuple[RealBytes, float]], Tag("points")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "points"),
]


class Poisson(TrafficKind):
    """Flows of random size between random hosts, so that each host sends at ``load`` of its link.

    Each host's gaps are exponential with mean 8 x mean size / (load x host rate) (docs/sources/traffic.md).
    """

    kind: Literal["poisson"] = "poisson"
    sizes: _Sizes = Field(
        default="websearch", description="name of a distribution, or its points (bytes, percent)"
    )
    load: float = Field(default=0.3, gt=0, le=1)
    duration_ns: Nanoseconds = Field(default=10_000_000, gt=0, description="flows start before")

    @field_validator("sizes")
    @classmethod
    def _is_distribution(cls, sizes: str | list[tuple[float, float]]) -> str | list[tuple[float, float]]:
        if isinstance(sizes, str):
            if sizes not in SIZE_CDFS:
                raise ValueError(f"unknown distribution {sizes!r}; known: {', '.join(sorted(SIZE_CDFS))}")
            return sizes
        ascending = all(x <= y and p <= q for (x, p), (y, q) in itertools.pairwise(sizes))
        if len(sizes) < 2 or not ascending or sizes[0][1] != 0 or sizes[-1][1] != 100 or sizes[0][0] < 0:
            raise ValueError("points (bytes, percent) must ascend, from 0 to 100 percent")
        if sizes[-1][0] <= 0:
            raise ValueError("sizes must be positive")
        return sizes

    @property
    def cdf(self) -> list[tuple[float, float]]:
        """The distribution's points."""
        return SIZE_CDFS[self.sizes] if isinstance(self.sizes, str) else self.sizes

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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Direct networks, in which each switch has hosts: tori and dragonflies.

Hosts have the first ids, switch by switch, then come the switches.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import DelayNs, HostCount, LinkRate, SwitchCount, few
from ns3_env.scenario.topology.kind import GBPS, TopologyKind
from ns3_env.scenario.topology.network import Link, Network


class _Direct(TopologyKind):
    """Base of the two: hosts at switches, and pairs of switches."""

    hosts_per_switch: HostCount = Field(default=1, ge=1)
    rate_bps: LinkRate = Field(default=100 * GBPS, description="of each host's link")
    fabric_bps: LinkRate = Field(default=100 * GBPS, description="between switches")
    delay_ns: DelayNs = Field(default=1000, gt=0)

    def _switches(self) -> int:
        raise NotImplementedError

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        """Yields each link between two switches, numbered from 0, with its delay (ns)."""
        raise NotImplementedError

    def _pair_count(self) -> int:
        raise NotImplementedError

    def counts(self) -> tuple[int, int, int]:
        switches = self._switches()
        hosts = switches * self.hosts_per_switch
        return hosts, switches, hosts + self._pair_count()

    def build(self) -> Network:
        net = Network()
        hosts = net.add("host", self._switches() * self.hosts_per_switch)
        switches = net.add("switch", self._switches())
        net.attach(hosts, switches, self.rate_bps, self.delay_ns)
        net.links += [Link(switches[a], switches[b], self.fabric_bps, delay) for a, b, delay in self._pairs()]
        return net


class Torus(_Direct):
    """Switches on a grid of any number of dimensions, linked to their neighbours and around the ends.

    The last dimension counts first: of 2 x 3 switches, 0, 1 and 2 are a row. Two switches of a dimension
    have one link.
    """

    kind: Literal["torus"] = "torus"
    sizes: Annotated[list[SwitchCount], few(8, "a path has 32 switches at most")] = Field(
        default=[4, 4], min_length=1, description="switches of each dimension"
    )

    @model_validator(mode="after")
    def _has_sizes(self) -> Self:
        if min(self.sizes) < 1:
            raise ValueError(f"sizes are {self.sizes}; each is at least 1")
        return self

    def _switches(self) -> int:
        return math.prod(self.sizes)

    def _pair_count(self) -> int:
        along = {1: 0.0, 2: 0.5}
        return sum(int(self._switches() * along.get(size, 1)) for size in self.sizes)

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        strides = [math.prod(self.sizes[i + 1 :]) for i in range(len(self.sizes))]
        for switch in range(self._switches()):
            for size, stride in zip(self.sizes, strides, strict=True):
                at = switch // stride % size
                if size > 2 or (size == 2 and at == 0):
                    yield switch, switch + ((at + 1) % size - at) * stride, self.delay_ns


class Dragonfly(_Direct):
    """Groups of switches, each linked to every other of its group, with a link between any two groups
    (Kim 2008).

    A group's links to the next groups, then to those after them, are its first switch's, then its second
    one's, ``links_to_groups`` each.
    """

    kind: Literal["dragonfly"] = "dragonfly"
    hosts_per_switch: HostCount = Field(default=2, ge=1)
    switches_per_group: SwitchCount = Field(default=4, ge=1)
    links_to_groups: SwitchCount = Field(default=2, ge=1, description="of each switch, at most")
    groups: SwitchCount | None = Field(default=None, ge=2, description="none: the most that links allow")
    global_delay_ns: DelayNs | None = Field(
        default=None, gt=0, description="of each link between groups; none: delay_ns"
    )

    @property
    def _groups(self) -> int:
        return self.groups or self._most_groups

    @property
    def _most_groups(self) -> int:
        return self.switches_per_group * self.links_to_groups + 1

    @model_validator(mode="after")
    def _has_links(self) -> Self:
        if self._groups > self._most_groups:
            links = f"{self.switches_per_group} switches of {self.links_to_groups} links"
            raise ValueError(f"{self._groups} groups; {links} reach {self._most_groups - 1} others")
        return self

    def _switches(self) -> int:
        return self._groups * self.switches_per_group

    def _pair_count(self) -> int:
        return self._groups * math.comb(self.switches_per_group, 2) + math.comb(self._groups, 2)

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        each = self.switches_per_group
        for group in range(self._groups):
            for a, b in itertools.combinations(range(group * each, (group + 1) * each), 2):
                yield a, b, self.delay_ns
        delay_ns = self.delay_ns if self.global_delay_ns is None else self.global_delay_ns
        for group, other in itertools.combinations(range(self._groups), 2):
            # A group's port i leads to the group i + 1 places after it.
            there, back = other - group - 1, (group - other) % self._groups - 1
            a = group * each + there // self.links_to_groups
            yield a, other * each + back // self.links_to_groups, delay_ns

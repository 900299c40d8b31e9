# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of the kinds of traffic: flows and streams, made for a network from a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from pydantic import Field

from ns3_env.config.model import Strict
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.tasks import Tasks

#: Class of flows, here and in the published simulator.
DATA_GROUP = 3
#: The last of eight. Switches send their own frames in class 0, which they neither pause, mark nor drop.
MAX_GROUP = 7


class Stream(NamedTuple):
    """Background at a fixed rate on the wire, without a controller; ``stop_ns`` None: endless, ``phase_ns``
    None: drawn."""

    src: int
    dst: int
    rate_bps: float
    start_ns: int
    stop_ns: int | None
    phase_ns: int | None
    group: str | None = None


@dataclass
class Flows:
    """Columns of a flow list; ``controller`` has the controller's name, None if the scenario decides,
    ``group`` that of the flow's group, None without.

    ``size_bytes`` is 0 of a flow that never ends. ``streams`` run in addition to the flows.
    ``tasks`` lists the flows that wait for other flows and then start no sooner than at their ``start_ns``.
    """

    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    size_bytes: list[int] = field(default_factory=list)
    start_ns: list[int] = field(default_factory=list)
    controller: list[str | None] = field(default_factory=list)
    group: list[str | None] = field(default_factory=list)
    streams: list[Stream] = field(default_factory=list)
    tasks: Tasks = field(default_factory=Tasks)

    def __len__(self) -> int:
        return len(self.src)

    def add(
        self,
        src: int,
        dst: int,
        size_bytes: int,
        start_ns: int,
        controller: str | None,
        group: str | None = None,
    ) -> None:
        """Appends a flow."""
        self.src.append(src)
        self.dst.append(dst)
        self.size_bytes.append(size_bytes)
        self.start_ns.append(start_ns)
        self.controller.append(controller)
        self.group.append(group)

    def extend(self, other: Flows) -> None:
        """Appends another list."""
        if other.tasks:
            self.tasks.extend(other.tasks, len(self))
        self.src += other.src
        self.dst += other.dst
        self.size_bytes += other.size_bytes
        self.start_ns += other.start_ns
        self.controller += other.controller
        self.group += other.group
        self.streams += other.streams

    def in_group(self, name: str) -> Flows:
        """The same, with flows without a group in this one."""
        group: list[str | None] = [flow_group or name for flow_group in self.group]
        streams = [stream._replace(group=stream.group or name) for stream in self.streams]
        return replace(self, group=group, streams=streams)


class TrafficKind(Strict):
    """Base of every kind of traffic."""

    controller: str | None = Field(
        default=None, description="name of these flows' controller; none: the scenario's"
    )

    group: str | None = Field(
        default=None, description="name of these flows' group (scenario's key groups); none: of none"
    )

    def draw(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list, with flows without a group in the traffic's group."""
        flows = self.generate(network, random)
        return flows if self.group is None else flows.in_group(self.group)

    def named_groups(self) -> set[str]:
        """Names of the groups that its flows and streams are in."""
        return set() if self.group is None else {self.group}

    def faults(self, network: Network) -> list[str]:
        """Lists conflicts with the network, as "key: text"."""
        return []

    def named_controllers(self) -> set[str]:
        """Names of the controllers that this traffic itself gives to flows."""
        return set() if self.controller is None else {self.controller}

    def priority_groups(self) -> set[int]:
        """PFC classes of its flows, which must be one (by default ``DATA_GROUP``)."""
        return set() if self.is_background() else {DATA_GROUP}

    def senders_at(self, network: Network) -> Counter[int]:
        """Flows that send to each host at the same time; empty if that is not known beforehand."""
        return Counter()

    def expected_flows(self, network: Network) -> float:
        """Returns how many flows there will be, before any is made."""
        return 0

    def first_start_ns(self) -> int | None:
        """Returns when the first flow starts; None if that is not known beforehand."""
        return None

    def is_background(self) -> bool:
        """Returns whether it has only streams, and never a flow."""
        return False

    def arrivals_end_ns(self) -> int | None:
        """Time until which flows arrive at random; None of other traffic."""
        return None

    def without_files(self) -> TrafficKind:
        """The same traffic with files' contents written out, so that it needs no other file."""
        return self

    def without_controllers(self) -> TrafficKind:
        """The same flows, all of them under the scenario's controller."""
        return self.model_copy(update={"controller": None})

    def flow_count_is_drawn(self) -> bool:
        """Returns whether another seed may have another number of flows."""
        return False

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list; all that is drawn comes from the generator."""
        raise NotImplementedError


def host_fault(network: Network, key: str, host: int) -> list[str]:
    if host in network.access:
        return []
    return [f"{key}: there is no host {host}; hosts are {network.hosts[0]} to {network.hosts[-1]}"]


def rank_faults(network: Network, hosts: Sequence[int], ranks: int) -> list[str]:
    """Lists why these hosts cannot have the ranks of a job, as "key: text"; a host may have several."""
    if len(hosts) != ranks:
        return [f"ranks: {len(hosts)} hosts for {ranks} ranks"]
    texts = [fault for i, host in enumerate(hosts) for fault in host_fault(network, f"ranks.{i}", host)]
    if ranks > 1 and len(set(hosts)) == 1:
        texts.append(f"ranks: all of them are on host {hosts[0]}, and nothing is sent over the network")
    return texts


class Group(Strict):
    """Properties of a group's flows; traffic names it (``group``), the results' flows do as well."""

    controller: str | None = Field(
        default=None, min_length=1, description="of its flows; none: the scenario's first"
    )
    attributes: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="of that controller; they come before the scenario's"
    )
    traffic_class: str | None = Field(
        default=None, min_length=1, description="one of the scenario's classes; none: the last"
    )

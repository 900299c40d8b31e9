# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of traffic, by name, a file each.

A new kind is a file of this folder, with a class derived from ``TrafficKind``, and a line of ``Traffic``.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field

from ns3_env.config.bounds import WHY_FLOWS, few
from ns3_env.config.model import named_by
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.chakra import Chakra
from ns3_env.scenario.traffic.connections import Connections
from ns3_env.scenario.traffic.constant_rate import ConstantRate
from ns3_env.scenario.traffic.flow_file import FlowFile
from ns3_env.scenario.traffic.goal import Goal
from ns3_env.scenario.traffic.incast import Incast, Joining, LongShort
from ns3_env.scenario.traffic.jobs import Collective, JobLog, Jobs
from ns3_env.scenario.traffic.kind import DATA_GROUP, Flows, Group, Stream, TrafficKind
from ns3_env.scenario.traffic.listed import Flow, FlowList
from ns3_env.scenario.traffic.poisson import Poisson, PoissonIncast
from ns3_env.scenario.traffic.published import PublishedFlows
from ns3_env.scenario.traffic.sizes import (
    ENDLESS,
    ENDLESS_BYTES,
    SIZE_CDFS,
    FlowSize,
    SizeFile,
    mean_size_bytes,
    sample_sizes,
)
from ns3_env.scenario.traffic.training import Training, Workload

__all__ = [
    "DATA_GROUP",
    "ENDLESS",
    "ENDLESS_BYTES",
    "SIZE_CDFS",
    "Chakra",
    "Collective",
    "Connections",
    "ConstantRate",
    "Flow",
    "FlowFile",
    "FlowList",
    "FlowSize",
    "Flows",
    "Goal",
    "Group",
    "Incast",
    "JobLog",
    "Jobs",
    "Joining",
    "LongShort",
    "Mix",
    "Poisson",
    "PoissonIncast",
    "PublishedFlows",
    "SizeFile",
    "Stream",
    "Traffic",
    "TrafficKind",
    "Training",
    "Workload",
    "mean_size_bytes",
    "sample_sizes",
]


class Mix(TrafficKind):
    """Several kinds of traffic at once, one flow list after the other."""

    kind: Literal["mix"] = "mix"
    parts: Annotated[list[Traffic], few(1000, WHY_FLOWS)] = Field(min_length=1)

    def faults(self, network: Network) -> list[str]:
        return [f"parts.{i}.{fault}" for i, part in enumerate(self.parts) for fault in part.faults(network)]

    def named_controllers(self) -> set[str]:
        return super().named_controllers().union(*(part.named_controllers() for part in self.parts))

    def named_groups(self) -> set[str]:
        return super().named_groups().union(*(part.named_groups() for part in self.parts))

    def priority_groups(self) -> set[int]:
        return set().union(*(part.priority_groups() for part in self.parts))

    def senders_at(self, network: Network) -> Counter[int]:
        return sum((part.senders_at(network) for part in self.parts), Counter())

    def flow_count_is_drawn(self) -> bool:
        return any(part.flow_count_is_drawn() for part in self.parts)

    def expected_flows(self, network: Network) -> float:
        return sum(part.expected_flows(network) for part in self.parts)

    def first_start_ns(self) -> int | None:
        """Known if it is known of all parts that have flows."""
        starts = [part.first_start_ns() for part in self.parts if not part.is_background()]
        return None if None in starts else min((x for x in starts if x is not None), default=None)

    def arrivals_end_ns(self) -> int | None:
        """The earliest end of random arrivals among the parts."""
        return min((x for part in self.parts if (x := part.arrivals_end_ns()) is not None), default=None)

    def is_background(self) -> bool:
        return all(part.is_background() for part in self.parts)

    def without_files(self) -> Mix:
        return self.model_copy(update={"parts": [part.without_files() for part in self.parts]})

    def without_controllers(self) -> Mix:
        parts = [part.without_controllers() for part in self.parts]
        return self.model_copy(update={"controller": None, "parts": parts})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        """The flow list; each part draws from its own generator, so that parts do not affect each other."""
        flows = Flows()
        for part, generator in zip(self.parts, random.spawn(len(self.parts)), strict=True):
            flows.extend(part.draw(network, generator))
        return flows


_Kinds = (
    Incast
    | LongShort
    | Joining
    | Poisson
    | PoissonIncast
    | FlowList
    | FlowFile
    | PublishedFlows
    | Connections
    | ConstantRate
    | Collective
    | Jobs
    | JobLog
    | Chakra
    | Goal
    | Training
    | Workload
    | Mix
)
Traffic = Annotated[_Kinds, Field(discriminator="kind"), BeforeValidator(named_by("kind", _Kinds))]
Mix.model_rebuild(_types_namespace={"Traffic": Traffic})

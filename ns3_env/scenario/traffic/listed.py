# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic given as a list of flows."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS, Nanoseconds, few
from ns3_env.config.model import Strict
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.kind import DATA_GROUP, MAX_GROUP, Flows, TrafficKind, host_fault
from ns3_env.scenario.traffic.sizes import FlowSize, bytes_of


class Flow(Strict):
    """One flow of a list."""

    src: int = Field(ge=0)
    dst: int = Field(ge=0)
    size_bytes: FlowSize = Field(description="or endless")
    start_ns: Nanoseconds = Field(default=0, ge=0)
    controller: str | None = None
    group: str | None = None


class FlowList(TrafficKind):
    """Flows as written."""

    kind: Literal["list"] = "list"
    priority_group: int = Field(default=DATA_GROUP, ge=0, le=MAX_GROUP, description="PFC class of the flows")
    flows: Annotated[list[Flow], few(MAX_FLOWS, WHY_FLOWS)] = Field(min_length=1)

    def faults(self, network: Network) -> list[str]:
        found = []
        for i, flow in enumerate(self.flows):
            found += host_fault(network, f"flows.{i}.src", flow.src)
            found += host_fault(network, f"flows.{i}.dst", flow.dst)
            if flow.src == flow.dst:
                found.append(f"flows.{i}.dst: a flow from host {flow.src} to itself")
        return found

    def named_controllers(self) -> set[str]:
        return super().named_controllers() | {x.controller for x in self.flows if x.controller is not None}

    def named_groups(self) -> set[str]:
        return super().named_groups() | {x.group for x in self.flows if x.group is not None}

    def priority_groups(self) -> set[int]:
        return {self.priority_group}

    def expected_flows(self, network: Network) -> float:
        return len(self.flows)

    def without_controllers(self) -> FlowList:
        flows = [flow.model_copy(update={"controller": None}) for flow in self.flows]
        return self.model_copy(update={"controller": None, "flows": flows})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        flows = Flows()
        for x in self.flows:
            name = x.controller or self.controller
            flows.add(x.src, x.dst, bytes_of(x.size_bytes), x.start_ns, name, x.group)
        return flows

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
from ns3_env.scenario.traffic.sizes import ENDLESS, FlowSize, bytes_of
from ns3_env.scenario.traffic.tasks import Tasks, Wait, named_waits


class Flow(Strict):
    """One flow of a list."""

    src: int = Field(ge=0)
    dst: int = Field(ge=0)
    size_bytes: FlowSize = Field(description="or endless")
    start_ns: Nanoseconds = Field(default=0, ge=0)
    controller: str | None = None
    group: str | None = None
    name: str | None = Field(default=None, min_length=1, description="by which other flows wait for it")
    after: Annotated[list[str], few(MAX_FLOWS, WHY_FLOWS)] = Field(
        default=[], description="names of flows: it starts when their receivers have all of them"
    )
    needed: int | None = Field(default=None, ge=1, description="how many of them; none: all")
    delay_ns: Nanoseconds = Field(default=0, ge=0, description="between then, or start_ns, and its start")


class FlowList(TrafficKind):
    """Flows as written."""

    kind: Literal["list"] = "list"
    priority_group: int = Field(default=DATA_GROUP, ge=0, le=MAX_GROUP, description="PFC class of the flows")
    flows: Annotated[list[Flow], few(MAX_FLOWS, WHY_FLOWS)] = Field(min_length=1)

    def faults(self, network: Network) -> list[str]:
        texts = []
        for i, flow in enumerate(self.flows):
            texts += host_fault(network, f"flows.{i}.src", flow.src)
            texts += host_fault(network, f"flows.{i}.dst", flow.dst)
            if flow.src == flow.dst:
                texts.append(f"flows.{i}.dst: a flow from host {flow.src} to itself")
            if flow.size_bytes == ENDLESS and flow.name in {x for other in self.flows for x in other.after}:
                texts.append(f"flows.{i}.size_bytes: others wait for its end, and it has none")
        _, wrong = self._waits()
        return texts + [f"flows.{i}.{text}" for i, text in wrong.items()]

    def _waits(self) -> tuple[dict[int, Wait], dict[int, str]]:
        flows = self.flows
        return named_waits(
            [x.name for x in flows],
            [x.after for x in flows],
            [x.delay_ns for x in flows],
            [x.needed for x in flows],
        )

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
        flows.tasks = Tasks.waiting(self._waits()[0])
        return flows

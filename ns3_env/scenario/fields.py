# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's keys, and the values that follow only from them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PrivateAttr

from ns3_env.config.bounds import (
    MAX_CLASSES,
    MAX_CONTROLLERS,
    MAX_FLOWS,
    MAX_PAYLOAD_BYTES,
    MAX_THREADS,
    WHY_FLOWS,
    BitsPerSecond,
    Bytes,
    Nanoseconds,
    few,
)
from ns3_env.config.model import Strict
from ns3_env.programs.transport import Transport
from ns3_env.scenario.controllers import AGENT, Clock, Controller, PerFlowRtt
from ns3_env.scenario.paths import Ecmp, Failures, LinkRates, LoadBalancing
from ns3_env.scenario.record import Measurement, Record
from ns3_env.scenario.reliability import Corruptions, GoBackN, Nic, Recovery
from ns3_env.scenario.switch import Switch, TrafficClass
from ns3_env.scenario.tcp_queue import Tcp
from ns3_env.scenario.topology import Dumbbell, Topology
from ns3_env.scenario.traffic import Group, Incast, Traffic


class SimulatorOptions(Strict):
    """Settings of how the simulator runs a scenario."""

    threads: Annotated[int, Field(ge=1, le=MAX_THREADS)] | Literal["auto", "by_size"] | None = Field(
        default="by_size",
        description="simulate the network in parts, on N threads or as many as help (auto); the results "
        "are the same for any number (docs/large-networks.md). by_size: on one thread, if 128 or more hosts "
        "receive, no flow waits for another and no agent decides across the channel; else, and with none, "
        "as a whole",
    )


class ScenarioFields(Strict):
    """Keys of a scenario; ``Scenario`` adds the methods."""

    transport: Transport = "rdma"
    preset: Literal["default", "published"] = "default"
    seed: int = Field(default=1, ge=0, lt=2**63)
    time_limit_ns: Nanoseconds = Field(default=10_000_000, gt=0)
    timing: Literal["exact", "published"] | None = None
    payload_bytes: Bytes = Field(default=1000, ge=1, le=MAX_PAYLOAD_BYTES)
    min_rate_bps: BitsPerSecond | None = Field(
        default=None,
        description="none: a hundredth of the host's rate, or less where an incast needs it; "
        "a warning where the flows' least rates together exceed their receiver's link",
    )
    topology: Topology = Dumbbell()
    traffic: Traffic = Incast()
    switch: Switch = Switch()
    load_balancing: LoadBalancing = Ecmp()
    link_rates: LinkRates = Field(default=[], description="none: links keep their rates and delays")
    failures: Failures | None = Field(default=None, description="none: links and switches never fail")
    classes: Annotated[list[TrafficClass], few(MAX_CLASSES, "PFC has eight priorities")] = Field(
        default=[], description="of traffic, in the order in which ports serve them; none: one"
    )
    groups: dict[str, Group] = Field(default={}, description="of flows, by the names that traffic gives them")
    loss_probability: float = Field(default=0.0, ge=0, le=1, description="of each packet on each link")
    corruption: Corruptions = Field(default=[], description="of some links, instead of loss_probability")
    recovery: Recovery = Field(default=GoBackN(), description="go_back_n or selective_repeat")
    nic: Nic = Nic()
    retransmission_timeout_ns: Nanoseconds = Field(default=0, ge=0, description="0: by the simulator")
    tcp: Tcp = Tcp()
    controllers: Annotated[list[Controller], few(MAX_CONTROLLERS, WHY_FLOWS)] = Field(
        default=[Controller(name=AGENT)], min_length=1
    )
    controlled_flows: Annotated[list[Annotated[int, Field(ge=0)]], few(MAX_FLOWS, WHY_FLOWS)] | None = None
    clock: Clock = PerFlowRtt()
    decision_quantum_ns: Nanoseconds = Field(
        default=0, ge=0, description="flows due within it decide together"
    )
    record: Record = Record()
    simulator: SimulatorOptions = SimulatorOptions()
    measurement: Measurement | None = Field(default=None, description="none: the whole run counts")

    _source: str | None = PrivateAttr(default=None)
    _initial_controllers: tuple[Controller, ...] = PrivateAttr(default=())

    @property
    def source(self) -> str | None:
        """The file that errors name."""
        return self._source

    @property
    def given_controllers(self) -> tuple[Controller, ...]:
        """``controllers`` as they were read, even after a replacement."""
        return self._initial_controllers

    @property
    def packet_payload_bytes(self) -> int:
        """Payload of a full packet."""
        return self.payload_bytes if self.transport == "rdma" else self.tcp.payload_bytes

    def measured_ns(self) -> tuple[int, int] | None:
        """Start and end of the counted time; None if the whole run counts."""
        return None if self.measurement is None else self.measurement.span_ns(self.traffic.arrivals_end_ns())

# SPDX-License-Identifier: GPL-2.0-or-later
"""What is simulated? The typed scenario: YAML in, the simulator's JSON out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, PrivateAttr, Tag, ValidationInfo, model_validator

from ns3_env.bounds import (
    MAX_CONTROLLERS,
    MAX_FLOWS,
    MIN_RATE_BPS,
    WHY_FLOWS,
    BitsPerSecond,
    BufferBytes,
    Bytes,
    HeadroomFrames,
    Nanoseconds,
    PortNumber,
    RealBufferBytes,
    ReserveBytes,
    Rtts,
    few,
)
from ns3_env.errors import ScenarioError, ScenarioWarning
from ns3_env.measurement import Measurement
from ns3_env.simulator.executable import describe_controllers
from ns3_env.strict import Strict, validate
from ns3_env.topology import Dumbbell, Network, Topology
from ns3_env.traffic import Flows, Incast, Traffic
from ns3_env.yaml_files import read_mapping

#: The controller that asks across the channel.
AGENT = "agent"
#: The controller whose decisions come from a policy's file, inside the simulator.
NETWORK = "network"

MIB = 1 << 20


#: Bytes of a data packet's headers with the largest telemetry (HPCC's 42 B).
_MAX_HEADER_BYTES = 90


class Ecn(Strict):
    """Marking at dequeue: never below kmin, always above kmax, with growing probability up to pmax between.

    The thresholds hold at ``at_rate_bps`` and grow with a port's rate. The defaults are DCQCN's
    (docs/sources/baselines.md).
    """

    kmin_bytes: RealBufferBytes = Field(default=100_000, ge=0)
    kmax_bytes: RealBufferBytes = Field(default=400_000, ge=0)
    pmax: float = Field(default=0.2, ge=0, le=1)
    at_rate_bps: BitsPerSecond = 25e9

    @model_validator(mode="after")
    def _ordered(self) -> Ecn:
        if self.kmax_bytes < self.kmin_bytes:
            raise ValueError(f"kmax_bytes ({self.kmax_bytes:g}) is below kmin_bytes ({self.kmin_bytes:g})")
        return self


def published_ecn() -> dict[str, Ecn]:
    """Marking that controllers are published with, as each declares it; those not named ignore marks.

    Raises SimulatorNotFound, SimulatorDied.
    """
    return {
        name: Ecn.model_validate(declared["ecn"])
        for name, declared in describe_controllers().items()
        if declared["ecn"] is not None
    }


def _ecn_tag(value: Any) -> str:
    if value is None:
        return "none"
    return "auto" if isinstance(value, str) else "thresholds"


#: "auto", thresholds, or none.
EcnSetting = Annotated[
    Annotated[Literal["auto"], Tag("auto")]
    | Annotated[Ecn, Tag("thresholds")]
    | Annotated[None, Tag("none")],
    Discriminator(_ecn_tag),
]


class Switch(Strict):
    """What all switches have in common (docs/sources/published-simulator.md, "Switch")."""

    buffer_bytes: BufferBytes | None = Field(
        default=None,
        gt=0,
        description="shared by all ports; none: 32 MiB with links of 100 Gb/s and more, else 16",
    )
    pfc: bool = Field(
        default=True,
        description="false: no pauses, headroom or thresholds; a packet for which no byte is left is lost",
    )
    pfc_alpha_shift: int = Field(default=3, ge=0, le=30, description="threshold: free buffer >> this")
    reserve_bytes: ReserveBytes = Field(
        default=4096, ge=0, description="of each ingress port, which no other one takes"
    )
    resume_offset_bytes: ReserveBytes = Field(default=3072, ge=0)
    headroom_frames: HeadroomFrames | None = Field(
        default=None,
        ge=0,
        description="full frames beyond 3 x rate x delay; none: 2, or 0 under the preset reference",
    )
    ecn: EcnSetting = Field(
        default="auto", description="auto: as the flows' controllers are published; none: no marks"
    )
    flow_counter: Literal["exact", "timeout"] = "exact"
    flow_timeout_ns: Nanoseconds = Field(default=1_000_000, gt=0)


class Controller(Strict):
    """A congestion controller by name, and its ns-3 attributes."""

    name: str = Field(min_length=1)
    attributes: dict[str, bool | int | float | str] = Field(default_factory=dict)


class PerFlowRtt(Strict):
    """Each flow decides again after a fraction of its last RTT (Zhang 2023, section 4.2)."""

    name: Literal["per_flow_rtt"] = "per_flow_rtt"
    rtt_fraction: Rtts = Field(default=0.5, gt=0)


class Synchronous(Strict):
    """Every live flow decides at a fixed interval."""

    name: Literal["synchronous"] = "synchronous"
    interval_ns: Nanoseconds = Field(default=10_000, gt=0)


class PerAck(Strict):
    """A flow decides on each of its ACKs, on the spot, as a controller inside the simulator does."""

    name: Literal["per_ack"] = "per_ack"


Clock = Annotated[PerFlowRtt | Synchronous | PerAck, Field(discriminator="name")]


class Record(Strict):
    """What the results hold beside the flows."""

    queues: bool = True
    queue_series_ns: Nanoseconds = Field(
        default=0, ge=0, description="sampling interval of queue series; 0: none"
    )
    windows: bool = False
    events: bool = Field(default=False, description="marks and pauses, each with its time")
    controller_state: bool = Field(
        default=False, description="changes of what each flow's controller declares as state, by name"
    )
    controller_counters: bool = Field(default=False, description="as controller_state, of its counters")
    pcap: str | None = Field(
        default=None,
        min_length=1,
        description="frames of each port, to PREFIX-NODE-PORT.pcap; every episode writes them anew",
    )
    pcap_ports: list[tuple[PortNumber, PortNumber]] | None = Field(
        default=None, min_length=1, description="[node, port] of those captured; none: all"
    )
    pcap_snaplen: int = Field(default=65_535, ge=1, le=65_535, description="most bytes kept of a frame")


class Scenario(Strict):
    """One episode's network, traffic and controllers.

    Every flow is under the first of ``controllers``; with ``controlled_flows``, those flows are under "agent"
    (or "network", a policy's file) and the others under the first other controller; a traffic's own
    ``controller`` comes before both. Flows under "agent" have the slots 0, 1, ... in the order of the flow
    list.

    The preset gives ``timing`` its default: "exact" (picoseconds) in ``default``, "published" (whole
    nanoseconds and the published simulator's other accidents) in ``reference``. ``switch.ecn: auto`` marks as
    the controllers that the flows are under are published with, as each declares it (``published_ecn``).
    """

    preset: Literal["default", "reference"] = "default"
    seed: int = Field(default=1, ge=0, lt=2**63)
    time_limit_ns: Nanoseconds = Field(default=10_000_000, gt=0)
    timing: Literal["exact", "published"] | None = None
    payload_bytes: Bytes = Field(default=1000, ge=1, le=65_000)
    min_rate_bps: BitsPerSecond | None = Field(
        default=None,
        description="none: a hundredth of the host's rate, or less where an incast needs it; "
        "a warning where the flows' least rates together exceed their receiver's link",
    )
    topology: Topology = Dumbbell()
    traffic: Traffic = Incast()
    switch: Switch = Switch()
    loss_probability: float = Field(default=0.0, ge=0, le=1, description="of each packet on each link")
    retransmission_timeout_ns: Nanoseconds = Field(default=0, ge=0, description="0: by the simulator")
    controllers: Annotated[list[Controller], few(MAX_CONTROLLERS, WHY_FLOWS)] = Field(
        default=[Controller(name=AGENT)], min_length=1
    )
    controlled_flows: Annotated[list[Annotated[int, Field(ge=0)]], few(MAX_FLOWS, WHY_FLOWS)] | None = None
    clock: Clock = PerFlowRtt()
    decision_quantum_ns: Nanoseconds = Field(
        default=0, ge=0, description="flows due within it decide together"
    )
    record: Record = Record()
    measurement: Measurement | None = Field(default=None, description="none: the whole run counts")

    _source: str | None = PrivateAttr(default=None)

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any], source: str, folder: str | Path = "") -> Scenario:
        """The scenario of these keys.

        Args:
            data: keys and values, as in a YAML file.
            source: what errors name.
            folder: where the scenario's other files are looked for; "": the working directory.

        Raises:
            ScenarioError: a line per fault, with ``source`` and the key.
        """
        context = {"folder": folder, "source": source}
        made = validate(data, cls, source, raises=ScenarioError, context=context)
        made._source = source
        return made

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """The scenario in a YAML file. Raises ScenarioError, naming file and key."""
        return cls.from_mapping(read_mapping(path, ScenarioError), str(path), Path(path).parent)

    @property
    def source(self) -> str | None:
        """The file that errors name."""
        return self._source

    def with_seed(self, seed: int) -> Scenario:
        """The same scenario with another seed."""
        return self.model_copy(update={"seed": seed})

    def under(
        self, controller: str, attributes: Mapping[str, bool | int | float | str] | None = None
    ) -> Scenario:
        """The scenario with its flows under one controller, "agent" for a policy.

        The controller keeps the attributes that the scenario gives it; ``attributes`` take their place. Flows
        that the traffic itself puts under a controller stay there.

        Raises:
            ScenarioError: the traffic puts flows under "agent", and there is no policy.
        """
        if controller != AGENT and AGENT in self.traffic.named_controllers():
            raise ScenarioError(
                f"{self.source}: traffic.controller: flows under {AGENT!r} need a policy; "
                "name one of the simulator's controllers, or none"
            )
        own = next((x.attributes for x in self.controllers if x.name == controller), {})
        first = Controller(name=controller, attributes={**own, **(attributes or {})})
        others = [x for x in self.controllers if x.name not in (AGENT, controller)]
        return self.model_copy(update={"controllers": [first, *others], "controlled_flows": None})

    def playing(self, file: str | Path) -> Scenario:
        """The scenario with a policy's file in the place of "agent": the simulator evaluates it itself.

        What the scenario says of "agent" (its telemetry, its first window) holds for the policy; the clock is
        the file's.

        Raises:
            ScenarioError: the traffic itself puts flows under "agent".
        """
        if AGENT in self.traffic.named_controllers():
            raise ScenarioError(f"{self.source}: traffic.controller: {AGENT!r} needs placement 'channel'")
        controllers = [
            Controller(name=NETWORK, attributes={**x.attributes, "File": str(file)}) if x.name == AGENT else x
            for x in self.controllers
            if x.name != NETWORK
        ]
        return self.model_copy(update={"controllers": controllers})

    def carrying(self, telemetry_bytes: int) -> Scenario:
        """The scenario with so many bytes of telemetry in packets of the agent's flows, unless it says it."""
        controllers = [
            x.model_copy(update={"attributes": {"TelemetryBytes": telemetry_bytes, **x.attributes}})
            if x.name == AGENT
            else x
            for x in self.controllers
        ]
        return self.model_copy(update={"controllers": controllers})

    @model_validator(mode="after")
    def _fits_together(self, info: ValidationInfo) -> Scenario:
        network = self.topology.build()
        faults = [f"topology.{fault}" for fault in self.topology.faults(network)]
        if not faults:
            faults = [f"traffic.{fault}" for fault in self.traffic.faults(network)]
            faults += self._buffer_faults(network)
        if not faults and (many := self.traffic.expected_flows(network)) > MAX_FLOWS:
            faults = [f"traffic: about {many:.3g} flows; there may be at most {MAX_FLOWS}: {WHY_FLOWS}"]
        faults += self._time_faults()
        faults += self._controller_faults(network if not faults else None)
        if not faults:
            faults = self._ecn_faults(lambda: self._controller_indices(self._flows(network)))
        if faults:
            raise ValueError("\n".join(faults))
        self._warn_of_rates(network, (info.context or {}).get("source"))
        return self

    def _time_faults(self) -> list[str]:
        """Nothing that is asked for may lie behind the time limit."""
        first, limit = self.traffic.first_start_ns(), self.time_limit_ns
        faults = []
        if first is not None and first >= limit:
            faults.append(f"time_limit_ns: the first flow starts at {first} ns, not before {limit}")
        if self.measurement is not None:
            wrong = self.measurement.faults(self.traffic.arrivals_end_ns(), limit)
            faults += [f"measurement.{fault}" for fault in wrong]
        return faults

    def measured_ns(self) -> tuple[int, int] | None:
        """Begin and end of what counts; None where the whole run does."""
        return None if self.measurement is None else self.measurement.span_ns(self.traffic.arrivals_end_ns())

    def measured_text(self) -> str:
        """ ", measured from 1 to 10 ms", as tables and reports say it; "" where the whole run counts."""
        span = self.measured_ns()
        return "" if span is None else f", measured from {span[0] / 1e6:g} to {span[1] / 1e6:g} ms"

    def without_files(self) -> Scenario:
        """The same scenario with what its files hold written out: it then says all by itself."""
        update = {"traffic": self.traffic.without_files(), "topology": self.topology.without_files()}
        return self.model_copy(update=update)

    def _buffer_faults(self, network: Network) -> list[str]:
        """Reserves and headrooms (3 x rate x delay and some frames) must leave something to share.

        Without PFC nothing is kept as headroom, and what is left must hold a packet; the published simulator
        keeps it all the same.
        """
        needed: dict[int, float] = {}
        frame = self.payload_bytes + _MAX_HEADER_BYTES
        headrooms = self.switch.pfc or self._timing() == "published"
        for link in network.links:
            headroom = 3 * link.rate_bps * link.delay_ns / 8e9 + self._headroom_frames() * frame
            headroom *= headrooms
            for end in (link.a, link.b):
                if network.nodes[end] == "switch":
                    needed[end] = needed.get(end, 0) + headroom + self.switch.reserve_bytes
        if not needed:
            return []
        buffer = self._buffer_bytes(network)
        worst = max(needed, key=lambda node: needed[node])
        if needed[worst] < buffer and (headrooms or needed[worst] + frame <= buffer):
            return []
        if not headrooms:
            return [
                f"switch.buffer_bytes: {buffer} B hold no packet of {frame} B beside the reserves of switch "
                f"{worst}, {needed[worst]:.0f} B (reserve_bytes may be 0)"
            ]
        return [
            f"switch.buffer_bytes: {buffer} B is no more than the reserves and headrooms of switch {worst}, "
            f"{needed[worst]:.0f} B"
            + ("" if self.switch.pfc else "; timing 'published' keeps headroom without PFC, 'exact' does not")
        ]

    def _timing(self) -> Literal["exact", "published"]:
        return self.timing or ("published" if self.preset == "reference" else "exact")

    def _headroom_frames(self) -> int:
        if self.switch.headroom_frames is not None:
            return self.switch.headroom_frames
        return 0 if self.preset == "reference" else 2

    def _warn_of_rates(self, network: Network, source: str | None) -> None:
        """With such least rates no controller can empty the queue, but one may want to see that."""
        if self.min_rate_bps is None:
            return
        for host, flows in self.traffic.senders_at(network).items():
            rate = network.access[host].rate_bps
            if flows * self.min_rate_bps > rate:
                warnings.warn(
                    (f"{source}: " if source else "")
                    + f"min_rate_bps: {flows} flows x {self.min_rate_bps:g} bit/s = "
                    f"{flows * self.min_rate_bps:g} bit/s exceed the link of host {host}, {rate:g} bit/s: "
                    f"its queue cannot empty; {rate / flows:g} would do",
                    ScenarioWarning,
                    stacklevel=2,
                )

    def _controller_faults(self, network: Network | None) -> list[str]:
        names = [controller.name for controller in self.controllers]
        faults = [f"controllers: {name!r} is there twice" for name in set(names) if names.count(name) > 1]
        if self.controlled_flows is not None:
            if AGENT not in names and NETWORK not in names:
                faults.append(f"controlled_flows: needs {AGENT!r} among the controllers")
            if network is not None and not self.traffic.flow_count_is_drawn():
                # The number of flows is the same for every seed.
                flows = self._flows(network)
                beyond = [flow for flow in self.controlled_flows if flow >= len(flows)]
                if beyond:
                    faults.append(
                        f"controlled_flows: there is no flow {beyond[0]}; flows are 0 to {len(flows) - 1}"
                    )
                if len(names) < 2 and len(set(self.controlled_flows)) < len(flows):
                    faults.append("controllers: the flows that are not controlled need another controller")
        known = ", ".join(names)
        faults += [
            f"traffic.controller: {name!r} is not among the controllers ({known})"
            for name in sorted(self.traffic.named_controllers())
            if name not in names
        ]
        return faults

    def _ecn_faults(self, controllers: Callable[[], list[int]]) -> list[str]:
        """A port marks in one way only; where two controllers need two, the user has to choose.

        ``controllers()``: each flow's, as an index.
        """
        if self.switch.ecn != "auto" or len(self.controllers) < 2:
            return []
        published = published_ecn()
        names = sorted({self.controllers[i].name for i in set(controllers())} & set(published))
        if all(published[name] == published[names[0]] for name in names):
            return []
        needs = ", ".join(
            f"{name} {ecn.kmin_bytes:g}/{ecn.kmax_bytes:g} B and pmax {ecn.pmax:g} "
            f"at {ecn.at_rate_bps / 1e9:g} Gb/s"
            for name, ecn in ((name, published[name]) for name in names)
        )
        return [
            f"switch.ecn: flows under {' and '.join(names)} need different marking ({needs}): give "
            "kmin_bytes, kmax_bytes, pmax and at_rate_bps instead of 'auto'"
        ]

    def _ecn(self, controllers: list[int]) -> Ecn | None:
        """The marking, for flows under these controllers (indices)."""
        if self.switch.ecn != "auto":
            return self.switch.ecn
        published = published_ecn()
        names = (self.controllers[index].name for index in sorted(set(controllers)))
        return next((published[name] for name in names if name in published), None)

    def _buffer_bytes(self, network: Network) -> int:
        if self.switch.buffer_bytes is not None:
            return self.switch.buffer_bytes
        fast = max(link.rate_bps for link in network.links) >= 100e9
        return (32 if fast else 16) * MIB

    def _min_rate_bps(self, network: Network) -> float | None:
        """The simulator's default, a hundredth of the host's rate, is too much for more than 100 flows."""
        if self.min_rate_bps is not None:
            return self.min_rate_bps
        needed: float | None = None
        host_rate = max(link.rate_bps for link in network.access.values())
        for host, flows in self.traffic.senders_at(network).items():
            share = network.access[host].rate_bps / flows
            if share < host_rate / 100:
                needed = share / 10 if needed is None else min(needed, share / 10)
        return None if needed is None else max(needed, MIN_RATE_BPS)

    def _flows(self, network: Network) -> Flows:
        return self.traffic.generate(network, np.random.default_rng(self.seed))

    def _controller_indices(self, flows: Flows) -> list[int]:
        index = {controller.name: i for i, controller in enumerate(self.controllers)}
        policy = AGENT if AGENT in index else NETWORK
        default = 0
        chosen: set[int] = set()
        if self.controlled_flows is not None:
            chosen = set(self.controlled_flows)
            default = next((i for name, i in index.items() if name != policy), index[policy])
        result = []
        for flow, name in enumerate(flows.controller):
            if name is not None:
                result.append(index[name])
            else:
                result.append(index[policy] if flow in chosen else default)
        return result

    def flows(self) -> Flows:
        """The flow list under the scenario's own seed."""
        return self._flows(self.topology.build())

    @property
    def flow_count(self) -> int:
        """Flows of the scenario under its own seed."""
        return len(self.flows())

    @property
    def agent_flow_count(self) -> int:
        """Flows under "agent": slots that an environment needs."""
        indices = self._controller_indices(self._flows(self.topology.build()))
        return sum(self.controllers[i].name == AGENT for i in indices)

    def to_simulator_json(self) -> dict[str, Any]:
        """What rdma-sim reads. Traffic is drawn from the scenario's seed."""
        network = self.topology.build()
        flows = self._flows(network)
        controllers = self._controller_indices(flows)
        if faults := self._ecn_faults(lambda: controllers):
            raise ScenarioError("\n".join(f"{self._source}: {x}" if self._source else x for x in faults))
        slots = []
        taken = 0
        for index in controllers:
            under_agent = self.controllers[index].name == AGENT
            slots.append(taken if under_agent else -1)
            taken += under_agent
        ecn = self._ecn(controllers)
        content: dict[str, Any] = {
            "seed": self.seed,
            "time_limit_ns": self.time_limit_ns,
            "timing": self._timing(),
            "payload_bytes": self.payload_bytes,
            "nodes": network.nodes,
            "links": [
                {"a": link.a, "b": link.b, "rate_bps": link.rate_bps, "delay_ns": link.delay_ns}
                for link in network.links
            ],
            "switch": {
                **self.switch.model_dump(),
                "buffer_bytes": self._buffer_bytes(network),
                "headroom_frames": self._headroom_frames(),
                "ecn": None if ecn is None else ecn.model_dump(),
            },
            "loss": {"probability": self.loss_probability},
            "retransmission_timeout_ns": self.retransmission_timeout_ns,
            "controllers": [
                {
                    "name": controller.name,
                    "attributes": {k: _text(v) for k, v in controller.attributes.items()},
                }
                for controller in self.controllers
            ],
            "clock": self.clock.model_dump(),
            "decision_quantum_ns": self.decision_quantum_ns,
            "flows": {
                "src": flows.src,
                "dst": flows.dst,
                "size_bytes": flows.size_bytes,
                "start_ns": flows.start_ns,
                "controller": controllers,
                "slot": slots,
            },
            "record": self.record.model_dump(),
        }
        if (span := self.measured_ns()) is not None:
            content["record"]["measurement"] = {"begin_ns": span[0], "end_ns": span[1]}
        min_rate = self._min_rate_bps(network)
        if min_rate is not None:
            content["min_rate_bps"] = min_rate
        return content


def _text(value: bool | int | float | str) -> str:
    """An attribute's value as ns-3 reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenario: one bottleneck, its buffer and flows, at a share of its rate (Lynn et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ns3_env.errors import ScenarioError
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.tcp import Tcp
from ns3_env.scenario.tcp_queue import Queue, QueueLength, Threshold
from ns3_env.scenario.topology import Graph, GraphLink
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow

#: Of the bottleneck and its RTT (sec. 4.2); tables I and II count in shares of 40, too.
RATE_BPS, RTT_NS = 40e9, 25_000_000
#: In the unit of the paper's tables.
RATE = 40.0
#: A link of a host, of the bottleneck's rate: no queue but the bottleneck's.
_FASTER = 10
#: Delay of a receiver's link, and of the bottleneck, in RTTs: the sender's link has the rest.
_NEAR_RTTS = 1 / 250
#: Of IP, TCP and the link's protocol field.
_ACK_BYTES, _LINK_BYTES = 42, 2
#: Looks at queue and rates per RTT; RTTs from one flow's start to the next; Linux's least RTO, in RTTs.
_LOOKS, _APART, _RTO_RTTS = 5, 1 / 25, 8

Attributes = Mapping[str, bool | float | str]


@dataclass(frozen=True)
class Path:
    """A bottleneck that all flows share.

    Attributes:
        rate_bps: on the wire.
        rtts_ns: of each flow, alone: propagation and the serialisation of a full packet and its ACK.
        buffer_bdps: in BDPs of ``bdp_rtt_ns``.
        mtu_bytes: of a full packet.
        bdp_rtt_ns: what buffers are counted by, and how often one looks.
    """

    rate_bps: float
    rtts_ns: Sequence[int] = (RTT_NS,)
    buffer_bdps: float = 1.0
    mtu_bytes: int = 1500
    bdp_rtt_ns: int = RTT_NS

    @property
    def flows(self) -> int:
        """Their number, each from a host of its own to a host of its own."""
        return len(self.rtts_ns)

    @property
    def buffer_packets(self) -> int:
        """What the bottleneck's queue holds: two at least, so that there is one."""
        bdp = self.rate_bps * self.bdp_rtt_ns / 8e9 / self.mtu_bytes
        return max(2, round(self.buffer_bdps * bdp))

    @property
    def host_bps(self) -> float:
        """Of each host's link."""
        return _FASTER * self.rate_bps

    @property
    def frame_bytes(self) -> int:
        """A full packet on the wire."""
        return self.mtu_bytes + _LINK_BYTES

    def payload_bps(self, share: float) -> str:
        """A share of the bottleneck's rate, of payload, as an attribute."""
        payload = self.mtu_bytes - _ACK_BYTES + _LINK_BYTES
        return f"{round(share * self.rate_bps * payload / self.frame_bytes)}bps"

    def topology(self) -> Graph:
        """Senders, receivers, and the two switches between them.

        Raises ScenarioError where packets take the whole RTT to send.
        """
        n = self.flows
        near, far = 2 * n, 2 * n + 1
        host_bps = self.host_bps
        times = (self.frame_bytes + _ACK_BYTES) * 8e9 * (1 / self.rate_bps + 2 / host_bps)
        near_ns = round(_NEAR_RTTS * self.bdp_rtt_ns)
        delays = [round((rtt - times) / 2) - 2 * near_ns for rtt in self.rtts_ns]
        if min(delays) <= 0:
            raise ScenarioError(
                f"--scale: at {self.rate_bps / 1e6:g} Mb/s a packet and its ACK take {times / 1e6:.3g} ms to "
                f"send, of an RTT of {min(self.rtts_ns) / 1e6:g} ms: a larger scale leaves time to travel"
            )
        links = [GraphLink(a=i, b=near, rate_bps=host_bps, delay_ns=x) for i, x in enumerate(delays)]
        links += [GraphLink(a=n + i, b=far, rate_bps=host_bps, delay_ns=near_ns) for i in range(n)]
        links.append(GraphLink(a=near, b=far, rate_bps=self.rate_bps, delay_ns=near_ns))
        hosts: list[Literal["host", "switch"]] = ["host"] * (2 * n)
        return Graph(nodes=[*hosts, "switch", "switch"], links=links)


@dataclass(frozen=True)
class Law:
    """A law of TCP as an experiment plays it.

    Attributes:
        name: as the simulator knows it.
        attributes: that differ from its defaults.
        caps: of single flows, as an attribute each; none: uncapped.
        marked_from: packets at the bottleneck; None: it does not mark.
    """

    name: str
    attributes: Attributes = field(default_factory=dict)
    caps: Sequence[str] = ()
    marked_from: float | None = None


def rttmpc(path: Path, least: float, caps: Sequence[float] = (), target: float = 0.5, **more: float) -> Law:
    """RTT-driven MPC.

    Args:
        path: whose rate the shares are of.
        least: the flow's least rate, at which it starts too, as a share.
        caps: of each flow, as shares; none: uncapped.
        target: where the target lies between the least and the largest RTT.
        more: other attributes.
    """
    rates = {"MinRate": path.payload_bps(least), "InitialRate": path.payload_bps(least)}
    return Law("rttmpc", {**rates, "TargetShare": target, **more}, [path.payload_bps(cap) for cap in caps])


def scenario(path: Path, law: Law, seconds: float) -> Scenario:
    """Endless flows, one soon after another (a millisecond, with an RTT of 25), without their caps.

    Every packet is acknowledged, as in the paper's model; the least RTO is Linux's. Only the bottleneck's
    queue has a bound: buffers of sockets hold twice what the path and its buffer do.
    """
    marking = None if law.marked_from is None else Threshold(threshold=_packets(law.marked_from))
    sockets = 2 * (path.rate_bps * max(path.rtts_ns) / 8e9 + path.buffer_packets * path.mtu_bytes)
    flows = [
        Flow(src=i, dst=path.flows + i, size_bytes="endless", start_ns=round(i * _APART * path.bdp_rtt_ns))
        for i in range(path.flows)
    ]
    return Scenario(
        transport="tcp",
        time_limit_ns=round(seconds * 1e9),
        topology=path.topology(),
        traffic=FlowList(flows=flows),
        tcp=Tcp(
            mtu_bytes=path.mtu_bytes,
            packets_per_ack=1,
            min_rto_ns=_RTO_RTTS * path.bdp_rtt_ns,
            socket_buffer_bytes=min(1 << 30, max(1 << 20, round(sockets))),
            queue=Queue(limit=_packets(path.buffer_packets), marking=marking),
        ),
        controllers=[Controller(name=law.name, attributes=dict(law.attributes))],
        record=Record(queue_series_ns=path.bdp_rtt_ns // _LOOKS, windows=True),
    )


def _packets(count: float) -> QueueLength:
    return QueueLength(amount=count, unit="packets")


def episode(path: Path, law: Law, seconds: float) -> dict[str, Any]:
    """The scenario as the simulator reads it. There, each flow may have a controller of its own: its cap."""
    content = scenario(path, law, seconds).to_simulator_json()
    if law.caps:
        (common,) = content["controllers"]
        content["controllers"] = [
            {**common, "attributes": {**common["attributes"], "MaxRate": cap}} for cap in law.caps
        ]
        content["flows"]["controller"] = list(range(path.flows))
    return content

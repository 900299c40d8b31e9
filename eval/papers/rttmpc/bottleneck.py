# SPDX-License-Identifier: GPL-2.0-or-later
"""One bottleneck, its buffer and flows, at a share of its rate; rates and RTTs (Lynn et al. 2020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from ns3_env.errors import ScenarioError
from ns3_env.eval.output.plots import styles
from ns3_env.eval.papers.panels import DASHED, MODEL, Drawing, Panel, curve, labels
from ns3_env.eval.papers.runs import Run, first
from ns3_env.scenario import Controller, Record, Scenario
from ns3_env.scenario.tcp_queue import AckNoise, Queue, QueueLength, Tcp, Threshold
from ns3_env.scenario.topology import Graph, GraphLink
from ns3_env.scenario.traffic import FlowList
from ns3_env.scenario.traffic.listed import Flow
from ns3_env.simulator.results import Floats, Results

#: Rate and RTT of the bottleneck (sec. 4.2), and a full packet; tables I and II are in shares of 40 Gb/s.
RATE_BPS, RTT_NS, MTU_BYTES = 40e9, 25_000_000, 1500
#: The link's rate in the unit of the paper's tables.
RATE = 40.0
#: Noise of the paper's simulation (sec. 4.1): 1 % of the RTT on average, 10 % at most.
NOISE = AckNoise(mean_rtts=0.01, most_rtts=0.1)
#: Rate of a host's link over the bottleneck's rate: no queue but the bottleneck's.
_FASTER = 10
#: Delay of a receiver's link, and of the bottleneck, in RTTs: the sender's link has the rest.
_NEAR_RTTS = 1 / 250
#: Headers of IP, TCP and the link's protocol field.
_ACK_BYTES, _LINK_BYTES = 42, 2
#: Samples of queue and rates per RTT; RTTs from one flow's start to the next; Linux's minimum RTO, in RTTs.
_LOOKS, _APART, _RTO_RTTS = 5, 1 / 25, 8


@dataclass(frozen=True)
class Path:
    """A bottleneck that all flows share.

    Attributes:
        rate_bps: rate on the wire.
        rtts_ns: base RTT of each flow: propagation and the serialisation of a full packet and its ACK.
        buffer_bdps: buffer in BDPs of ``base_ns``.
        mtu_bytes: size of a full packet.
        base_ns: RTT that is the unit of buffer, starts, samples and the minimum RTO.
        ack_noise: random delay of the ACKs; None: none.
    """

    rate_bps: float
    rtts_ns: Sequence[int] = (RTT_NS,)
    buffer_bdps: float = 1.0
    mtu_bytes: int = MTU_BYTES
    base_ns: int = RTT_NS
    ack_noise: AckNoise | None = None

    @property
    def flows(self) -> int:
        """The number of flows; each has its own source and destination host."""
        return len(self.rtts_ns)

    @property
    def buffer_packets(self) -> int:
        """Capacity of the bottleneck's queue in packets: at least two, so that a queue can form."""
        bdp = self.rate_bps * self.base_ns / 8e9 / self.mtu_bytes
        return max(2, round(self.buffer_bdps * bdp))

    def payload_rate(self, share: float) -> float:
        """A share of the bottleneck's rate, of payload, bit/s."""
        frame = self.mtu_bytes + _LINK_BYTES
        return share * self.rate_bps * (frame - _ACK_BYTES) / frame

    def payload_bps(self, share: float) -> str:
        """The same as an attribute."""
        return f"{round(self.payload_rate(share))}bps"

    def topology(self) -> Graph:
        """Senders, receivers, and the two switches between them.

        Raises ScenarioError if sending the packets needs the whole RTT.
        """
        n = self.flows
        near, far = 2 * n, 2 * n + 1
        host_bps = _FASTER * self.rate_bps
        times = (self.mtu_bytes + _LINK_BYTES + _ACK_BYTES) * 8e9 * (1 / self.rate_bps + 2 / host_bps)
        near_ns = round(_NEAR_RTTS * self.base_ns)
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
class Entry:
    """A controller of TCP as an experiment runs it.

    Attributes:
        name: name of the simulator's controller.
        attributes: attributes that differ from its defaults.
        caps: rate cap of each flow, as text of an attribute; none: uncapped.
        marked_from: marking threshold of the bottleneck's queue, packets; None: no marking.
    """

    name: str
    attributes: Mapping[str, bool | float | str] = field(default_factory=dict)
    caps: Sequence[str] = ()
    marked_from: float | None = None


def rttmpc(path: Path, least: float, caps: Sequence[float] = (), target: float = 0.5, **more: float) -> Entry:
    """RTT-driven MPC: the flow's minimum and initial rate, and caps of each flow, if any, as shares
    of the path's rate; ``target``: the target's position between the minimum and the maximum RTT."""
    rates = {"MinRate": path.payload_bps(least), "InitialRate": path.payload_bps(least)}
    return Entry("rttmpc", {**rates, "TargetShare": target, **more}, [path.payload_bps(cap) for cap in caps])


def scenario(path: Path, entry: Entry, seconds: float) -> Scenario:
    """Endless flows, one soon after another (a millisecond, with an RTT of 25), without their caps.

    Every packet is acknowledged, as in the paper's model; the minimum RTO is Linux's. Only the bottleneck's
    queue is bounded: socket buffers have twice the capacity of the path and its buffer.
    """
    marks = entry.marked_from
    marking = None if marks is None else Threshold(threshold=QueueLength(amount=marks, unit="packets"))
    sockets = 2 * (path.rate_bps * max(path.rtts_ns) / 8e9 + path.buffer_packets * path.mtu_bytes)
    flows = [
        Flow(src=i, dst=path.flows + i, size_bytes="endless", start_ns=round(i * _APART * path.base_ns))
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
            ack_noise=path.ack_noise,
            min_rto_ns=_RTO_RTTS * path.base_ns,
            socket_buffer_bytes=min(1 << 30, max(1 << 20, round(sockets))),
            queue=Queue(limit=QueueLength(amount=path.buffer_packets, unit="packets"), marking=marking),
        ),
        controllers=[Controller(name=entry.name, attributes=dict(entry.attributes))],
        record=Record(queue_series_ns=path.base_ns // _LOOKS, windows=True),
    )


def episode(path: Path, entry: Entry, seconds: float) -> dict[str, Any]:
    """The scenario in the simulator's JSON, in which a flow may have its own controller: its cap."""
    content = scenario(path, entry, seconds).to_simulator_json()
    if entry.caps:
        (common,) = content["controllers"]
        content["controllers"] = [
            {**common, "attributes": {**common["attributes"], "MaxRate": cap}} for cap in entry.caps
        ]
        content["flows"]["controller"] = list(range(path.flows))
    return content


#: A thin dashed line at the link's rate.
LEVEL = {**DASHED, "linestyle": MODEL.line}
#: The link's rate counts as reached if all together send this share of it for this time: ten RTTs of 25 ms.
REACHED, HELD_S = 0.95, 0.25


@dataclass(frozen=True)
class Flows:
    """One run.

    Attributes:
        times_s: (m,) times of the samples, s.
        rates: (flows, m) pacing rates in the paper's unit, of which the link has 40.
        rtts_ms: (flows, m) RTT of a packet that joins the queue at that time.
        goodputs: (flows,) acknowledged payload over the whole run, as a rate in the same unit.
        lost: share of packets that the bottleneck dropped.
        timeouts: number of timeouts of all flows.
    """

    times_s: Floats
    rates: Floats
    rtts_ms: Floats
    goodputs: Floats
    lost: float
    timeouts: int

    def after(self, begin_s: float) -> Flows:
        """The series from ``begin_s`` on; counts remain those of the whole run."""
        late = self.times_s >= begin_s
        return replace(
            self, times_s=self.times_s[late], rates=self.rates[:, late], rtts_ms=self.rtts_ms[:, late]
        )

    @property
    def of_each(self) -> dict[str, Floats]:
        """Mean and standard deviation of each flow's rate and RTT (ms): (flows,) each."""
        means = {"rate": self.rates.mean(axis=1), "rtt": self.rtts_ms.mean(axis=1)}
        return {**means, "rate_std": self.rates.std(axis=1), "rtt_std": self.rtts_ms.std(axis=1)}

    @property
    def combined(self) -> Floats:
        """The sum of the flows' rates: (m,)."""
        return np.asarray(self.rates.sum(axis=0))

    @property
    def mean_rtts_ms(self) -> Floats:
        """The RTT as a mean over the flows, as in Fig. 6: (m,)."""
        return np.asarray(self.rtts_ms.mean(axis=0))

    @property
    def reached_s(self) -> float:
        """Time until the flows jointly send at 95 % of the link's rate for ten RTTs: an initial overshoot
        does not count. NaN if never."""
        length = max(1, round(HELD_S / float(np.diff(self.times_s[:2])[0])))
        there = np.convolve(self.combined >= REACHED * RATE, np.ones(length), "valid")
        return first(self.times_s, there > length - 0.5)


def measure(results: Results) -> Flows:
    """Reads rates and RTTs off a run's results.

    A packet's RTT is its path's base RTT plus the time that the bottleneck needs for packets ahead of it: by
    this, every instant has an RTT, as data points have in the paper's model.
    """
    run = Run(results)
    # Data and ACKs cross the slowest link in opposite directions.
    place, slowest = min(run.ports.items(), key=lambda port: (port[1]["rate_bps"], -port[1]["tx_bytes"]))
    link_bps, host_bps = slowest["rate_bps"], max(port["rate_bps"] for port in run.ports.values())
    payload, flows = run.flows["payload_bytes"][0], run.flows
    frame = payload + flows["header_bytes"][0]
    lost = sum(x["packets"] for x in run.losses if (x["node"], x["port"]) == place)
    passed = round(slowest["tx_bytes"] / frame)
    return Flows(
        run.times_ns / 1e9,
        run.rates_at(run.times_ns, below_bps=host_bps) * RATE / link_bps,
        flows["base_rtt_ns"][:, None] / 1e6 + run.lengths[place] * 8e3 / link_bps,
        flows["acked_bytes"] * 8 * frame / payload / (run.end_ns / 1e9) * (RATE / link_bps),
        lost / max(1, lost + passed),
        run.timeouts,
    )


def draw_over_time(
    runs: Mapping[str, Flows], end_s: float, link: float = RATE, unit: str = "of 40"
) -> Drawing:
    """Combined pacing rates up to an instant, and the first flow's RTT, by name. One that does not pace has
    no curve of its rate. ``link`` is the link's rate in the figure's unit."""
    rates, rtts = [], []
    for name, look in styles(runs).items():
        run = runs[name]
        if run.rates.any():
            together = run.combined * link / RATE
            rates.append(curve(run.times_s, together, name, look, thin=True, until=end_s))
        rtts.append(curve(run.times_s, run.rtts_ms[0], name, look, thin=True, until=end_s))
    rate = labels("time (s)", f"rate ({unit})", xlim=(0, end_s), ylim=(0, 2 * link))
    all_panels = (
        Panel("pacing rates together (dashed: the link)", rates, rate, [(link, None, LEVEL)]),
        Panel("RTT", rtts, labels("time (s)", "RTT (ms)", xlim=(0, end_s))),
    )
    return Drawing(all_panels, height=2.8, legend=1)

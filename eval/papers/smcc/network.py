# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated scenarios of the paper: links, trees, buffers, entries, flows (Jiang 2015, sec. 5.2, 5.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ns3_env.scenario import CongestionPoints, Record, Scenario, Switch
from ns3_env.scenario.record import Measurement
from ns3_env.scenario.topology import Dumbbell, Graph, GraphLink, Topology
from ns3_env.scenario.traffic import ConstantRate, FlowList, Mix
from ns3_env.scenario.traffic.listed import Flow

RATE_BPS, TARGET_BYTES, BUFFER_BYTES = 1e9, 64e3, 128_000
#: The paper looks each millisecond; its exact curves are ours, ten times as fine.
SAMPLE_NS, FINE_NS = 1_000_000, 100_000
#: p = 0.01 of packets of 1 kB, evenly, with the standard's jitter.
SAMPLE_BYTES = 100e3
SECOND = 1_000_000_000
#: Fig. 13: source i's flow goes to receiver i.
SOURCES = 3
DUMBBELL = Dumbbell(senders=SOURCES, receivers=SOURCES, rate_bps=RATE_BPS)
#: (node, port) of the first switch's port to the second.
BOTTLENECK = (2 * SOURCES, SOURCES)
#: M computers at each of N ToRs; the leftmost one receives.
COMPUTERS, TORS = 4, 4
SENDERS = range(1, COMPUTERS * TORS)
#: (node, port) of the receiver's ToR to the receiver.
TO_RECEIVER = (COMPUTERS * TORS, 0)
#: Rate between ToRs and fabric, of a computer's link: that of all senders of the paper's 16 Gb/s.
_UPLINKS = 16
#: Sizes of sec. 5.5, read as bits: 10 kb and 500 Mb.
LEAST_BYTES, MOST_BYTES = 1_250, 62_500_000


@dataclass(frozen=True)
class Entry:
    """A controller as an experiment plays it.

    Attributes:
        controller: its name.
        attributes: that differ from its defaults.
        points: of the switches; none: as the controller declares.
    """

    controller: str
    attributes: Mapping[str, bool | float | str] = field(default_factory=dict)
    points: Mapping[str, Any] | None = None


def qcn(cycle_bytes: float = 150e3, latest: bool = True) -> Entry:
    """QCN as the paper has it: a byte counter alone (no timer, no hyper increase), p = 0.01, R the rate
    just before the ``latest`` feedback (sec. 2.2); false: before the first after an increase, as the standard
    has it."""
    points = {"sample_bytes": SAMPLE_BYTES, "adaptive_sampling": False}
    return Entry("qcn", {"ByteReset": cycle_bytes, "TimeReset": "0ns", "LatestTarget": latest}, points)


def smcc(large: float = 256, delta: float = 64, small: float | None = None) -> Entry:
    """SMCC by R_large, R_b and R_small, Mb/s at 1 Gb/s; one stage without the last."""
    shares = (large, large if small is None else small, delta)
    names = ("LargeStep", "SmallStep", "DeltaStep")
    return Entry("smcc", {name: share / 1e3 for name, share in zip(names, shares, strict=True)})


#: Entries of sec. 5.2 and 5.4, by the names in tables and figures.
QCN, QCN_SHORT, BCN, SMCC = "QCN", "QCN, T = 30 kB", "BCN", "SMCC"
TWO_STAGES, STANDARD = "SMCC, two stages", "QCN, standard"
ENTRIES: Mapping[str, Entry] = {
    QCN: qcn(),
    QCN_SHORT: qcn(30e3),
    STANDARD: Entry("qcn"),
    BCN: Entry("bcn"),
    SMCC: smcc(),
    TWO_STAGES: smcc(256, 64, 128),
}


def background(
    src: int, dst: int, rate_bps: float, start_ns: int, stop_ns: int | None = None
) -> ConstantRate:
    """A stream that nobody controls."""
    return ConstantRate(src=src, dst=dst, rate_bps=rate_bps, start_ns=start_ns, stop_ns=stop_ns)


def scenario(
    entry: Entry,
    end_ns: int,
    flows: Sequence[tuple[int, int]],
    streams: Sequence[ConstantRate] = (),
    *,
    topology: Topology = DUMBBELL,
    measured_ns: tuple[int, int] | None = None,
) -> Scenario:
    """Endless flows from line rate on, and streams beside them.

    Args:
        entry: plays the flows.
        end_ns: of the episode.
        flows: (source, receiver) of each.
        streams: of :func:`background`.
        topology: of links of 1 Gb/s.
        measured_ns: begin and end of the time in which the use of links counts.
    """
    endless = FlowList(flows=[Flow(src=src, dst=dst, size_bytes="endless") for src, dst in flows])
    return Scenario(
        time_limit_ns=end_ns,
        topology=topology,
        traffic=Mix(parts=[endless, *streams]),
        switch=switch(entry, BUFFER_BYTES),
        record=Record(queue_series_ns=FINE_NS, windows=True),
        measurement=Measurement(warm_up_ns=measured_ns[0], end_ns=measured_ns[1]) if measured_ns else None,
    ).under(entry.controller, entry.attributes)


def switch(entry: Entry, buffer_bytes: int | None) -> Switch:
    """A switch that never pauses: NetFPGA's reference switch drops what it has no room for."""
    if entry.points is None:  # as the controller declares
        return Switch(buffer_bytes=buffer_bytes, pfc=False)
    points = CongestionPoints.model_validate(entry.points)
    return Switch(buffer_bytes=buffer_bytes, pfc=False, congestion_points=points)


def side_by_side(count: int) -> list[tuple[int, int]]:
    """Flows of the dumbbell's first sources."""
    return [(i, SOURCES + i) for i in range(count)]


def shorter(scale: float, seconds: float) -> int:
    """A time of the paper at a scale, ns: 60 ms at least, so that something is to be seen."""
    return max(round(0.03 * seconds * SECOND), round(min(scale, 1.0) * seconds * SECOND))


def incast(entry: Entry, flows: FlowList, end_ns: int) -> Scenario:
    """Flows of :func:`endless` or :func:`mixed` to the tree's leftmost computer, under buffers that are never
    full, until ``end_ns`` at the latest."""
    return Scenario(
        time_limit_ns=end_ns,
        topology=topology(),
        traffic=flows,
        switch=switch(entry, None),
        record=Record(queue_series_ns=FINE_NS, windows=True),
    ).under(entry.controller, entry.attributes)


def topology() -> Graph:
    """Links of 1 µs; the receiver's ToR is the only bottleneck."""
    hosts, fabric = COMPUTERS * TORS, COMPUTERS * TORS + TORS
    pairs = [(i, hosts + i // COMPUTERS, RATE_BPS) for i in range(hosts)]
    pairs += [(hosts + i, fabric, _UPLINKS * RATE_BPS) for i in range(TORS)]
    links = [GraphLink(a=a, b=b, rate_bps=rate, delay_ns=1000) for a, b, rate in pairs]
    return Graph(nodes=["host" if i < hosts else "switch" for i in range(fabric + 1)], links=links)


def endless() -> FlowList:
    """Long-lived flows, all at once."""
    return FlowList(flows=[Flow(src=i, dst=0, size_bytes="endless") for i in SENDERS])


def mixed(seed: int, scale: float = 1.0) -> FlowList:
    """Flows of sizes uniform between the paper's two, times ``scale``, all at once."""
    random = np.random.default_rng(seed)
    sizes = random.integers(LEAST_BYTES, round(max(2 * LEAST_BYTES, scale * MOST_BYTES)), len(SENDERS))
    return FlowList(
        flows=[Flow(src=i, dst=0, size_bytes=int(size)) for i, size in zip(SENDERS, sizes, strict=True)]
    )

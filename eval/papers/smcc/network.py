# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated scenarios of the paper: links, trees, buffers, entries, flows (Jiang 2015, sec. 5.2, 5.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ns3_env.scenario import Record, Scenario, Switch
from ns3_env.scenario.record import Measurement
from ns3_env.scenario.topology import Dumbbell, LeafSpine, Topology
from ns3_env.scenario.traffic import ConstantRate, FlowList, Mix, Traffic
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
#: M computers at each of N ToRs; the leftmost one receives, and its ToR is the only bottleneck: uplinks carry
#: all senders of the paper's 16 Gb/s.
COMPUTERS, TORS = 4, 4
TREE = LeafSpine(leaves=TORS, spines=1, hosts_per_leaf=COMPUTERS, rate_bps=RATE_BPS, uplink_bps=16 * RATE_BPS)
SENDERS = range(1, COMPUTERS * TORS)
#: (node, port) of the receiver's ToR to the receiver.
TO_RECEIVER = (COMPUTERS * TORS, 0)
#: Sizes of sec. 5.5, read as bits: 10 kb and 500 Mb.
LEAST_BYTES, MOST_BYTES = 1_250, 62_500_000


@dataclass(frozen=True)
class Entry:
    """A controller as an experiment runs it.

    Attributes:
        controller: name of the controller.
        attributes: attributes that differ from its defaults.
        points: congestion points of the switches; "auto": as the controller declares.
    """

    controller: str
    attributes: Mapping[str, bool | float | str] = field(default_factory=dict)
    points: Mapping[str, Any] | str = "auto"


def qcn(cycle_bytes: float = 150e3, latest: bool = True) -> Entry:
    """QCN as in the paper: only a byte counter (no timer, no hyper increase), p = 0.01, R the rate
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


def scenario(
    entry: Entry,
    end_ns: int,
    traffic: Traffic,
    *,
    topology: Topology = DUMBBELL,
    buffer_bytes: int | None = BUFFER_BYTES,
    measured_ns: tuple[int, int] | None = None,
) -> Scenario:
    """One run, from line rate on.

    Args:
        entry: controller of the flows.
        end_ns: latest end of the episode.
        traffic: traffic made by :func:`endless` or :func:`mixed`.
        topology: topology with links of 1 Gb/s.
        buffer_bytes: buffer of a switch, which never pauses: NetFPGA's reference switch drops packets that do
            not fit; None: never full.
        measured_ns: start and end of the interval in which the use of links counts.
    """
    switch = {"buffer_bytes": buffer_bytes, "pfc": False, "congestion_points": entry.points}
    return Scenario(
        time_limit_ns=end_ns,
        topology=topology,
        traffic=traffic,
        switch=Switch.model_validate(switch),
        record=Record(queue_series_ns=FINE_NS, windows=True),
        measurement=Measurement(warm_up_ns=measured_ns[0], end_ns=measured_ns[1]) if measured_ns else None,
    ).under(entry.controller, entry.attributes)


def endless(pairs: Iterable[tuple[int, int]], *streams: ConstantRate) -> Mix:
    """Long-lived flows, all at once, (source, receiver) each, and uncontrolled streams."""
    flows = [Flow(src=src, dst=dst, size_bytes="endless") for src, dst in pairs]
    return Mix(parts=[FlowList(flows=flows), *streams])


def side_by_side(count: int) -> list[tuple[int, int]]:
    """Flows of the dumbbell's first sources."""
    return [(i, SOURCES + i) for i in range(count)]


def stream(src: int, dst: int, mbps: float, start_ns: int, stop_ns: int | None = None) -> ConstantRate:
    """An uncontrolled stream."""
    return ConstantRate(src=src, dst=dst, rate_bps=mbps * 1e6, start_ns=start_ns, stop_ns=stop_ns, phase_ns=0)


def mixed(seed: int, scale: float = 1.0) -> FlowList:
    """Flows to the leftmost computer, of sizes uniform between the paper's two, times ``scale``, all at
    once."""
    random = np.random.default_rng(seed)
    sizes = random.integers(LEAST_BYTES, round(max(2 * LEAST_BYTES, scale * MOST_BYTES)), len(SENDERS))
    pairs = zip(SENDERS, sizes.tolist(), strict=True)
    return FlowList(flows=[Flow(src=i, dst=0, size_bytes=size) for i, size in pairs])


def shorter(scale: float, seconds: float) -> int:
    """A time of the paper at a scale, ns: at least 60 ms, so that curves show something."""
    return max(round(0.03 * seconds * SECOND), round(min(scale, 1.0) * seconds * SECOND))

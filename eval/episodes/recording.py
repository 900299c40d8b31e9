# SPDX-License-Identifier: GPL-2.0-or-later
"""Series that a scenario records, by its estimated duration, and flows' estimated sizes."""

from __future__ import annotations

from collections import Counter

from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import ENDLESS_BYTES, Flows

#: Windows and rates change with each ACK: with more packets than these they are not recorded.
_MAX_PACKETS = 400_000
#: Samples of all queue series together, and of one.
_SAMPLES, _PORT_SAMPLES = 2_000_000, (500, 5000)


def recorded(scenario: Scenario, film: bool = False) -> Scenario:
    """The scenario with queue series, and with windows and rates where they are not too many.

    Samples are as far apart as the scenario says; where it says nothing, so that its estimated duration
    gives each port 500 to 5000. With ``film``, ports and flows are sampled as often for a film.
    """
    flows = scenario.flows()
    network = scenario.topology.build()
    ports = 2 * len(network.links)
    low, high = _PORT_SAMPLES
    samples = min(max(_SAMPLES // ports, low), high)
    interval = scenario.record.queue_series_ns or max(
        100, round(duration_ns(scenario, network, flows) / samples)
    )
    packets = sum(size / scenario.packet_payload_bytes for size in sizes_of(scenario, network, flows))
    record = Record(
        queue_series_ns=interval,
        film_ns=interval if film else 0,
        windows=packets <= _MAX_PACKETS,
        reordering=scenario.record.reordering,
    )
    return scenario.model_copy(update={"record": record})


def duration_ns(scenario: Scenario, network: Network, flows: Flows) -> float:
    """A guess: the last start, and the time that the busiest receiver's link needs for its bytes."""
    into: Counter[int] = Counter()
    ending: Counter[int] = Counter()
    for dst, size in zip(flows.dst, flows.size_bytes, strict=True):
        into[dst] += size
        ending[dst] += size != ENDLESS_BYTES
    if not any(ending.values()):
        return float(scenario.time_limit_ns)
    all_flows = Counter(flows.dst)  # an endless one takes its share of the link
    busiest = max(
        size * all_flows[dst] / ending[dst] * 8e9 / network.access[dst].rate_bps
        for dst, size in into.items()
        if ending[dst]
    )
    return min(max(flows.start_ns) + 1.2 * busiest, float(scenario.time_limit_ns))


def sizes_of(scenario: Scenario, network: Network, flows: Flows) -> list[float]:
    """Bytes of each flow; a guess of an endless one: its share of the receiver's link until the end."""
    if ENDLESS_BYTES not in flows.size_bytes:
        return [float(size) for size in flows.size_bytes]
    end = duration_ns(scenario, network, flows)
    sharing = Counter(flows.dst)
    return [
        max(end - start, 0.0) * network.access[dst].rate_bps / 8e9 / sharing[dst]
        if size == ENDLESS_BYTES
        else float(size)
        for size, start, dst in zip(flows.size_bytes, flows.start_ns, flows.dst, strict=True)
    ]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Series that a scenario records, by its estimated duration, and those that it has recorded as CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ns3_env.eval.output.table import csv_text
from ns3_env.scenario import Record, Scenario
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic import ENDLESS_BYTES, Flows

#: Windows and rates change with each ACK: with more packets than these they are not recorded.
_MAX_PACKETS = 400_000
#: Samples of all queue series together, and of one.
_SAMPLES, _PORT_SAMPLES = 2_000_000, (500, 5000)


def recorded(scenario: Scenario, film: bool = False) -> Scenario:
    """The scenario with queue series, and with windows and rates if there are not too many.

    The scenario can specify the sampling interval; by default, each port gets 500 to 5000 samples in the
    estimated duration. With ``film``, ports and flows are sampled equally often for a film.
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
    all_flows = Counter(flows.dst)  # an endless flow uses its share of the link
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


#: Columns of each series; times are ns, lengths bytes, rates bit/s.
COLUMNS: dict[str, tuple[str, ...]] = {
    "windows": ("t_ns", "flow", "window_bytes", "rate_bps"),
    "queue_series": ("t_ns", "node", "port", "bytes"),
    "marks": ("t_ns", "flow"),
    "pauses": ("t_ns", "node", "port", "paused"),
    "controller_state": ("time_ns", "flow", "name", "value"),
    "controller_counters": ("time_ns", "flow", "name", "value"),
}
#: Files that a folder with series may contain.
FILES = tuple(f"{name}.csv" for name in COLUMNS)


def recorded_series(results: Mapping[str, Any]) -> dict[str, Sequence[Sequence[Any]]]:
    """Rows of ``COLUMNS``, series by series; those that the scenario did not record are left out.

    ``windows``: each change of a flow's window or rate. ``queue_series``: every switch port that sent, at a
    fixed interval. ``marks``: each data packet that a switch marked. ``pauses``: a port paused by its peer
    (1) or let go (0). ``controller_state``, ``controller_counters``: each change of what a flow's controller
    declares.
    """
    series = {name: results[name] for name in COLUMNS if name in results}
    queues = [port for port in results["queues"] if "series" in port]
    if queues:
        series["queue_series"] = [
            (time, port["node"], port["port"], length)
            for port in queues
            for time, length in zip(port["series"]["t_ns"], port["series"]["bytes"], strict=True)
        ]
    return {name: series[name] for name in COLUMNS if name in series}


def series_files(results: Mapping[str, Any]) -> dict[str, str]:
    """The CSV file of each recorded series, by its name."""
    return {f"{name}.csv": csv_text(COLUMNS[name], rows) for name, rows in recorded_series(results).items()}

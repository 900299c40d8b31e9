# SPDX-License-Identifier: GPL-2.0-or-later
"""Content of a film's page: the network, its flows, each controller's run, as arrays for a page."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.eval.film.layout import places
from ns3_env.eval.film.recording import Array, Recording
from ns3_env.scenario import Scenario
from ns3_env.scenario.paths import link_rate_rows
from ns3_env.scenario.topology import Network

#: (node, peer) to a port's place in the page.
PortIndex = Mapping[tuple[int, int], int]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ports:
    """Ports over time, each array with a row per port: (p, n).

    Attributes:
        queue: bytes at the sample; of several samples in a bin the longest.
        sent: bytes since the sample before.
        paused: ns since the sample before.
    """

    queue: Array
    sent: Array
    paused: Array


@dataclass(frozen=True)
class FlowSeries:
    """Samples of flows while they are active, flow by flow.

    Attributes:
        first: (f,) index of each flow's first sample.
        offset: (f + 1,) index of each flow's first value in the arrays below.
        acked: bytes acknowledged since the previous sample.
        inflight: bytes sent and not acknowledged.
        window: window, bytes; infinite: none.
        rate: rate that the controller allows, bit/s; infinite: any.
        rtt: last RTT, ns; NaN: unknown.
    """

    first: Array
    offset: Array
    acked: Array
    inflight: Array
    window: Array
    rate: Array
    rtt: Array


def bins(samples: int, factor: int) -> int:
    """Samples that remain if ``factor`` of them become one; the first and the last stay."""
    return 1 + math.ceil((samples - 1) / factor)


def rates_over_time(schedule: Mapping[str, Any], t_ns: Array, factor: int) -> Floats:
    """Mean rate (bit/s) of a link over each bin, of its schedule as the simulator has it."""
    at, rates = np.array(schedule["at_ns"], np.float64), np.array(schedule["rate_bps"], np.float64)
    period = float(schedule["period_ns"])
    whole = period if period > 0 else max(float(t_ns[-1]), at[-1]) + 1
    edges = np.append(at, whole)
    sums = np.append(0.0, np.cumsum(rates * np.diff(edges)))
    times = np.append(t_ns[:-1:factor], t_ns[-1])
    rounds, rest = np.divmod(times, whole)
    sent = rounds * sums[-1] + np.interp(rest, edges, sums)
    means = np.diff(sent) / np.maximum(np.diff(times), 1.0)
    return np.append(rates[0], means)


def _bin(sample: Array, factor: int) -> Array:
    """The bin that a sample is in: it reaches back from its time over ``factor`` intervals."""
    whole = sample.astype(np.int64)
    return -(-whole // factor)


def ports_over_time(recording: Recording, places: PortIndex, factor: int) -> Ports:
    """Every port's samples, ``factor`` of them in one bin."""
    n = len(recording.t_ns)
    sample, port, queue, sent, paused = recording.port_rows.astype(np.int64).T
    shape = len(places), bins(n, factor)
    at = np.array([places[int(node), int(peer)] for node, _, peer, _ in recording.ports], np.int64)
    row, column = at[port], _bin(sample, factor)
    ports = Ports(*(np.zeros(shape, np.uint32) for _ in range(3)))
    np.add.at(ports.sent, (row, column), sent)
    np.add.at(ports.paused, (row, column), paused)
    np.maximum.at(ports.queue, (row, column), queue)
    _hold(ports.queue, recording, at, factor)
    return ports


def _hold(queue: Array, recording: Recording, at: Array, factor: int) -> None:
    """Fills in unchanged queues: bins without a row, and the queue at the start of a bin."""
    sample, port, length = recording.port_rows.astype(np.int64)[:, :3].T
    order = np.lexsort((sample, port))
    sample, port, length = sample[order], port[order], length[order]
    same = np.append(port[1:] == port[:-1], False)
    until = np.where(same, np.append(sample[1:], 0), len(recording.t_ns))
    long = (length > 0) & (until - sample > 1)
    first, last = _bin(sample[long], factor), _bin(until[long] - 1, factor)
    for of, begin, end, queue_bytes in zip(
        at[port[long]], first, last, length[long].astype(np.uint32), strict=True
    ):
        np.maximum(queue[of, begin : end + 1], queue_bytes, out=queue[of, begin : end + 1])


def flows_over_time(recording: Recording, factor: int) -> FlowSeries:
    """Every flow's samples, the last of each bin; and one more at a flow's end."""
    rows = recording.flow_rows
    rows = rows[np.lexsort((rows[:, 0], rows[:, 1]))]
    begins = np.searchsorted(rows[:, 1], np.arange(len(recording.flows) + 1))
    first, parts = [], []
    for flow, facts in enumerate(recording.flows):
        mine = rows[begins[flow] : begins[flow + 1]]
        at, values = _one_flow(mine, facts, recording.t_ns, factor)
        first.append(at)
        parts.append(values)
    offset = np.cumsum([0, *(len(part) for part in parts)])
    table = np.concatenate(parts) if parts else np.zeros((0, 5))
    acked, inflight, window, rate, rtt = table.T
    return FlowSeries(
        first=np.array(first, np.uint32),
        offset=offset.astype(np.uint32),
        acked=acked.astype(np.uint32),
        inflight=inflight.astype(np.uint32),
        window=window.astype(np.float32),
        rate=rate.astype(np.float32),
        rtt=rtt.astype(np.float32),
    )


def _one_flow(rows: Array, facts: Array, t_ns: Array, factor: int) -> tuple[int, Floats]:
    """Its first bin, and (n, 5): acked since, in flight, window, rate, RTT."""
    start, end, acked_at_end = facts[3], facts[4], facts[6]
    if len(rows) == 0 and end < 0:
        return 0, np.zeros((0, 5))
    sample, _, acked, sent, window, rate, measured = rows.T
    rtt = np.where(measured >= 0, measured, _rtts(t_ns[sample.astype(np.int64)], sent, acked, start))
    column = _bin(sample, factor)
    last = np.append(column[1:] != column[:-1], True) if len(rows) else np.zeros(0, bool)
    table = np.column_stack((acked, sent - acked, window, rate, rtt))[last]
    column = column[last]
    if end >= 0:  # bytes acknowledged after the last sample
        ending = int(_bin(np.searchsorted(t_ns, [end]), factor)[0])
        closing = [acked_at_end, 0.0, *(table[-1, 2:] if len(table) else (np.inf, np.inf, np.nan))]
        if len(column) and column[-1] == ending:
            table[-1, :2] = closing[:2]
        else:
            table = np.vstack((table, closing))
            column = np.append(column, ending)
    table[:, 0] = np.diff(table[:, 0], prepend=0.0)
    return int(column[0]), table


def _rtts(t_ns: Array, sent: Array, acked: Array, start: float) -> Floats:
    """Returns the age at each sample of the byte that it acknowledges: NaN before the first one.

    Between two samples a flow is assumed to send evenly.
    """
    times, bytes_sent = np.append(start, t_ns), np.maximum.accumulate(np.append(0.0, sent))
    changes = np.append(True, np.diff(bytes_sent) > 0)
    again = np.append(changes[1:], False) & ~changes  # the last sample before it sends on
    use = changes | again
    level = bytes_sent[use] + 0.5 * again[use]
    sent_ns = np.interp(acked, level, times[use])
    return np.where(acked > 0, t_ns - sent_ns, np.nan)


#: The page's script's name of a type.
_KINDS = {"<u4": "u32", "<f4": "f32", "<f8": "f64", "|u1": "u8"}


def pack(array: npt.NDArray[Any]) -> dict[str, str | int]:
    """{"kind": type, "count": numbers, "data": text}; page/unpack.js reads it.

    The lowest bytes of all numbers come first, then the next ones: small numbers deflate to little.
    """
    kind = array.dtype.newbyteorder("<") if array.dtype.itemsize > 1 else array.dtype
    flat = np.ascontiguousarray(array.astype(kind)).reshape(-1)
    planes = flat.view(np.uint8).reshape(-1, kind.itemsize).T.tobytes()
    text = base64.b64encode(zlib.compress(planes, 6)).decode()
    return {"kind": _KINDS[kind.str], "count": len(flat), "data": text}


#: Maximum bytes of a page's data, over all runs.
ROOM = 12 << 20
#: Flows of the table that differ between runs of one seed: none.
_SHARED = ("src", "dst", "size", "start")


def content(scenario: Scenario, runs: Mapping[str, Recording], title: str) -> dict[str, Any]:
    """Returns the content of runs of one scenario and seed, in the form of JSON; ``runs``: by controller.

    If a page would exceed ``ROOM``, neighbouring samples are merged, 2, 4, 8 ... into one.
    """
    network = scenario.topology.build()
    common = _common(scenario, network, next(iter(runs.values())), title)
    seed, limit_ns = scenario.seed, scenario.time_limit_ns
    schedules = link_rate_rows(scenario.link_rates, network, seed, limit_ns)
    factor = 1
    while True:
        films = [_run(*run, network, schedules, factor) for run in runs.items()]
        page = {**common, "factor": factor, "runs": films}
        if _size(page) <= ROOM or all(bins(len(run.t_ns), factor) < 64 for run in runs.values()):
            return page
        factor *= 2


def _common(scenario: Scenario, network: Network, run: Recording, title: str) -> dict[str, Any]:
    outages = []
    if scenario.failures is not None:
        outages = scenario.failures.content(network, scenario.seed, scenario.time_limit_ns)["outages"]
    return {
        "title": title,
        "seed": scenario.seed,
        "topology": scenario.topology.kind,
        "transport": scenario.transport,
        "interval": scenario.record.film_ns,
        "nodes": [
            {"name": f"{network.nodes[node][0]}{node}", "kind": kind, "x": round(x, 3), "y": round(y, 3)}
            for node, (kind, (x, y)) in enumerate(zip(network.simulator_kinds, places(network), strict=True))
        ],
        "links": [[link.a, link.b, link.rate_bps, link.delay_ns] for link in network.links],
        "outages": outages,
        "flows": {
            name: pack(run.flows[:, column].astype(np.float64 if name in ("size", "start") else np.uint32))
            for column, name in enumerate(_SHARED)
        },
    }


def _run(
    name: str, recording: Recording, network: Network, schedules: Sequence[Mapping[str, Any]], factor: int
) -> dict[str, Any]:
    """One controller's; ports are numbered as links: 2 i from its a to its b, 2 i + 1 back."""
    index = {
        ends: 2 * i + back
        for i, link in enumerate(network.links)
        for back, ends in enumerate(((link.a, link.b), (link.b, link.a)))
    }
    return {
        "name": name,
        "end": float(recording.t_ns[-1]),
        "samples": bins(len(recording.t_ns), factor),
        **_ports(ports_over_time(recording, index, factor)),
        **_losses(recording, index, factor),
        **_changing(recording, index, schedules, factor),
        **_flows(recording, index, flows_over_time(recording, factor)),
    }


def _ports(ports: Ports) -> dict[str, Any]:
    where = np.flatnonzero(ports.paused)
    return {
        "queue": pack(ports.queue),
        "sent": pack(ports.sent),
        "pausedAt": pack(where.astype(np.uint32)),
        "paused": pack(ports.paused.reshape(-1)[where]),
    }


def _changing(
    recording: Recording,
    index: Mapping[tuple[int, int], int],
    schedules: Sequence[Mapping[str, Any]],
    factor: int,
) -> dict[str, Any]:
    """Ports whose rate changes, and the rate of each over time."""
    ports = [index[row["from"], row["to"]] for row in schedules]
    rates = [rates_over_time(row, recording.t_ns, factor) for row in schedules]
    return {
        "changing": pack(np.array(ports, np.uint32)),
        "capacity": pack(np.concatenate([*rates, []]).astype(np.float32)),
    }


def _losses(recording: Recording, index: Mapping[tuple[int, int], int], factor: int) -> dict[str, Any]:
    peers = {(int(node), int(port)): int(peer) for node, port, peer, _ in recording.ports}
    sample, node, port, packets, cause = recording.losses.T
    of = [index[n, peers[n, p]] for n, p in zip(node.tolist(), port.tolist(), strict=True)]
    columns = {"lossAt": -(-sample // factor), "lossPort": np.array(of), "lost": packets, "lossCause": cause}
    return {name: pack(column.astype(np.uint32)) for name, column in columns.items()}


def _flows(recording: Recording, index: Mapping[tuple[int, int], int], series: FlowSeries) -> dict[str, Any]:
    peers = {(int(node), int(port)): int(peer) for node, port, peer, _ in recording.ports}
    hops = recording.hops[np.argsort(recording.hops[:, 0], kind="stable")]
    way = [index[node, peers[node, port]] for _, node, port in hops.tolist()]
    begins = np.searchsorted(hops[:, 0], np.arange(len(recording.flows) + 1))
    arrays = {
        "flowEnd": recording.flows[:, 4],
        "baseRtt": recording.flows[:, 5],
        "way": np.array(way, np.uint32),
        "wayOffset": begins.astype(np.uint32),
        "flowFirst": series.first,
        "flowOffset": series.offset,
        "acked": series.acked,
        "inflight": series.inflight,
        "window": series.window,
        "rate": series.rate,
        "rtt": series.rtt,
    }
    return {name: pack(array) for name, array in arrays.items()}


def _size(page: Mapping[str, Any]) -> int:
    """Bytes of the packed arrays."""
    packed = [*page["flows"].values(), *(x for run in page["runs"] for x in run.values())]
    return sum(len(x["data"]) for x in packed if isinstance(x, dict))

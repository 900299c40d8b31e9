# SPDX-License-Identifier: GPL-2.0-or-later
"""Content of a film's page: the network, its flows, each controller's run, as packed arrays."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.eval.film.bins import (
    FlowSeries,
    Ports,
    bins,
    flows_over_time,
    ports_over_time,
    rates_over_time,
)
from ns3_env.eval.film.layout import places
from ns3_env.eval.film.recording import Recording
from ns3_env.scenario import Scenario
from ns3_env.scenario.paths import link_rate_rows
from ns3_env.scenario.topology import Network

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

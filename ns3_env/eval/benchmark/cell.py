# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell of a benchmark: a scenario under a controller with a seed, played and written down."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ns3_env.config.files import write_file
from ns3_env.config.folders import replace_folder
from ns3_env.eval.benchmark.folder import FORMAT, Key, cell_folder
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.episodes.recording import duration_ns, recorded, sizes_of
from ns3_env.eval.episodes.results import write_results
from ns3_env.eval.metrics import load_metrics, measure, without_nan
from ns3_env.eval.metrics.convergence import allowed_bps
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.plots.table import csv_text
from ns3_env.scenario import Scenario
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results, bottleneck, endless

#: Columns of flows.csv beside those of ``eval run``.
MORE_FLOW_COLUMNS = ("end_ns", "acked_bytes", "retransmitted_bytes", "pause_ns", "timeouts")
#: Files of a cell's folder; losses.csv where packets were lost, streams.csv where there is background.
CELL_FILES = (
    "metrics.json",
    "config.yaml",
    "flows.csv",
    "streams.csv",
    "queues.csv",
    "losses.csv",
    "queue_cdf.csv",
    "series.csv",
)

#: series.csv: most rows of one id, ports (the longest queues) and flows (the largest).
_ROWS, _PORTS, _FLOWS = 2000, 4, 32


@dataclass(frozen=True)
class Job:
    """A cell to be played.

    Attributes:
        out: the benchmark's folder.
        name: of the scenario.
        scenario: with the seed set.
        entry: the controller.
        seed: the seed.
        series: whether series.csv is written.
        fingerprint: of the cell.
        versions: go into config.yaml.
        metrics: of one's own, ``pkg.module:name``.
    """

    out: Path
    name: str
    scenario: Scenario
    entry: Entry
    seed: int
    series: bool
    fingerprint: str
    versions: dict[str, str]
    metrics: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """(scenario, controller, seed)."""
        return self.name, self.entry.name, self.seed


class RemoteJob(Protocol):
    """A job on another machine, where the files that it reads have other paths."""

    entry: Entry
    scenario: Scenario

    def localise(self, played: Scenario) -> Scenario:
        """The scenario that was played, with the paths that the job's files have at home."""
        ...


def run(job: Job, simulator: Simulator) -> float:
    """Plays a cell and writes its folder, complete or not at all.

    Returns:
        Wall seconds.

    Raises: see ``play``.
    """
    seconds, write = play(job, simulator)
    replace_folder(cell_folder(job.out, *job.key), write)
    return seconds


def play(
    job: Job, simulator: Simulator, remote: RemoteJob | None = None
) -> tuple[float, Callable[[Path], None]]:
    """Plays a cell.

    Returns:
        Wall seconds, and what writes the cell's files into a folder.

    Raises:
        ScenarioError: the simulator refuses the scenario, or there is no such policy.
        SimulatorError: the simulator died or hung; the next cell starts another one.
    """
    began = time.monotonic()
    load_metrics(job.metrics)
    given = job if remote is None else remote
    scenario, results = played_by(given.entry, given.scenario, simulator, recorded)
    if remote is not None:
        scenario = remote.localise(scenario)
    metrics = measure(results)
    seconds = time.monotonic() - began

    def write(folder: Path) -> None:
        used = {"controller": job.entry.model_dump(mode="json"), "versions": job.versions}
        write_results(folder, scenario, results, MORE_FLOW_COLUMNS, used)
        write_file(folder / "queue_cdf.csv", _queue_cdf_text(results))
        if job.series:
            text = csv_text(("t_ns", "kind", "id", "value"), _series_rows(results))
            write_file(folder / "series.csv", text)
        content = {
            "format": FORMAT,
            "fingerprint": job.fingerprint,
            "seconds": round(seconds, 3),
            "metrics": without_nan(metrics),
        }
        write_file(folder / "metrics.json", json.dumps(content, indent=1, allow_nan=False))

    return seconds, write


def cost(scenario: Scenario, entry: Entry) -> float:
    """How long the cell may take, in units of its own: Σ bytes · hops; a policy in Python asks per decision.

    Only good for the order and the remaining time.
    """
    network = scenario.topology.build()
    neighbours: dict[int, list[int]] = {}
    for link in network.links:
        neighbours.setdefault(link.a, []).append(link.b)
        neighbours.setdefault(link.b, []).append(link.a)
    hops: dict[int, dict[int, int]] = {}  # from each access switch
    flows, work = scenario.flows(), 0.0
    end = duration_ns(scenario, network, flows) if flows.streams else 0.0
    streams = [
        (x.src, x.dst, max(min(end, x.stop_ns or end) - x.start_ns, 0.0) * x.rate_bps / 8e9)
        for x in flows.streams
    ]
    sizes = sizes_of(scenario, network, flows)
    for src, dst, size in [*zip(flows.src, flows.dst, sizes, strict=True), *streams]:
        near, far = network.access_switch(src), network.access_switch(dst)
        if near not in hops:
            hops[near] = _hops(neighbours, near)
        work += size * (2 + hops[near][far])
    inside = entry.controller is not None or (entry.checkpoint is not None and entry.placement == "simulator")
    return work * (1 if inside else 20) + 1e6


def _hops(neighbours: dict[int, list[int]], start: int) -> dict[int, int]:
    found, todo = {start: 0}, deque([start])
    while todo:
        node = todo.popleft()
        for other in neighbours[node]:
            if other not in found:
                found[other] = found[node] + 1
                todo.append(other)
    return found


def _queue_cdf_text(results: Results) -> str:
    port = bottleneck(results)
    if port is None:
        return csv_text(("node", "port", "bytes", "cdf"), [])
    window = results.get("measurement")
    lengths, shares = queue_cdf(port, span_ns=None if window is None else tuple(window["interval_ns"]))
    rows = [
        (port["node"], port["port"], float(length), round(float(share), 6))
        for length, share in zip(lengths, shares, strict=True)
    ]
    return csv_text(("node", "port", "bytes", "cdf"), rows)


def _series_rows(results: Results) -> Iterator[tuple[float, str, str | int, float]]:
    """Rows (t_ns, kind, id, value), id by id, in the order of time.

    Of each run of queue samples the longest is kept. A flow's rate is what its window and its pacing rate
    allow: min(rate, 8 · window / base RTT).
    """
    ports = [port for port in results["queues"] if port.get("series")]
    for port in sorted(ports, key=lambda port: -port["mean_bytes"])[:_PORTS]:
        times, lengths = port["series"]["t_ns"], port["series"]["bytes"]
        run = -(-len(times) // _ROWS)
        for begin in range(0, len(times), run):
            longest = max(range(begin, min(begin + run, len(times))), key=lambda i: lengths[i])
            yield times[longest], "queue", f"{port['node']}:{port['port']}", lengths[longest]
    sizes, goes_on = results["flows"]["size_bytes"], endless(results)
    largest = set(sorted(range(len(sizes)), key=lambda flow: (not goes_on[flow], -sizes[flow]))[:_FLOWS])
    of_flow: dict[int, list[Any]] = {flow: [] for flow in sorted(largest)}
    for row in results.get("windows", ()):
        if row[1] in of_flow:
            of_flow[row[1]].append(row)
    allowed = allowed_bps(results)
    for flow, rows in of_flow.items():
        count = min(len(rows), _ROWS)
        kept = [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, count).round().astype(int))]
        for time_ns, _, window, rate in kept:
            yield time_ns, "rate", flow, allowed(flow, window, rate)
        for time_ns, _, window, _ in kept:
            if window is not None:
                yield time_ns, "window", flow, window

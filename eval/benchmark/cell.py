# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell of a benchmark: a scenario under a controller with a seed, its run and its files."""

from __future__ import annotations

import json
import math
import platform
import time
import traceback
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env.agents.training.checkpoint import resolve
from ns3_env.config.command_line import os_fault
from ns3_env.errors import ConfigError, ScenarioError, SimulatorError
from ns3_env.eval.benchmark.folder import FORMAT, Key, versions_in_use
from ns3_env.eval.episodes.entry import Entry, played_by
from ns3_env.eval.episodes.recording import duration_ns, recorded, sizes_of
from ns3_env.eval.episodes.results import result_files
from ns3_env.eval.film.recording import FILE as FILM
from ns3_env.eval.film.recording import Recording
from ns3_env.eval.metrics import load_metrics, measure, own_metrics, without_nan
from ns3_env.eval.metrics.convergence import allowed_bps
from ns3_env.eval.metrics.queues import queue_cdf
from ns3_env.eval.output.table import csv_text
from ns3_env.scenario import Controller, Scenario
from ns3_env.scenario.scenario import Files, named_files, read_files, renamed, renamed_controller
from ns3_env.simulator import Simulator
from ns3_env.simulator.results import Results, Windows, bottleneck, endless

#: series.csv: most rows of one id, ports (the longest queues) and flows (the largest).
_ROWS, _PORTS, _FLOWS = 2000, 4, 32


@dataclass(frozen=True)
class Played:
    """A cell that is done: its wall time, and the files of its folder by name."""

    seconds: float
    files: Mapping[str, str | bytes]


@dataclass(frozen=True)
class CellJob:
    """A cell to be run.

    Attributes:
        name: name of the scenario.
        scenario: the scenario, with the seed set.
        entry: the controller.
        seed: the seed.
        series: true to write series.csv.
        fingerprint: fingerprint of the cell.
        versions: versions that config.yaml records.
        metrics: the user's metrics, ``pkg.module:name``.
        player: entry that runs instead of ``entry``, with the paths of its files on this machine; None:
            ``entry``.
        film: true to write film.npz.
        home: paths of files at home, by those on this machine; written files name the former. None at home.
    """

    name: str
    scenario: Scenario
    entry: Entry
    seed: int
    series: bool
    fingerprint: str
    versions: Mapping[str, str]
    metrics: tuple[str, ...] = ()
    player: Entry | None = None
    home: Mapping[str, str] | None = None
    film: bool = False

    @property
    def key(self) -> Key:
        """(scenario, controller, seed)."""
        return self.name, self.entry.name, self.seed

    def run(self, simulator: Simulator) -> Played | str:
        """The cell, or the reason why it could not be run."""
        try:
            return self._play(simulator)
        except (ScenarioError, SimulatorError) as error:
            return f"{type(error).__name__}: {error}"
        except OSError as error:
            return os_fault(error)
        except Exception:
            return traceback.format_exc()

    def packed(self) -> tuple[CellJob, Files]:
        """See ``ns3_env.simulator.pool.MobileJob``."""
        player, files = self.entry, dict[str, bytes | Mapping[str, bytes]]()
        if player.checkpoint is not None:
            try:
                path, files = resolve(Path(player.checkpoint)).portable()
            except (OSError, ConfigError) as error:
                raise ScenarioError(f"{player.name}: {error}") from error
            player = player.model_copy(update={"checkpoint": path})
        files |= read_files(named_files([*self.scenario.controllers, *_of_simulator(player)]))
        return replace(self, player=player), files

    def at(self, paths: Mapping[str, str]) -> CellJob:
        """See ``ns3_env.simulator.pool.MobileJob``."""
        player = self.player or self.entry
        update: dict[str, Any] = {}
        for controller in _of_simulator(player):
            update["attributes"] = renamed_controller(controller, paths).attributes
        if player.checkpoint is not None:
            update["checkpoint"] = paths[player.checkpoint]
        home = {here: there for there, here in paths.items()}
        scenario = renamed(self.scenario, paths)
        return replace(self, scenario=scenario, player=player.model_copy(update=update), home=home)

    def _play(self, simulator: Simulator) -> Played:
        start_s = time.monotonic()
        load_metrics(self.metrics)
        if self.home is not None:
            _check_versions(self.versions)
        columns = not own_metrics()  # which are promised lists
        scenario, results = played_by(
            self.player or self.entry,
            self.scenario,
            simulator,
            partial(recorded, film=self.film),
            columns=columns,
        )
        metrics = measure(results)
        seconds = time.monotonic() - start_s
        used = {"controller": self.entry.model_dump(mode="json"), "versions": dict(self.versions)}
        files: dict[str, str | bytes] = {}
        files |= result_files(renamed(scenario, self.home or {}), results, used)
        files["queue_cdf.csv"] = _queue_cdf_text(results)
        if self.series:
            files["series.csv"] = _series_text(results)
        if self.film:
            files[FILM] = Recording.of(results).packed()
        content = {
            "format": FORMAT,
            "fingerprint": self.fingerprint,
            "seconds": round(seconds, 3),
            "metrics": without_nan(metrics),
        }
        files["metrics.json"] = json.dumps(content, indent=1, allow_nan=False)
        return Played(seconds, files)


def _of_simulator(entry: Entry) -> list[Controller]:
    """The entry's controller, if it is one of the simulator."""
    if entry.controller is None:
        return []
    return [Controller(name=entry.controller, attributes=entry.attributes)]


def _check_versions(required: Mapping[str, str]) -> None:
    """Raises ScenarioError if the cell's results would be another version's."""
    here_versions = versions_in_use()
    for name in sorted({*here_versions, *required}):
        if (here := here_versions.get(name, "none")) != (there := required.get(name, "none")):
            raise ScenarioError(
                f"node {platform.node()}: {name} is {here}, but {there} where the command runs: all nodes "
                "need the same versions"
            )


def cost(work: float, entry: Entry) -> float:
    """Estimates the run time of a cell with this much work: a policy in Python asks per decision.

    Only good for the order and the remaining time.
    """
    inside = entry.controller is not None or (entry.checkpoint is not None and entry.placement == "simulator")
    return work * (1 if inside else 20) + 1e6


def work_in(scenario: Scenario) -> float:
    """Σ bytes · hops."""
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
    return work


def _hops(neighbours: dict[int, list[int]], start: int) -> dict[int, int]:
    distances, todo = {start: 0}, deque([start])
    while todo:
        node = todo.popleft()
        for other in neighbours[node]:
            if other not in distances:
                distances[other] = distances[node] + 1
                todo.append(other)
    return distances


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


def _series_text(results: Results) -> str:
    """Rows (t_ns, kind, id, value), id by id, in the order of time.

    Of each run of queue samples the longest is kept. A flow's rate is that which its window and pacing rate
    allow: min(rate, 8 · window / base RTT).
    """
    lines = ["t_ns,kind,id,value"]
    ports = [port for port in results["queues"] if port.get("series")]
    for port in sorted(ports, key=lambda port: -port["mean_bytes"])[:_PORTS]:
        times, lengths = (np.asarray(port["series"][name], dtype=np.float64) for name in ("t_ns", "bytes"))
        indices = _longest(lengths)
        of_port = f",queue,{port['node']}:{port['port']},"
        lines += map(of_port.join, zip(_whole(times[indices]), _whole(lengths[indices]), strict=True))
    sizes, goes_on = results["flows"]["size_bytes"], endless(results)
    largest = sorted(range(len(sizes)), key=lambda flow: (not goes_on[flow], -sizes[flow]))[:_FLOWS]
    windows = Windows.of(results)
    allowed = allowed_bps(results, windows)
    for flow in sorted(largest):
        rows = np.flatnonzero(windows.flow == flow)
        if not len(rows):
            continue
        indices = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _ROWS)).round().astype(int))]
        times_of = _whole(windows.time_ns[indices])
        lines += map(f",rate,{flow},".join, zip(times_of, map(repr, allowed[indices].tolist()), strict=True))
        limits = windows.window[indices].tolist()
        lines += [
            f"{time},window,{flow},{limit!r}"
            for time, limit in zip(times_of, limits, strict=True)
            if limit != math.inf
        ]
    return "\n".join(lines) + "\n"


def _whole(numbers: npt.NDArray[np.float64]) -> list[str]:
    """Returns the numbers as text, without a fraction if they are integers."""
    return [str(int(x)) if x.is_integer() else repr(x) for x in numbers.tolist()]


def _longest(lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Index of the longest of each run of samples, as long as makes ``_ROWS`` runs at most."""
    run = max(1, -(-len(lengths) // _ROWS))
    runs = np.pad(lengths, (0, -len(lengths) % run), constant_values=-1).reshape(-1, run)
    places: npt.NDArray[np.int64] = np.arange(len(runs)) * run + runs.argmax(axis=1)
    return places

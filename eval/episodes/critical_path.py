# SPDX-License-Identifier: GPL-2.0-or-later
"""Critical path of each iteration of a training job: its time by part, and its minimum."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from ns3_env.eval.metrics.goodput import covered_ns
from ns3_env.eval.metrics.job_times import SECTION, groups
from ns3_env.eval.output.table import new_table, print_table
from ns3_env.simulator.results import Floats, Results

FILE = "critical_path.csv"
#: Columns of the file; the row of a complete iteration has an empty part, and is the first.
COLUMNS = ("job", "iteration", "part", "path_ns", "active_ns", "least_ns")

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Part:
    """Computation ("compute") or a collective of an iteration; times in ns.

    Attributes:
        name: name in tasks.csv.
        path_ns: time that it contributes to the critical path.
        active_ns: total time during which any task of the part was in progress.
        least_ns: time that the busiest network card needs for its bytes; for computation, ``path_ns``.
    """

    name: str
    path_ns: float
    active_ns: float
    least_ns: float


@dataclass(frozen=True)
class CriticalPath:
    """The chain of tasks that an iteration waited for, each for the one before that ended last; times in ns.

    Attributes:
        job: name of the job.
        iteration: number of the iteration, from 0.
        duration_ns: time from the first task's start to the last one's end. During the rest, which ``parts``
            do not cover, no rank works: ranks start later, or a wait has a delay.
        least_ns: lower bound of the duration under any controller: the longest chain of tasks if each flow
            had its path to itself, or the time that the busiest card needs for its bytes, whichever is
            larger.
        parts: parts, the one with the longest time on the path first.
    """

    job: str
    iteration: int
    duration_ns: float
    least_ns: float
    parts: tuple[Part, ...]

    @property
    def ideal_share(self) -> float:
        """Share of its time that any controller needs: 1 is as fast as can be."""
        return self.least_ns / self.duration_ns if self.duration_ns else 1.0

    def rows(self) -> Iterator[tuple[str, int, str, float, float, float]]:
        """Rows of ``COLUMNS``."""
        yield self.job, self.iteration, "", self.duration_ns, self.duration_ns, self.least_ns
        for part in self.parts:
            yield self.job, self.iteration, part.name, part.path_ns, part.active_ns, part.least_ns


def critical_paths(content: Mapping[str, Any], results: Results) -> list[CriticalPath]:
    """Critical paths of all iterations that were complete at the end, job by job; none without jobs.

    Args:
        content: the simulator's input (``Scenario.to_simulator_json``).
        results: results of the episode.
    """
    if SECTION not in results or "after" not in content.get("dependencies", {}):
        return []
    graph = _Graph(content, results)
    iterations = groups(graph.job, graph.iteration)
    over = (rows for rows in iterations if graph.job[rows[0]] >= 0 and (graph.end[rows] >= 0).all())
    return [graph.path(rows) for rows in over]


def read_critical_paths(file: Path) -> list[CriticalPath]:
    """Reads the critical_path.csv that a run wrote; empty without such a file."""
    if not file.is_file():
        return []
    paths: list[CriticalPath] = []
    with file.open(encoding="utf-8", newline="") as text:
        for row in csv.DictReader(text):
            path_ns, active_ns, least_ns = (float(row[name]) for name in COLUMNS[3:])
            if not row["part"]:
                paths.append(CriticalPath(row["job"], int(row["iteration"]), path_ns, least_ns, ()))
            else:
                part = Part(row["part"], path_ns, active_ns, least_ns)
                paths[-1] = replace(paths[-1], parts=(*paths[-1].parts, part))
    return paths


def slowest(paths: Sequence[CriticalPath]) -> list[CriticalPath]:
    """The slowest iteration of each job, in the jobs' order."""
    jobs = dict.fromkeys(path.job for path in paths)
    return [max((x for x in paths if x.job == job), key=lambda x: x.duration_ns) for job in jobs]


def in_words(path: CriticalPath) -> str:
    """A sentence on an iteration's time, its minimum, and its largest parts."""
    most = [f"{part.path_ns / path.duration_ns:.0%} {part.name}" for part in path.parts[:3]]
    return (
        f"Iteration {path.iteration}, the slowest: {path.duration_ns / 1e6:,.3f} ms, of which any controller "
        f"needs {path.ideal_share:.0%}; on its critical path {', '.join(most)}."
    )


def show(rows: Mapping[str, Sequence[CriticalPath]], ports: Mapping[str, str], console: Console) -> None:
    """Prints the slowest iteration of each job, by the parts of its time.

    Args:
        rows: critical paths by entry.
        ports: the busiest port, in words, by entry.
        console: console for the table.
    """
    names = list(dict.fromkeys(part.name for paths in rows.values() for x in paths for part in x.parts))
    headings = ("ms", "ideal\nms", *(name.replace(" ", "\n") for name in names), "busiest link")
    table = new_table("slowest iteration of each job: time on its critical path", "", headings, (0, 1, 0, 0))
    for name, paths in rows.items():
        for path in paths:
            shares = {part.name: part.path_ns / path.duration_ns for part in path.parts}
            times = f"{path.duration_ns / 1e6:,.3f}", f"{path.least_ns / 1e6:,.3f}"
            parts = (f"{shares[part]:.0%}" if part in shares else "–" for part in names)
            title = name if len(paths) == 1 else f"{name} {path.job}"
            table.add_row(title, *times, *parts, ports.get(name, "–"))
    print_table(table, console)


def busiest_port(results: Results) -> str:
    """Names the switch port that sent for most of the run, and its share of the time: "33→4 97 %".

    A dash means that no switch sent anything.
    """
    end = float(results["totals"]["end_ns"])
    used = [
        (port["tx_bytes"] * 8e9 / (port["rate_bps"] * end), port["node"], port["peer"])
        for port in results["queues"]
    ]
    if not used or not end:
        return "–"
    share, node, peer = max(used, key=lambda port: port[0])
    return f"{node}→{peer} {share:.0%}"


class _Graph:
    """Tasks of all jobs, flows and then steps, with the predecessors of each."""

    def __init__(self, content: Mapping[str, Any], results: Results) -> None:
        jobs, flows, steps = results[SECTION], results["flows"], results["steps"]
        self.job, self.iteration, self._part = (
            np.asarray(jobs[name], dtype=np.int64) for name in ("job", "iteration", "part")
        )
        self._jobs, self._parts = list(jobs["names"]), list(jobs["parts"])
        self._start = np.concatenate([flows["start_ns"], steps["start_ns"]]).astype(np.float64)
        self.end = np.concatenate([flows["delivered_ns"], steps["end_ns"]]).astype(np.float64)
        self._flows = len(flows["start_ns"])
        waits = content["dependencies"]
        self._after: list[int] = list(waits["after"])
        self._first: list[int] = [0, *np.cumsum(waits["after_count"]).tolist()]
        self._delay = np.asarray(waits["delay_ns"], dtype=np.float64)
        self._delay[self._flows :] = 0  # of a step, its computation
        self._alone = self.end - self._start
        alone = np.asarray(flows["standalone_ns"], dtype=np.float64)
        # Half of the base RTT is at least the path of the last acknowledgement.
        back = np.asarray(flows["base_rtt_ns"], dtype=np.float64) / 2
        self._alone[: self._flows] = np.maximum(alone - back, 0)
        self._ends = np.stack([np.asarray(flows[end], dtype=np.int64) for end in ("src", "dst")])
        self._seconds = _wire_bytes(flows) / _card_rates(content, self._ends)

    def path(self, rows: Rows) -> CriticalPath:
        """The critical path of an iteration, whose tasks these are."""
        inside = set(rows.tolist())
        chain, on_path = int(rows[np.argmax(self.end[rows])]), np.zeros(len(self._parts))
        while True:
            on_path[self._part[chain]] += self.end[chain] - self._start[chain]
            before = [task for task in self._needs(chain) if task in inside]
            if not before:
                break
            chain = max(before, key=self.end.__getitem__)
        parts = [
            self._measure(rows[self._part[rows] == part], on_path) for part in np.unique(self._part[rows])
        ]
        return CriticalPath(
            self._jobs[self.job[rows[0]]],
            int(self.iteration[rows[0]]),
            float(self.end[rows].max() - self._start[rows].min()),
            max(self._longest_chain(rows), self._cards_need(rows)),
            tuple(sorted(parts, key=lambda part: -part.path_ns)),
        )

    def _needs(self, task: int) -> Sequence[int]:
        return self._after[self._first[task] : self._first[task + 1]]

    def _measure(self, rows: Rows, on_path: Floats) -> Part:
        part = int(self._part[rows[0]])
        path = float(on_path[part])
        active = covered_ns(self._start[rows], self.end[rows])
        least = path if rows[0] >= self._flows else self._cards_need(rows)
        return Part(self._parts[part], path, active, least)

    def _longest_chain(self, rows: Rows) -> float:
        """Time of the longest chain of these tasks, each on an idle network, ns."""
        until: dict[int, float] = {}
        # Predecessors ended before, or at the same time with no duration: then they have lower numbers.
        for task in rows[np.lexsort((rows, self._start[rows], self.end[rows]))].tolist():
            before = max((until.get(other, 0.0) for other in self._needs(task)), default=0.0)
            until[task] = before + float(self._delay[task] + self._alone[task])
        return max(until.values())

    def _cards_need(self, rows: Rows) -> float:
        """Time that the busiest card needs to send, or to receive, the flows among these tasks, ns."""
        flows = rows[rows < self._flows]
        if not len(flows):
            return 0.0
        return max(
            float(np.bincount(ends[flows], self._seconds[side][flows]).max()) * 1e9
            for side, ends in enumerate(self._ends)
        )


def _wire_bytes(flows: Mapping[str, Any]) -> Floats:
    """Bytes of each flow's packets with their headers: (n,)."""
    size, payload, header = (
        np.asarray(flows[name], dtype=np.float64) for name in ("size_bytes", "payload_bytes", "header_bytes")
    )
    return size + np.ceil(size / np.maximum(payload, 1)) * header


def _card_rates(content: Mapping[str, Any], ends: Rows) -> Floats:
    """Bytes a second of the cards at both ends of each flow: (2, n)."""
    rates = np.zeros(len(content["nodes"]))
    for link in content["links"]:
        for node in (link["a"], link["b"]):
            rates[node] += link["rate_bps"] / 8
    return rates[ends]

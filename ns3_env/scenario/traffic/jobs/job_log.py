# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of a cluster's log as traffic: data-parallel training steps on the GPUs that each job gets."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env.config.bounds import MAX_FLOWS, MAX_TIME_NS, WHY_FLOWS, Bytes, Nanoseconds
from ns3_env.config.files import LineFaults, NamedFile
from ns3_env.config.model import Strict
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.jobs.algorithms import ranks_of_a_node
from ns3_env.scenario.traffic.jobs.collective import MAX_ITERATIONS, MAX_RANKS, Collective
from ns3_env.scenario.traffic.jobs.log import MAX_JOBS, Log, LoggedJob, seconds
from ns3_env.scenario.traffic.jobs.placement import PlacedJob, Placement, place_jobs
from ns3_env.scenario.traffic.jobs.sending import flows_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind
from ns3_env.scenario.traffic.tasks import Task


class Step(Strict):
    """A training step of a data-parallel job."""

    size_bytes: Bytes = Field(ge=1, description="of the gradients, which all ranks sum")
    compute_ns: Nanoseconds = Field(default=0, ge=0, description="of each rank before that")


class JobLog(TrafficKind):
    """Jobs that arrive at a cluster as a log lists them (docs/jobs.md has the columns).

    A job waits, first come, first served, for as many free GPUs as it had in the log. Which it gets, and
    when, is decided before the simulation, as if each job had them for its duration in the log. On them it
    repeats a training step: each rank computes, and then all sum their gradients. Steps are as many as fill
    the duration on an idle network. If a slower network delays a job's end, the next jobs on its GPUs start
    then. A job of one GPU sends nothing.
    """

    kind: Literal["job_log"] = "job_log"
    file: NamedFile | None = None
    content: str | None = Field(default=None, description="instead of a file: its text")
    window: tuple[float | str, float | str] | None = Field(
        default=None,
        description="jobs that arrive from the first until before the second instant, seconds or dates as "
        "the log has them; none: all",
    )
    first: Annotated[int, Field(ge=1, le=MAX_JOBS)] | None = Field(
        default=None, description="the first jobs of these; none: all"
    )
    scale: float = Field(default=1.0, gt=0, le=1, description="of the log's times: 1e-5 makes an hour 36 ms")
    placement: Placement = Field(default="packed", description="on few nodes, on many, or drawn")
    step: Step = Field(description="of jobs whose model is not in models")
    models: dict[str, Step] = Field(default_factory=dict, description="steps by the log's model")
    iterations: Annotated[int, Field(ge=1, le=MAX_ITERATIONS)] | None = Field(
        default=None, description="steps of each job; none: as many as last its duration"
    )
    algorithm: Literal["ring_all_reduce", "hierarchical_all_reduce", "tree_all_reduce"] = "ring_all_reduce"
    chunk_bytes: Bytes | None = Field(
        default=None, ge=1, description="a send is cut into flows of as much; none: whole"
    )

    _log: Log = PrivateAttr()

    @model_validator(mode="after")
    def _read(self) -> Self:
        if (self.file is None) == (self.content is None):
            raise ValueError("say either file or content")
        window: tuple[float, float] | None = None
        if self.window is not None:
            begin, end = map(seconds, self.window)
            if begin >= end:
                raise ValueError(f"window: {self.window[1]} is not after {self.window[0]}")
            window = begin, end
        self._log = Log(LineFaults(self.file or "content"), window, self.first)
        if self.content is not None:
            self._log.read(io.StringIO(self.content))
        else:
            self._log.read_file()
        return self

    @property
    def log(self) -> Log:
        """The jobs, or why they cannot be read (``wrong``)."""
        return self._log

    def faults(self, network: Network) -> list[str]:
        if self._log.wrong:
            return self._log.wrong.texts()
        if larger := len(self._log.jobs) - len(self._fitting(network)):
            text = f"{larger} of {len(self._log.jobs)} jobs need more GPUs than the network's"
            warnings.warn(f"{text} {len(network.hosts)}, and are left out", ScenarioWarning, stacklevel=2)
        placed = self._place(network, np.random.default_rng(0))
        if texts := [(x.job.line, fault) for x in placed if (fault := self._time_fault(x, network))]:
            return self._log.wrong.texts(texts)
        jobs = self._collectives(placed, network)
        if not jobs:
            return ["file: no job has two GPUs or more: nothing is sent"]
        if texts := [(line, fault) for line, job in jobs for fault in job.faults(network)]:
            return self._log.wrong.texts(texts)
        if (flows := sum(job.expected_flows(network) for _, job in jobs)) > MAX_FLOWS:
            return [f"scale: about {flows:.3g} flows; there may be at most {MAX_FLOWS}: {WHY_FLOWS}"]
        return []

    def _time_fault(self, placed: PlacedJob, network: Network) -> str | None:
        """Why a job's times are none of the simulation's, if so."""
        if (start_ns := self._start_ns(placed)) > MAX_TIME_NS:
            return f"scale: the job starts at {start_ns / 1e9:.0f} s; at most {MAX_TIME_NS / 1e9:.0f}"
        if (steps := self._steps(placed, network)) > MAX_ITERATIONS:
            return f"scale: the job has {steps} steps; at most {MAX_ITERATIONS} (iterations sets each job's)"
        return None

    def _fitting(self, network: Network) -> list[LoggedJob]:
        """Jobs that the network has enough GPUs for."""
        most = min(len(network.hosts), MAX_RANKS)
        return [job for job in self._log.jobs if job.gpus <= most]

    def _place(self, network: Network, random: np.random.Generator) -> list[PlacedJob]:
        return place_jobs(self._fitting(network), network, self.placement, random)

    def _start_ns(self, placed: PlacedJob) -> int:
        return round((placed.start_s - self._log.begin_s) * self.scale * 1e9)

    def _steps(self, placed: PlacedJob, network: Network) -> int:
        """Steps that last the job's duration if its gradients have the slowest card to themselves."""
        if self.iterations is not None:
            return self.iterations
        step, ranks = self.models.get(placed.job.model, self.step), len(placed.hosts)
        rate_bps = min(link.rate_bps for link in network.access.values())
        sent_bytes = 2 * (ranks - 1) / ranks * step.size_bytes  # Thakur 2005
        step_s = step.compute_ns / 1e9 + sent_bytes * 8 / rate_bps
        return max(1, round(placed.job.duration_s * self.scale / step_s)) if ranks > 1 else 1

    def _collectives(self, placed: Sequence[PlacedJob], network: Network) -> list[tuple[int, Collective]]:
        """Lines of the jobs with several GPUs, and their steps."""
        return [
            (x.job.line, self._collective(number, x, network))
            for number, x in enumerate(placed)
            if len(x.hosts) > 1
        ]

    def _collective(self, number: int, placed: PlacedJob, network: Network) -> Collective:
        step = self.models.get(placed.job.model, self.step)
        return Collective(
            algorithm=self.algorithm,
            node_ranks=ranks_of_a_node([network.access_switch(host) for host in placed.hosts], 1),
            size_bytes=step.size_bytes,
            chunk_bytes=self.chunk_bytes,
            compute_ns=step.compute_ns,
            iterations=self._steps(placed, network),
            start_ns=self._start_ns(placed),
            ranks=placed.hosts,
            controller=self.controller,
            job=f"job {number}",
        )

    def expected_flows(self, network: Network) -> float:
        placed = self._place(network, np.random.default_rng(0))
        return sum(job.expected_flows(network) for _, job in self._collectives(placed, network))

    def flow_count_is_drawn(self) -> bool:
        return self.placement == "random" and self.algorithm == "hierarchical_all_reduce"

    def without_files(self) -> JobLog:
        """The same with its jobs in it."""
        content = io.StringIO()
        rows = csv.writer(content, lineterminator="\n")
        rows.writerow(["arrival_s", "gpus", "duration_s", "model"])
        rows.writerows(job[1:] for job in self._log.jobs)
        return JobLog.model_validate({**self.model_dump(exclude={"file"}), "content": content.getvalue()})

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        flows = Flows()
        #: Tasks that are over when the last job of a host is.
        over: dict[int, list[Task]] = {}
        for _, job in self._collectives(self._place(network, random), network):
            hosts, tasks = job.ranks or [], flows.tasks
            iterations = job.iterations_on(hosts, random)
            ends, before, steps = iterations.ends(), len(flows), len(tasks.step_start_ns)
            after = dict.fromkeys(task for host in hosts for task in over.get(host, ()))
            flows.extend(flows_of(iterations.flows, job.job or "", self.controller, job.start_ns))
            tasks.start_after(steps, len(hosts), list(after))
            ends = [task + before if task >= 0 else task - steps for task in ends]
            over |= dict.fromkeys(hosts, ends)
        return flows

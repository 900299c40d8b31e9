# SPDX-License-Identifier: GPL-2.0-or-later
"""A training job as traffic: iterations of computation and a collective over a list of ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, PrivateAttr, model_validator
from typing_extensions import Self

from ns3_env._native import JobFlows
from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS, Bytes, Nanoseconds, few
from ns3_env.config.files import LineFaults, NamedFile
from ns3_env.scenario.topology import Network
from ns3_env.scenario.traffic.jobs.algorithms import (
    Algorithm,
    Send,
    bounds,
    count_flows,
    count_pieces,
    count_reducers,
    sends,
    sends_by_pair,
)
from ns3_env.scenario.traffic.jobs.pairs import read_pairs
from ns3_env.scenario.traffic.jobs.sending import flows_of
from ns3_env.scenario.traffic.kind import Flows, TrafficKind, host_fault, rank_faults
from ns3_env.scenario.traffic.tasks import Task

MAX_RANKS = 4096
MAX_ITERATIONS = 10_000
WHY_RANKS = "an all-to-all has a flow for each pair"

PairBytes = Annotated[Bytes, Field(ge=0)]


class CollectiveWork(TrafficKind):
    """Base of jobs: work of each iteration.

    In an iteration each rank computes, and then joins the collective; its next iteration starts when
    all that it sends and receives in this one is delivered. A send waits for its rank's computation, and for
    the sends that bring its data; each chunk of it for the same chunk of those. In a pipeline a rank computes
    for each chunk (a microbatch), one after the other, before it passes it on.
    """

    algorithm: Algorithm
    size_bytes: Bytes | None = Field(
        default=None, ge=1, description="of each rank's data, as in NCCL's tests"
    )
    chunk_bytes: Bytes | None = Field(
        default=None, ge=1, description="a send is cut into flows of as much; none: whole"
    )
    node_ranks: int = Field(
        default=8,
        ge=1,
        le=MAX_RANKS,
        description="of hierarchical algorithms: ranks of a node, neighbours; in the network: of a reducer",
    )
    iterations: int = Field(default=1, ge=1, le=MAX_ITERATIONS)
    compute_ns: Nanoseconds = Field(default=0, ge=0, description="of each rank before it sends")
    compute_spread_ns: Nanoseconds = Field(
        default=0, ge=0, description="more, drawn uniformly up to it for each computation"
    )
    start_ns: Nanoseconds = Field(default=0, ge=0)

    def first_start_ns(self) -> int | None:
        return self.start_ns + self.compute_ns

    @property
    def data_bytes(self) -> int:
        """Size of each rank's data, 0 if none is given."""
        return self.size_bytes or 0

    def _data_faults(self, ranks: int) -> list[str]:
        if self.data_bytes < ranks:
            text = f"size_bytes: {self.data_bytes} B are less than a byte for each of {ranks} ranks"
            return [text if self.size_bytes else f"{text}; it is not given"]
        return []

    def _sends(self, ranks: int) -> list[Send]:
        """The sends of an iteration."""
        return sends(self.algorithm, ranks, self.data_bytes, self.node_ranks)

    def _size_faults(self, ranks: int, jobs: int = 1) -> list[str]:
        if self.algorithm == "halving_doubling_all_reduce" and ranks & (ranks - 1):
            return [f"algorithm: halving and doubling needs a power of two of ranks, and there are {ranks}"]
        if self.algorithm.startswith("hierarchical") and ranks % self.node_ranks:
            return [f"node_ranks: {self.node_ranks} ranks of a node do not divide {ranks} ranks"]
        if texts := self._data_faults(ranks):
            return texts
        if self._most_flows(ranks) * jobs > MAX_FLOWS:
            return [
                f"chunk_bytes: about {self._most_flows(ranks) * jobs:.3g} flows; there may be at most "
                f"{MAX_FLOWS}: {WHY_FLOWS}"
            ]
        return []

    def _most_flows(self, ranks: int) -> int:
        return self.iterations * count_flows(
            self.algorithm, ranks, self.data_bytes, self.chunk_bytes, self.node_ranks
        )

    def iterations_on(
        self, hosts: Sequence[int], random: np.random.Generator, reducers: Sequence[int] = ()
    ) -> Iterations:
        """All iterations of one job: rank i is ``hosts[i]``; reducers do not compute."""
        sendings = self._sends(len(hosts))
        iterations = Iterations(self, [*hosts, *reducers], random, len(hosts))
        for iteration in range(self.iterations):
            iterations.add(iteration, sendings)
        return iterations

    def _play(
        self, job: str, hosts: Sequence[int], random: np.random.Generator, reducers: Sequence[int] = ()
    ) -> Flows:
        iterations = self.iterations_on(hosts, random, reducers)
        return flows_of(iterations.flows, job, self.controller, self.start_ns)


class Iterations:
    """One job's flows and steps, made iteration by iteration."""

    def __init__(
        self, work: CollectiveWork, hosts: Sequence[int], random: np.random.Generator, computing: int
    ) -> None:
        self.flows = JobFlows(work.chunk_bytes)
        self._work, self._hosts, self._random, self._computing = work, hosts, random, computing
        self._ended: list[list[Task]] = [[] for _ in hosts]

    def ends(self) -> list[Task]:
        """Few tasks with which all ranks are over."""
        return self.flows.reduce([task for tasks in self._ended for task in tasks])

    def add(self, iteration: int, sendings: list[Send]) -> None:
        """Adds an iteration with these sends."""
        work, ranks = self._work, range(len(self._hosts))
        self.flows.forget_pairs()
        if work.algorithm == "pipeline":
            touched = self._pipeline(iteration)
        else:
            ready = [[self._compute(iteration, x, [])] if x < self._computing else [] for x in ranks]
            touched = self.flows.add(sendings, self._hosts, ranks, ready, False, work.algorithm, iteration)
        self._ended = [tasks or self._ended[rank] for rank, tasks in enumerate(touched)]

    def _pipeline(self, iteration: int) -> list[list[Task]]:
        """Tasks of each rank, which computes for each chunk, one after the other, before it passes it on."""
        work, hosts = self._work, self._hosts
        chunks = count_pieces(work.data_bytes, work.chunk_bytes)
        touched: list[list[Task]] = [[] for _ in hosts]
        arrivals: list[Task] = []
        edge = bounds(chunks, work.data_bytes)
        for rank in range(len(hosts)):
            steps: list[Task] = []
            for i in range(chunks):
                steps.append(self._compute(iteration, rank, [*arrivals[i : i + 1], *steps[-1:]]))
            touched[rank] += steps
            arrivals = []
            for i in range(chunks if rank + 1 < len(hosts) else 0):
                send = Send(0, 1, edge[i + 1] - edge[i])
                here = [rank, rank + 1]
                (flow,), _ = self.flows.add(
                    [send], hosts[rank : rank + 2], here, [[steps[i]], []], False, work.algorithm, iteration
                )
                arrivals.append(flow)
            touched[rank] += arrivals
            if arrivals:
                touched[rank + 1] += arrivals
        return touched

    def _compute(self, iteration: int, rank: int, after: list[Task]) -> Task:
        work = self._work
        more = int(self._random.integers(work.compute_spread_ns + 1)) if work.compute_spread_ns else 0
        needed = [*self._ended[rank], *after]
        return self.flows.add_step(work.compute_ns + more, needed, "compute", iteration, rank)


class Collective(CollectiveWork):
    """One job: a collective over a list of ranks, over and over."""

    kind: Literal["collective"] = "collective"
    ranks: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] | None = Field(
        default=None, min_length=2, description="host of each rank; several may be on one; none: all hosts"
    )
    reducers: Annotated[list[int], few(MAX_RANKS, WHY_RANKS)] = Field(
        default=[],
        description="of in_network_all_reduce: hosts that stand for switches' reduction units, one for each "
        "node_ranks ranks, then a root above several",
    )
    job: str | None = Field(
        default=None, min_length=1, description="its name in results; none: the algorithm"
    )

    pair_bytes: Annotated[list[list[PairBytes]], few(MAX_RANKS, WHY_RANKS)] | NamedFile | None = Field(
        default=None,
        description="of an all-to-all, instead of size_bytes: what each rank (row) sends to each (column), "
        "or a CSV",
    )

    _pairs: list[list[int]] = PrivateAttr(default_factory=list)
    _wrong: LineFaults = PrivateAttr(default_factory=LineFaults)

    @model_validator(mode="after")
    def _read(self) -> Self:
        if isinstance(self.pair_bytes, str):
            self._wrong = LineFaults(self.pair_bytes)
            self._pairs = read_pairs(self._wrong)
        else:
            self._pairs = self.pair_bytes or []
        return self

    def _of(self, network: Network) -> Sequence[int]:
        if self.ranks is not None:
            return self.ranks
        return [host for host in network.hosts if host not in self.reducers]

    def _reducer_faults(self, network: Network, hosts: Sequence[int]) -> list[str]:
        """Refuses too few or too many reducers, those that are no hosts, and those that are ranks."""
        if self.algorithm != "in_network_all_reduce":
            return ["reducers: are in_network_all_reduce's: leave them out"] if self.reducers else []
        needed = count_reducers(len(hosts), self.node_ranks)
        if len(self.reducers) != needed:
            return [
                f"reducers: {len(self.reducers)} for {len(hosts)} ranks, {self.node_ranks} of a reducer "
                f"(node_ranks); there must be {needed}: one for each of these groups"
                + (", and a root" if needed > 1 else "")
            ]
        texts = [x for i, y in enumerate(self.reducers) for x in host_fault(network, f"reducers.{i}", y)]
        twice = Counter([*self.reducers, *hosts])
        return texts + [f"reducers: host {x} is one twice, or a rank" for x in self.reducers if twice[x] > 1]

    def faults(self, network: Network) -> list[str]:
        hosts = self._of(network)
        faults = rank_faults(network, hosts, len(hosts)) or self._reducer_faults(network, hosts)
        return faults or self._size_faults(len(hosts))

    def _data_faults(self, ranks: int) -> list[str]:
        if self.pair_bytes is None:
            return super()._data_faults(ranks)
        if self.size_bytes is not None:
            return ["pair_bytes: say either this or size_bytes"]
        if not self.algorithm.endswith("all_to_all"):
            return [f"pair_bytes: only all-to-alls have sizes by pairs, and algorithm is {self.algorithm}"]
        if self._wrong:
            return [text.replace("file", "pair_bytes", 1) for text in self._wrong.texts()]
        if strange := [(i, len(row)) for i, row in enumerate(self._pairs) if len(row) != ranks]:
            return [f"pair_bytes.{i}: {count} sizes for {ranks} ranks" for i, count in strange[:1]]
        if len(self._pairs) != ranks:
            return [f"pair_bytes: {len(self._pairs)} rows for {ranks} ranks"]
        sent = any(size for i, row in enumerate(self._pairs) for j, size in enumerate(row) if i != j)
        return [] if sent else ["pair_bytes: no rank sends any other a byte"]

    def _sends(self, ranks: int) -> list[Send]:
        if not self._pairs:
            return super()._sends(ranks)
        return sends_by_pair(self.algorithm, self._pairs, self.node_ranks)

    def _most_flows(self, ranks: int) -> int:
        if not self._pairs:
            return super()._most_flows(ranks)
        return self.iterations * sum(count_pieces(x.size_bytes, self.chunk_bytes) for x in self._sends(ranks))

    def without_files(self) -> Collective:
        """The same with its sizes in it."""
        pairs = self._pairs or None
        return Collective.model_validate({**self.model_dump(exclude={"pair_bytes"}), "pair_bytes": pairs})

    def senders_at(self, network: Network) -> Counter[int]:
        hosts = self._of(network)
        each = len(hosts) - 1 if self.algorithm == "all_to_all" else 2
        return Counter(dict.fromkeys(hosts, each))

    def expected_flows(self, network: Network) -> float:
        return self._most_flows(len(self._of(network)))

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        return self._play(self.job or self.algorithm, self._of(network), random, self.reducers)


class Jobs(CollectiveWork):
    """Several equal jobs at once, each on its own hosts.

    ``packed``: neighbouring hosts, so that a job stays within few racks; ``interleaved``: every so manieth
    host, so that each job goes through the spines; ``random``: drawn from the seed.
    """

    kind: Literal["jobs"] = "jobs"
    jobs: int = Field(default=2, ge=1, le=MAX_RANKS)
    ranks_each: int = Field(ge=2, le=MAX_RANKS, description="hosts of each job")
    placement: Literal["packed", "interleaved", "random"] = "interleaved"

    def faults(self, network: Network) -> list[str]:
        if self.algorithm == "in_network_all_reduce":
            return ["algorithm: several jobs have no reducers: write a mix of parts of kind collective"]
        if self.jobs * self.ranks_each > len(network.hosts):
            return [
                f"jobs: {self.jobs} jobs of {self.ranks_each} hosts are {self.jobs * self.ranks_each}, and "
                f"the network has {len(network.hosts)}"
            ]
        return self._size_faults(self.ranks_each, self.jobs)

    def senders_at(self, network: Network) -> Counter[int]:
        return Counter(
            dict.fromkeys(network.hosts, self.ranks_each - 1 if self.algorithm == "all_to_all" else 2)
        )

    def expected_flows(self, network: Network) -> float:
        return self._most_flows(self.ranks_each) * self.jobs

    def generate(self, network: Network, random: np.random.Generator) -> Flows:
        hosts = list(network.hosts)[: self.jobs * self.ranks_each]
        if self.placement == "random":
            hosts = random.permutation(network.hosts)[: len(hosts)].tolist()
        flows = Flows()
        for i, generator in enumerate(random.spawn(self.jobs)):
            packed = slice(i * self.ranks_each, (i + 1) * self.ranks_each)
            chosen = hosts[i :: self.jobs] if self.placement == "interleaved" else hosts[packed]
            flows.extend(self._play(f"job {i}", chosen, generator))
        return flows

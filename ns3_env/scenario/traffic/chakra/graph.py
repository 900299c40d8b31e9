# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks' traces as one graph of flows and steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ns3_env._native import JobFlows
from ns3_env.config.bounds import MAX_FLOWS, WHY_FLOWS
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.durations import Durations
from ns3_env.scenario.traffic.chakra.groups import ProcessGroups
from ns3_env.scenario.traffic.chakra.matching import Match, match_nodes
from ns3_env.scenario.traffic.chakra.order import Place, Turns, find_needs, sort_by_need
from ns3_env.scenario.traffic.chakra.trace import (
    AT_ONCE,
    COLLECTIVE,
    COLLECTIVES,
    PARALLELISM,
    RECEIVE,
    SEND,
    Node,
)
from ns3_env.scenario.traffic.jobs.algorithms import (
    Algorithm,
    Send,
    count_flows,
    count_pieces,
    equal_parts,
    ranks_of_a_node,
    sends,
    sends_by_pair,
)
from ns3_env.scenario.traffic.tasks import Task, circle_in

#: Algorithm of a collective of the schema; a barrier is an all-reduce of a byte a rank.
ALGORITHMS: dict[str, Algorithm] = {
    "ALL_REDUCE": "ring_all_reduce",
    "ALL_GATHER": "all_gather",
    "BROADCAST": "broadcast",
    "ALL_TO_ALL": "all_to_all",
    "REDUCE_SCATTER": "reduce_scatter",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    "BARRIER": "ring_all_reduce",
}


@dataclass
class Graph:
    """Makes flows of traces, node by node, each after all of its dependencies.

    Args:
        traces: trace of each rank.
        hosts: host of each rank.
        algorithms: algorithm of each kind of collective.
        groups: ranks of process groups, as far as known.
        durations: durations of nodes.
        node_ranks: ranks of a node, neighbours, for hierarchical algorithms.
        chunk_bytes: size of the flows that a send is cut into; None: it is not cut.
    """

    traces: Sequence[Sequence[Node]]
    hosts: Sequence[int]
    algorithms: Mapping[str, Algorithm]
    groups: ProcessGroups
    durations: Durations = field(default_factory=Durations)
    node_ranks: int = 1
    chunk_bytes: int | None = None
    _over: dict[Place, tuple[Task, ...]] = field(default_factory=dict)
    #: Tasks of each send that are over when its receiver has it.
    _delivered: dict[Place, tuple[Task, ...]] = field(default_factory=dict)

    _made_sends: dict[Hashable, list[Send]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._flows = JobFlows(self.chunk_bytes)

    def play(self) -> JobFlows:
        """The flows. Raises TraceError if nodes wait for each other in a circle, collectives do not fit
        together, or there would be too many flows."""
        needs = [find_needs(trace) for trace in self.traces]
        orders = [sort_by_need(node_needs) for node_needs in needs]
        match, turns = match_nodes(self.traces, orders, self.groups), Turns(self.traces, orders)
        waits, followers = _waits(needs, match)
        ready = sorted(place for place, count in waits.items() if not count and turns.may_begin(place))
        while ready or (ready := turns.first_early()):
            later: set[Place] = set()
            for place in ready:
                group = match.partners.get(place, [place])
                after = [self._after(p, [*needs[p[0]][p[1]], *turns.before(p)]) for p in group]
                self._add(group, after, match)
                del waits[place]
                for follower in followers.get(place, ()):
                    waits[follower] -= 1
                    if not waits[follower] and turns.may_begin(follower):
                        later.add(follower)
                later.update(turns.pass_on(place))
            ready = sorted(later)
        if waits:
            reasons = _reasons(needs, match)
            raise TraceError(self._circle({x: reasons[x] for x in reasons if x not in self._over}))
        return self._flows

    def _circle(self, reasons: Mapping[Place, Sequence[Place]]) -> str:
        first, *others = (f"{self.traces[rank][i]} of rank {rank}" for rank, i in circle_in(reasons))
        return f"{first} waits for itself: it comes after {', which comes after '.join([*others, first])}"

    def _after(self, place: Place, needs: Sequence[int]) -> tuple[Task, ...]:
        return self._reduce([task for i in needs for task in self._over[place[0], i]])

    def _reduce(self, tasks: list[Task]) -> tuple[Task, ...]:
        """Few tasks that are over when all of these are."""
        return tuple(self._flows.reduce(tasks)) if len(tasks) > 1 else tuple(tasks)

    def _add(self, group: Sequence[Place], after: Sequence[tuple[Task, ...]], match: Match) -> None:
        (rank, i), node = group[0], self.traces[group[0][0]][group[0][1]]
        if node.type == COLLECTIVE and not node.launches():
            self._collective(group, after)
        elif node.type == SEND and not node.launches():
            self._delivered[rank, i] = self._send(rank, match.receiver[rank, i], node, after[0])
            self._over[rank, i] = after[0] if AT_ONCE in node.numbers else self._delivered[rank, i]
        elif node.type == RECEIVE and not node.launches():
            self._over[rank, i] = self._reduce([*self._delivered[match.sender[rank, i]], *after[0]])
        elif AT_ONCE in node.numbers:
            self._over[rank, i] = after[0]
        else:
            ns = self.durations.ns(node)
            self._over[rank, i] = (self._flows.add_step(ns, after[0], "compute", node.iteration, rank),)

    def _send(self, rank: int, to: int, node: Node, after: tuple[Task, ...]) -> tuple[Task, ...]:
        """Tasks that are over when the receiver has a send's bytes."""
        size = node.size()
        self._check_count(count_pieces(size, self.chunk_bytes))
        first = len(self._flows)
        if size:
            ranks = [rank, to]
            hosts = [self.hosts[rank] for rank in ranks]
            self._flows.add([Send(0, 1, size)], hosts, ranks, [after, ()], True, "send", node.iteration)
        return tuple(range(first, len(self._flows))) or after

    def _collective(self, group: Sequence[Place], after: Sequence[tuple[Task, ...]]) -> None:
        nodes = [self.traces[rank][i] for rank, i in group]
        name, sizes = self._agree(nodes)
        if not any(sizes):
            self._over.update(zip(group, after, strict=True))
            return
        ranks = [rank for rank, _ in group]
        part = f"{nodes[0].text(PARALLELISM)} {name.lower()}".strip()
        algorithm = self.algorithms[name]
        if algorithm == "halving_doubling_all_reduce" and len(ranks) & (len(ranks) - 1):
            raise TraceError(
                f"{nodes[0]}: halving and doubling needs a power of two of ranks, not {len(ranks)}"
            )
        near = ranks_of_a_node(ranks, self.node_ranks)
        self._check_count(count_flows(algorithm, len(ranks), max(sizes), self.chunk_bytes, near))
        parts = [node.parts(len(ranks)) for node in nodes] if name == "ALL_TO_ALL" else []
        hosts, sent = [self.hosts[rank] for rank in ranks], self._sends(algorithm, sizes, near, parts)
        over = self._flows.add(sent, hosts, ranks, after, True, part, nodes[0].iteration)
        self._over.update(zip(group, map(tuple, over), strict=True))

    def _sends(
        self, algorithm: Algorithm, sizes: Sequence[int], near: int, parts: Sequence[Sequence[int]]
    ) -> list[Send]:
        """A collective's sends, made once for alike ones. Of an all-to-all ranks may differ in size, and each
        may have ``parts``, what it sends to each; without, they are equal."""
        kind = (algorithm, tuple(sizes), near, tuple(map(tuple, parts)))
        if kind not in self._made_sends:
            if parts:
                pairs = [x or equal for x, equal in zip(parts, equal_parts(sizes), strict=True)]
                sendings = sends_by_pair(algorithm, pairs, near)
            else:
                sendings = sends(algorithm, len(sizes), sizes[0], near)
            self._made_sends[kind] = sendings
        return self._made_sends[kind]

    def _agree(self, nodes: Sequence[Node]) -> tuple[str, list[int]]:
        """A collective's name, and each rank's size as algorithms count it, 0 if it sends nothing. Raises
        TraceError if ranks differ, but for an all-to-all, to which each rank may contribute its own size.

        A trace has a rank's input (``comm_size``): of an all-gather its own part, whereas the algorithms'
        size is the size of the result; otherwise all of its data. Each rank's part has a byte at least.
        """
        first = f"node {nodes[0].id}, {nodes[0].shown_name}"
        kinds = {node.number("comm_type") for node in nodes}
        names = {COLLECTIVES.get(kind, str(kind)) for kind in kinds}
        sizes = [0 if "BARRIER" in names else node.size() for node in nodes]
        if len(kinds) > 1 or (len(set(sizes)) > 1 and names != {"ALL_TO_ALL"}):
            text = f"{', '.join(sorted(names))}; {', '.join(map(str, sorted(set(sizes))))}"
            raise TraceError(f"{first}: ranks differ in (comm_type, comm_size): {text}")
        name, ranks = names.pop(), len(nodes)
        if ranks == 1:
            return name, [0]
        if name not in self.algorithms:
            raise TraceError(f"{first}: {name} is not played; {', '.join(self.algorithms)} are")
        if name == "BARRIER":
            return name, [ranks] * ranks
        times = ranks if name == "ALL_GATHER" else 1
        return name, [max(size * times, ranks) if size else 0 for size in sizes]

    def _check_count(self, more: int) -> None:
        """Raises TraceError, before they are made, if there would be too many flows."""
        if len(self._flows) + more > MAX_FLOWS:
            text = f"more than {MAX_FLOWS} flows, which is the most: {WHY_FLOWS}"
            raise TraceError(f"{text}; chunk_bytes says into how many a send is cut")


def _waits(
    needs: Sequence[Sequence[Sequence[int]]], match: Match
) -> tuple[dict[Place, int], dict[Place, list[Place]]]:
    """The number of nodes that each waits for, and those that wait for it; a collective is its first rank's
    node."""
    first = {place: group[0] for place, group in match.partners.items()}
    waits: dict[Place, int] = {}
    followers: dict[Place, list[Place]] = defaultdict(list)
    for rank, of_rank in enumerate(needs):
        for i in range(len(of_rank)):
            place = (rank, i)
            if first.get(place, place) != place:
                continue
            group = match.partners.get(place, [place])
            needed = {first.get((r, k), (r, k)) for r, j in group for k in needs[r][j]}
            if place in match.sender:
                needed.add(match.sender[place])
            waits[place] = len(needed)
            for other in needed:
                followers[other].append(place)
    return waits, followers


def _reasons(needs: Sequence[Sequence[Sequence[int]]], match: Match) -> dict[Place, tuple[Place, ...]]:
    """Places that each waits for: a collective for its ranks' dependencies, a receive for its send."""
    waits: dict[Place, tuple[Place, ...]] = {}
    for rank, of_rank in enumerate(needs):
        for i in range(len(of_rank)):
            place = (rank, i)
            if place in waits:
                continue
            group = match.partners.get(place, [place])
            needed = dict.fromkeys((r, k) for r, j in group for k in needs[r][j])
            if place in match.sender:
                needed[match.sender[place]] = None
            waits.update(dict.fromkeys(group, tuple(needed)))
    return waits

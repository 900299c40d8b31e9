# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranks' traces as one graph of flows and steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ns3_env.scenario.traffic.chakra.trace import COLLECTIVE, COLLECTIVES, COMPUTE, RECEIVE, SEND, Node
from ns3_env.scenario.traffic.chakra.wire import WireError
from ns3_env.scenario.traffic.jobs.algorithms import Algorithm, Send, sends
from ns3_env.scenario.traffic.jobs.sending import Collected
from ns3_env.scenario.traffic.kind import Flows
from ns3_env.scenario.traffic.tasks import Label, Step, Task

#: What a collective of the schema is played as; a barrier is an all-reduce of a byte a rank.
ALGORITHMS: dict[str, Algorithm] = {
    "ALL_REDUCE": "ring_all_reduce",
    "ALL_GATHER": "all_gather",
    "BROADCAST": "broadcast",
    "ALL_TO_ALL": "all_to_all",
    "REDUCE_SCATTER": "reduce_scatter",
    "REDUCE_SCATTER_BLOCK": "reduce_scatter",
    "BARRIER": "ring_all_reduce",
}
Place = tuple[int, int]  # rank, number of its node in the file


@dataclass
class Graph:
    """Makes flows of traces, node by node, each when all that it depends on is there.

    Args:
        traces: of each rank.
        where: what flows have in common.
        algorithms: what collectives are played as.
    """

    traces: Sequence[Sequence[Node]]
    where: Collected
    algorithms: Mapping[str, Algorithm]
    flows: Flows = field(default_factory=Flows)
    _over: dict[Place, tuple[Task, ...]] = field(default_factory=dict)
    _sender: dict[Place, Place] = field(default_factory=dict)

    def play(self) -> Flows:
        """The flows. Raises WireError where nodes wait in vain, or collectives do not fit together."""
        needs = [self._needs(trace) for trace in self.traces]
        partners = self._partners()
        left = {(rank, i) for rank, trace in enumerate(self.traces) for i in range(len(trace))}
        waiting: dict[Place, set[Place]] = {}
        followers: dict[Place, list[Place]] = defaultdict(list)
        for rank, i in left:
            group = partners.get((rank, i), [(rank, i)])
            needed = {(r, k) for r, j in group for k in needs[r][j]}
            needed |= {sender} if (sender := self._sender.get((rank, i))) else set()
            waiting[rank, i] = needed
            for other in needed:
                followers[other].append((rank, i))
        ready = sorted(place for place in left if not waiting[place])
        while ready:
            later: list[Place] = []
            for place in ready:
                if place not in self._over:
                    group = partners.get(place, [place])
                    self._add(group, [self._after(p, needs[p[0]][p[1]]) for p in group])
                left.discard(place)
                for follower in followers[place]:
                    waiting[follower].discard(place)
                    if not waiting[follower]:
                        later.append(follower)
            ready = sorted(set(later))
        if left:
            rank, i = min(left)
            node = self.traces[rank][i]
            raise WireError(
                f"node {node.id} ({node.name}) of rank {rank} waits for itself, or for what never is"
            )
        return self.flows

    def _needs(self, trace: Sequence[Node]) -> list[list[int]]:
        """Numbers of the nodes before each: what it depends on, and a rank's computation before."""
        number = {node.id: i for i, node in enumerate(trace)}
        found, before = [], None
        for i, node in enumerate(trace):
            own = [number[other] for other in node.after]
            if node.type == COMPUTE:
                own += [] if before is None or before in own else [before]
                before = i
            found.append(own)
        return found

    def _after(self, place: Place, needs: Sequence[int]) -> tuple[Task, ...]:
        tasks = (task for i in needs for task in self._over[place[0], i])
        return tuple(dict.fromkeys(tasks))

    def _partners(self) -> dict[Place, list[Place]]:
        """The ranks' nodes of each collective, by place; finds receives' senders."""
        calls: dict[tuple[str, int], list[Place]] = defaultdict(list)
        sent: dict[tuple[int, int, int, int], Place] = {}
        received: dict[tuple[int, int, int, int], Place] = {}
        for rank, trace in enumerate(self.traces):
            count: dict[object, int] = defaultdict(int)
            for i, node in enumerate(trace):
                if node.type == COLLECTIVE:
                    group = node.texts.get("pg_name", "")
                    calls[group, count[group]].append((rank, i))
                    count[group] += 1
                elif node.type in (SEND, RECEIVE):
                    there = node.number("comm_dst" if node.type == SEND else "comm_src")
                    ends = (rank, there) if node.type == SEND else (there, rank)
                    key = (*ends, node.numbers.get("comm_tag", 0))
                    pairs = sent if node.type == SEND else received
                    pair = (*key, count[node.type, key])
                    pairs[pair] = (rank, i)
                    count[node.type, key] += 1
                    if not 0 <= there < len(self.traces) or there == rank:
                        raise WireError(f"node {node.id} of rank {rank} names rank {there}")
        for pair, place in received.items():
            if pair not in sent:
                raise WireError(f"rank {place[0]} receives from rank {pair[0]} what that does not send")
        self._sender = {place: sent[pair] for pair, place in received.items()}
        return {place: group for group in calls.values() for place in group}

    def _add(self, group: Sequence[Place], after: Sequence[tuple[Task, ...]]) -> None:
        (rank, i), node = group[0], self.traces[group[0][0]][group[0][1]]
        if node.type == COLLECTIVE:
            self._collective(group, after)
        elif node.type == SEND:
            send = Send(rank, node.number("comm_dst"), node.number("comm_size"))
            where = replace(self.where, part="send")
            self._over[rank, i] = tuple(where.add(self.flows, send, [], [after[0]]))
        elif node.type == RECEIVE:
            self._over[rank, i] = (*self._over[self._sender[rank, i]], *after[0])
        else:
            label = Label(self.where.job, self.where.iteration, "compute", rank)
            step = Step(node.duration_micros * 1000, after[0], self.where.start_ns)
            self._over[rank, i] = (self.flows.tasks.add_step(step, label),)

    def _collective(self, group: Sequence[Place], after: Sequence[tuple[Task, ...]]) -> None:
        nodes = [self.traces[rank][i] for rank, i in group]
        kinds = {(node.number("comm_type"), node.number("comm_size")) for node in nodes}
        if len(kinds) > 1:
            raise WireError(f"{nodes[0].name}: ranks differ in (comm_type, comm_size): {sorted(kinds)}")
        kind, size = kinds.pop()
        name = COLLECTIVES.get(kind, str(kind))
        if name not in self.algorithms:
            raise WireError(f"{nodes[0].name}: {name} is not played; {', '.join(self.algorithms)} are")
        ranks = [rank for rank, _ in group]
        if len(ranks) < 2:
            raise WireError(f"{nodes[0].name} of rank {ranks[0]}: no other rank takes part")
        where = replace(
            self.where, hosts=[self.where.hosts[rank] for rank in ranks], ranks=ranks, part=name.lower()
        )
        made: list[list[Task]] = []
        over: list[list[Task]] = [[] for _ in group]
        for send in sends(self.algorithms[name], len(ranks), max(size, len(ranks))):
            made.append(where.add(self.flows, send, made, [after[send.src]]))
            over[send.src] += made[-1]
            over[send.dst] += made[-1]
        for place, own, before in zip(group, over, after, strict=True):
            self._over[place] = tuple(own) or before

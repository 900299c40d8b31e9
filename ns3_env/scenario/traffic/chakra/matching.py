# SPDX-License-Identifier: GPL-2.0-or-later
"""Matches ranks' traces: the nodes of each collective, and the send of each receive."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import TraceError
from ns3_env.scenario.traffic.chakra.groups import ProcessGroups
from ns3_env.scenario.traffic.chakra.order import Place
from ns3_env.scenario.traffic.chakra.trace import ANY_TAG, COLLECTIVE, RECEIVE, SEND, Node


@dataclass(frozen=True)
class Match:
    """``partners``: the ranks' nodes of each collective, by each of them; ``sender``: of each receive;
    ``receiver``: the rank that each send goes to."""

    partners: dict[Place, list[Place]]
    sender: dict[Place, Place]
    receiver: dict[Place, int]


def match_nodes(
    traces: Sequence[Sequence[Node]], orders: Sequence[Sequence[int]], groups: ProcessGroups
) -> Match:
    """Matches collectives by process group, sends and receives by ranks and tag, each in the ranks' orders.

    Raises:
        TraceError: a node names an unknown rank, a receive has no send, a rank of a group has fewer
            collectives than its other ranks.
    """
    calls: dict[tuple[str, tuple[int, ...] | None, int], list[Place]] = defaultdict(list)
    sends: dict[tuple[int, int], list[Place]] = defaultdict(list)
    receives: dict[tuple[int, int], list[Place]] = defaultdict(list)
    for rank, (trace, order) in enumerate(zip(traces, orders, strict=True)):
        count: dict[object, int] = defaultdict(int)
        for i in order:
            node = trace[i]
            if node.launches():
                continue
            if node.type == COLLECTIVE:
                group = (node.group, groups.members(node, rank))
                call = (*group, count[group])
                calls[call].append((rank, i))
                count[group] += 1
            elif node.type in (SEND, RECEIVE):
                there = _peer(node, rank, groups, len(traces))
                if node.type == SEND:
                    sends[rank, there].append((rank, i))
                else:
                    receives[there, rank].append((rank, i))
    for (name, members, _), places in calls.items():
        _check_all_are_there(name, members, places, traces)
    sender = {
        place: other
        for pair in receives
        for place, other in _senders(traces, pair[0], sends[pair], receives[pair])
    }
    receiver = {place: pair[1] for pair, places in sends.items() for place in places}
    return Match({place: group for group in calls.values() for place in group}, sender, receiver)


def _senders(
    traces: Sequence[Sequence[Node]], source: int, sends: Sequence[Place], receives: Sequence[Place]
) -> Iterator[tuple[Place, Place]]:
    """Each receive from a rank, and its send: the first of its tag that no other receive has. Raises
    TraceError."""
    of_tag: dict[int | None, deque[Place]] = defaultdict(deque)
    for rank, i in sends:
        of_tag[traces[rank][i].number("comm_tag", 0)].append((rank, i))
        of_tag[None].append((rank, i))
    matched: set[Place] = set()
    for rank, i in receives:
        node = traces[rank][i]
        candidates = of_tag[None if ANY_TAG in node.numbers else node.number("comm_tag", 0)]
        while candidates and candidates[0] in matched:
            candidates.popleft()
        if not candidates:
            raise TraceError(f"{node}: rank {rank} receives from rank {source} what that does not send")
        matched.add(candidates[0])
        yield (rank, i), candidates.popleft()


def _check_all_are_there(
    name: str, members: tuple[int, ...] | None, places: Sequence[Place], traces: Sequence[Sequence[Node]]
) -> None:
    """Raises TraceError if a rank of a known group has no node of a collective."""
    missing = sorted(set(members or ()) - {rank for rank, _ in places})
    if missing:
        rank, i = places[0]
        text = f"process group {shown(name)} has rank {missing[0]}, whose trace has fewer collectives of it"
        raise TraceError(f"{traces[rank][i]} of rank {rank}: {text}")


def _peer(node: Node, rank: int, groups: ProcessGroups, ranks: int) -> int:
    """The rank at the other end. Raises TraceError."""
    there = _named_peer(node, rank, groups)
    if not 0 <= there < ranks or there == rank:
        raise TraceError(f"{node} of rank {rank} names rank {there}; there are ranks 0 to {ranks - 1}")
    return there


def _named_peer(node: Node, rank: int, groups: ProcessGroups) -> int:
    """The rank that a node names: without a name, as PyTorch's converter leaves it, the other one of
    a process group of two. Raises TraceError."""
    name = "comm_dst" if node.type == SEND else "comm_src"
    if not node.has(name) and node.group:
        members = groups.members(node, rank)
        if members is None or len(members) != 2:
            text = f"no attribute {name}, and its process group {shown(node.group)}"
            size = "is not known" if members is None else f"has {len(members)} ranks, not two"
            raise TraceError(f"{node} of rank {rank} has {text} {size}")
        return members[1] if members[0] == rank else members[0]
    return node.number(name)

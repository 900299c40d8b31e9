# SPDX-License-Identifier: GPL-2.0-or-later
"""Matches ranks' traces: which nodes are one collective, and which send a receive is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.groups import ProcessGroups
from ns3_env.scenario.traffic.chakra.order import Place
from ns3_env.scenario.traffic.chakra.trace import COLLECTIVE, RECEIVE, SEND, Node
from ns3_env.scenario.traffic.chakra.wire import WireError


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
        WireError: a node names a rank that there is not, a receive has no send, a rank of a group has fewer
            collectives than the others.
    """
    calls: dict[tuple[str, tuple[int, ...] | None, int], list[Place]] = defaultdict(list)
    ends: dict[int, dict[tuple[int, int, int, int], Place]] = {SEND: {}, RECEIVE: {}}
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
            elif node.type in ends:
                ends_and_tag = _pair(node, rank, groups, len(traces))
                pair = (*ends_and_tag, count[node.type, ends_and_tag])
                ends[node.type][pair] = (rank, i)
                count[node.type, ends_and_tag] += 1
    for (name, members, _), places in calls.items():
        _check_all_are_there(name, members, places, traces)
    for pair, (rank, i) in ends[RECEIVE].items():
        if pair not in ends[SEND]:
            text = f"rank {rank} receives from rank {pair[0]} what that does not send"
            raise WireError(f"{traces[rank][i]}: {text}")
    sender = {place: ends[SEND][pair] for pair, place in ends[RECEIVE].items()}
    receiver = {place: pair[1] for pair, place in ends[SEND].items()}
    return Match({place: group for group in calls.values() for place in group}, sender, receiver)


def _check_all_are_there(
    name: str, members: tuple[int, ...] | None, places: Sequence[Place], traces: Sequence[Sequence[Node]]
) -> None:
    """Raises WireError where a rank of a known group has no node of a collective."""
    missing = sorted(set(members or ()) - {rank for rank, _ in places})
    if missing:
        rank, i = places[0]
        text = f"process group {shown(name)} has rank {missing[0]}, whose trace has fewer collectives of it"
        raise WireError(f"{traces[rank][i]} of rank {rank}: {text}")


def _pair(node: Node, rank: int, groups: ProcessGroups, ranks: int) -> tuple[int, int, int]:
    """Returns sender, receiver and tag. Raises WireError."""
    there = _peer(node, rank, groups)
    if not 0 <= there < ranks or there == rank:
        raise WireError(f"{node} of rank {rank} names rank {there}; there are ranks 0 to {ranks - 1}")
    tag = node.number("comm_tag", 0)
    return (rank, there, tag) if node.type == SEND else (there, rank, tag)


def _peer(node: Node, rank: int, groups: ProcessGroups) -> int:
    """The rank at the other end: a node that names none, as PyTorch's converter leaves it, has the other one
    of a process group of two. Raises WireError."""
    name = "comm_dst" if node.type == SEND else "comm_src"
    if not node.has(name) and node.group:
        members = groups.members(node, rank)
        if members is None or len(members) != 2:
            text = f"no attribute {name}, and its process group {shown(node.group)}"
            size = "is not known" if members is None else f"has {len(members)} ranks, not two"
            raise WireError(f"{node} of rank {rank} has {text} {size}")
        return members[1] if members[0] == rank else members[0]
    return node.number(name)

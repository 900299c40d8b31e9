# SPDX-License-Identifier: GPL-2.0-or-later
"""Matches ranks' traces: which nodes are one collective, and which send a receive is of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ns3_env.scenario.traffic.chakra.order import Place
from ns3_env.scenario.traffic.chakra.trace import COLLECTIVE, RECEIVE, SEND, Node
from ns3_env.scenario.traffic.chakra.wire import WireError


@dataclass(frozen=True)
class Match:
    """``partners``: the ranks' nodes of each collective, by each of them; ``sender``: of each receive."""

    partners: dict[Place, list[Place]]
    sender: dict[Place, Place]


def match_nodes(traces: Sequence[Sequence[Node]], orders: Sequence[Sequence[int]]) -> Match:
    """Matches collectives by process group, sends and receives by ranks and tag, each in the ranks' orders.

    Raises:
        WireError: a node names a rank that there is not, a receive has no send.
    """
    calls: dict[tuple[str, int], list[Place]] = defaultdict(list)
    ends: dict[int, dict[tuple[int, int, int, int], Place]] = {SEND: {}, RECEIVE: {}}
    for rank, (trace, order) in enumerate(zip(traces, orders, strict=True)):
        count: dict[object, int] = defaultdict(int)
        for i in order:
            node = trace[i]
            if node.launches():
                continue
            if node.type == COLLECTIVE:
                group = node.text("pg_name")
                calls[group, count[group]].append((rank, i))
                count[group] += 1
            elif node.type in ends:
                ends_and_tag = _pair(node, rank, len(traces))
                pair = (*ends_and_tag, count[node.type, ends_and_tag])
                ends[node.type][pair] = (rank, i)
                count[node.type, ends_and_tag] += 1
    for pair, (rank, i) in ends[RECEIVE].items():
        if pair not in ends[SEND]:
            text = f"rank {rank} receives from rank {pair[0]} what that does not send"
            raise WireError(f"{traces[rank][i]}: {text}")
    sender = {place: ends[SEND][pair] for pair, place in ends[RECEIVE].items()}
    return Match({place: group for group in calls.values() for place in group}, sender)


def _pair(node: Node, rank: int, ranks: int) -> tuple[int, int, int]:
    """Returns sender, receiver and tag. Raises WireError."""
    there = node.number("comm_dst" if node.type == SEND else "comm_src")
    if not 0 <= there < ranks or there == rank:
        raise WireError(f"{node} of rank {rank} names rank {there}; there are ranks 0 to {ranks - 1}")
    tag = node.number("comm_tag", 0)
    return (rank, there, tag) if node.type == SEND else (there, rank, tag)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Order of a trace's nodes: the dependencies of each, and the turns of computation."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Sequence

from ns3_env.scenario.traffic.chakra.trace import Node

Place = tuple[int, int]  # rank, number of its node in the file
Unit = tuple[int, bool, int]  # rank, and Node.unit


def find_needs(trace: Sequence[Node]) -> list[list[int]]:
    """Numbers of the nodes that each depends on, without those that are not in the file."""
    number = {node.id: i for i, node in enumerate(trace)}
    return [[number[other] for other in node.after if other in number] for node in trace]


def sort_by_need(needs: Sequence[Sequence[int]]) -> list[int]:
    """The nodes in the order of the file, but each after its dependencies; circles come last."""
    open_needs = [len(set(node_needs)) for node_needs in needs]
    followers: list[list[int]] = [[] for _ in needs]
    for i, node_needs in enumerate(needs):
        for other in set(node_needs):
            followers[other].append(i)
    ready = [i for i, count in enumerate(open_needs) if count == 0]
    order: list[int] = []
    while ready:
        order.append(heapq.heappop(ready))
        for follower in followers[order[-1]]:
            open_needs[follower] -= 1
            if open_needs[follower] == 0:
                heapq.heappush(ready, follower)
    return order + [i for i, count in enumerate(open_needs) if count]


class Turns:
    """Turns of computation: each unit of a rank (``Node.unit``) computes one node after the other, and units
    in parallel.

    Args:
        traces: trace of each rank.
        orders: order of each rank's nodes.
    """

    def __init__(self, traces: Sequence[Sequence[Node]], orders: Sequence[Sequence[int]]) -> None:
        self._units: dict[Place, Unit] = {
            (rank, i): (rank, *node.unit)
            for rank, trace in enumerate(traces)
            for i, node in enumerate(trace)
            if node.takes_turns()
        }
        self._left: dict[Unit, deque[int]] = defaultdict(deque)
        for rank, order in enumerate(orders):
            for i in order:
                if (unit := self._units.get((rank, i))) is not None:
                    self._left[unit].append(i)
        self._last: dict[Unit, int] = {}
        self._early: set[Place] = set()
        self._early_in_order: list[Place] = []

    def before(self, place: Place) -> list[int]:
        """The rank's computation before this one, if there is any."""
        unit = self._units.get(place)
        return [self._last[unit]] if unit in self._last else []

    def may_begin(self, place: Place) -> bool:
        """Returns whether a node that waits for no other may start; keeps a computation out of its turn."""
        unit = self._units.get(place)
        if unit is None or self._left[unit][0] == place[1]:
            return True
        self._early.add(place)
        heapq.heappush(self._early_in_order, place)
        return False

    def first_early(self) -> list[Place]:
        """The first computation that was kept, for the case that nothing else can continue."""
        while self._early_in_order:
            if (first := heapq.heappop(self._early_in_order)) in self._early:
                return [first]
        return []

    def pass_on(self, place: Place) -> list[Place]:
        """Ends a node; returns the computation whose turn has come."""
        unit = self._units.get(place)
        if unit is None:
            return []
        rank, i = place
        self._early.discard(place)
        self._left[unit].remove(i)
        self._last[unit] = i
        following = (rank, self._left[unit][0]) if self._left[unit] else None
        if following not in self._early:
            return []
        self._early.discard(following)
        return [following]

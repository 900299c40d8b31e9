# SPDX-License-Identifier: GPL-2.0-or-later
"""Collective algorithms as lists of sends between ranks, each after those it needs.

The size is that of NCCL's tests: the data of each rank (all-reduce, all-to-all, broadcast), the input of a
rank to a reduce-scatter, the result of an all-gather. Rings, halving and doubling: Thakur 2005. Trees:
rank i's parent is (i - 1) // 2. In the network: Graham 2016.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

Algorithm = Literal[
    "ring_all_reduce",
    "hierarchical_all_reduce",
    "halving_doubling_all_reduce",
    "tree_all_reduce",
    "in_network_all_reduce",
    "reduce_scatter",
    "all_gather",
    "all_to_all",
    "hierarchical_all_to_all",
    "broadcast",
    "pipeline",
]


class Send(NamedTuple):
    """Bytes from a rank to another, after other sends of the list (by index) that brought its data."""

    src: int
    dst: int
    size_bytes: int
    after: tuple[int, ...] = ()


def sends(algorithm: Algorithm, ranks: int, size_bytes: int, node_ranks: int = 1) -> list[Send]:
    """The sends of a collective among ``ranks``, without those of no byte.

    Args:
        algorithm: algorithm of the collective.
        ranks: number of ranks; a hierarchical collective groups every ``node_ranks`` neighbours into a node,
            one in the network gives them a reducer. Reducers follow the ranks, the root last.
        size_bytes: size of each rank's data.
        node_ranks: a divisor of ``ranks``.
    """
    if algorithm == "hierarchical_all_reduce":
        return _hierarchical(ranks, size_bytes, node_ranks)
    if algorithm.endswith("all_to_all"):
        return sends_by_pair(algorithm, equal_parts([size_bytes] * ranks), node_ranks)
    if algorithm == "in_network_all_reduce":
        return _in_network(ranks, size_bytes, node_ranks)
    return _ALGORITHMS[algorithm](ranks, size_bytes)


def sends_by_pair(algorithm: Algorithm, parts: Sequence[Sequence[int]], node_ranks: int) -> list[Send]:
    """The sends of an all-to-all, flat or hierarchical; ``parts``: bytes that each rank has for each."""
    return _all_to_all(parts) if algorithm == "all_to_all" else _hierarchical_all_to_all(parts, node_ranks)


def count_reducers(ranks: int, node_ranks: int) -> int:
    """Reducers of a collective in the network: one for each group of ranks, and a root above several."""
    groups = -(-ranks // node_ranks)
    return groups + (groups > 1)


def count_pieces(size_bytes: int, chunk_bytes: int | None) -> int:
    """Chunks that a send of this size is cut into; None: it is not cut."""
    return 1 if chunk_bytes is None else -(-size_bytes // chunk_bytes)


def count_flows(
    algorithm: Algorithm, ranks: int, size_bytes: int, chunk_bytes: int | None, node_ranks: int = 1
) -> int:
    """Maximum number of flows of a collective, before any is made: exact if ranks divide the
    size."""
    segment = -(-size_bytes // ranks)
    if algorithm == "hierarchical_all_reduce":
        within = 2 * ranks * (node_ranks - 1) * count_pieces(-(-size_bytes // node_ranks), chunk_bytes)
        return within + 2 * ranks * (ranks // node_ranks - 1) * count_pieces(segment, chunk_bytes)
    if algorithm == "hierarchical_all_to_all":
        nodes = ranks // node_ranks
        within, across = (count_pieces(segment * parts, chunk_bytes) for parts in (1, node_ranks))
        return ranks * ((node_ranks - 1) * nodes * within + (nodes - 1) * across)
    if algorithm == "halving_doubling_all_reduce":
        return (
            2 * ranks * sum(count_pieces(segment << i, chunk_bytes) for i in range((ranks - 1).bit_length()))
        )
    if algorithm == "in_network_all_reduce":
        edges = ranks + count_reducers(ranks, node_ranks) - 1
        return 2 * edges * count_pieces(size_bytes, chunk_bytes)
    if algorithm in ("tree_all_reduce", "broadcast", "pipeline"):
        return (
            (2 if algorithm == "tree_all_reduce" else 1) * (ranks - 1) * count_pieces(size_bytes, chunk_bytes)
        )
    return (
        (2 if algorithm == "ring_all_reduce" else 1)
        * ranks
        * (ranks - 1)
        * count_pieces(segment, chunk_bytes)
    )


def bounds(ranks: int, size_bytes: int) -> list[int]:
    """Returns the offsets of the data's segments, one of each rank, and the end; segments differ by a byte at
    most."""
    return [i * size_bytes // ranks for i in range(ranks + 1)]


def _ring(ranks: int, size_bytes: int, rounds: int) -> list[Send]:
    """In round k rank r sends segment r - k to r + 1, once it has it: from its neighbour's round before."""
    edge = bounds(ranks, size_bytes)
    sendings = []
    for k in range(rounds):
        for r in range(ranks):
            segment = (r - k) % ranks
            before = ((k - 1) * ranks + (r - 1) % ranks,) if k else ()
            sendings.append(Send(r, (r + 1) % ranks, edge[segment + 1] - edge[segment], before))
    return sendings


def _hierarchical(ranks: int, size_bytes: int, node_ranks: int) -> list[Send]:
    """Two levels of rings: within each node a reduce-scatter, then among the ranks of a place in all nodes an
    all-reduce of the segment that they have, then within each node an all-gather."""
    edge, nodes = bounds(node_ranks, size_bytes), ranks // node_ranks
    ring = _ring(node_ranks, size_bytes, 2 * (node_ranks - 1))
    half = len(ring) // 2
    within = [range(node * node_ranks, (node + 1) * node_ranks) for node in range(nodes)]
    sendings: list[Send] = []
    for members in within:
        sendings += _among(members, ring[:half], len(sendings))
    reduced = _received(sendings, 0, ranks)
    for place in range(node_ranks):
        segment = (place + 1) % node_ranks
        across = _ring(nodes, edge[segment + 1] - edge[segment], 2 * (nodes - 1))
        members = range(place, ranks, node_ranks)
        sendings += _among(members, across, len(sendings), reduced, len(across) // 2)
    complete = _received(sendings, nodes * half, ranks) if nodes > 1 else reduced
    gather = [x._replace(after=tuple(i - half for i in x.after if i >= half)) for x in ring[half:]]
    for members in within:
        sendings += _among(members, gather, len(sendings), complete, node_ranks)
    return sendings


def _among(
    members: Sequence[int],
    part: Sequence[Send],
    before: int,
    ready: Sequence[tuple[int, ...]] = (),
    first: int = 0,
) -> list[Send]:
    """The sends of a part among these ranks, after ``before`` earlier ones; the ``first`` ones wait for the
    tasks that make their rank ready."""
    return [
        Send(
            members[send.src],
            members[send.dst],
            send.size_bytes,
            (*(before + j for j in send.after), *(ready[members[send.src]] if i < first else ())),
        )
        for i, send in enumerate(part)
    ]


def _received(sendings: Sequence[Send], begin: int, ranks: int) -> list[tuple[int, ...]]:
    """The sends from ``begin`` on whose receiver is a rank, by rank."""
    brought: list[list[int]] = [[] for _ in range(ranks)]
    for i in range(begin, len(sendings)):
        brought[sendings[i].dst].append(i)
    return [tuple(numbers) for numbers in brought]


def _halving_doubling(ranks: int, size_bytes: int) -> list[Send]:
    """Ranks half the ranks apart swap halves of the data, then a quarter apart quarters, and back."""
    edge = bounds(ranks, size_bytes)
    sendings: list[Send] = []
    begins = [0] * ranks
    inputs: list[tuple[int, ...]] = [()] * ranks  # all that a rank has received: it sends the sum
    half = ranks // 2
    distances = []
    while half:
        distances.append(half)
        half //= 2
    for d in distances:
        now = []
        for r in range(ranks):
            keeps = begins[r] + (d if r & d else 0)
            gives = begins[r] + (0 if r & d else d)
            now.append((keeps, len(sendings)))
            sendings.append(Send(r, r ^ d, edge[gives + d] - edge[gives], inputs[r]))
        begins = [keeps for keeps, _ in now]
        inputs = [(*inputs[r], now[r ^ d][1]) for r in range(ranks)]
    for d in reversed(distances):
        numbers = []
        for r in range(ranks):
            numbers.append(len(sendings))
            sendings.append(Send(r, r ^ d, edge[begins[r] + d] - edge[begins[r]], inputs[r]))
        begins = [begin & ~d for begin in begins]
        inputs = [(*inputs[r], numbers[r ^ d]) for r in range(ranks)]
    return sendings


def _up(ranks: int, size_bytes: int) -> list[Send]:
    """Sends to the root: each rank's follows its children's."""
    sendings: list[Send] = []
    number: dict[int, int] = {}
    for r in range(ranks - 1, 0, -1):
        after = tuple(number[child] for child in (2 * r + 1, 2 * r + 2) if child < ranks)
        number[r] = len(sendings)
        sendings.append(Send(r, (r - 1) // 2, size_bytes, after))
    return sendings


def _down(ranks: int, size_bytes: int, before: int = 0, after: tuple[int, ...] = ()) -> list[Send]:
    """Sends from the root, after the sends ``after``; ``before``: number of earlier sends."""
    inputs = {0: after}
    sendings = []
    for r in range(1, ranks):
        sendings.append(Send((r - 1) // 2, r, size_bytes, inputs[(r - 1) // 2]))
        inputs[r] = (before + len(sendings) - 1,)
    return sendings


def _tree(ranks: int, size_bytes: int) -> list[Send]:
    up = _up(ranks, size_bytes)
    at_root = tuple(i for i, send in enumerate(up) if send.dst == 0)
    return up + _down(ranks, size_bytes, len(up), at_root)


def _in_network(ranks: int, size_bytes: int, node_ranks: int) -> list[Send]:
    """Each rank's data to its reducer, sums to the root, and the result to all."""
    reducers = range(ranks, ranks + count_reducers(ranks, node_ranks))
    root = reducers[-1]
    leaves = reducers[:-1] or reducers
    up = [Send(r, leaves[r // node_ranks], size_bytes) for r in range(ranks)]
    inputs = _received(up, 0, root + 1)
    sums = [Send(leaf, root, size_bytes, inputs[leaf]) for leaf in leaves if leaf != root]
    result = {root: inputs[root] or tuple(range(ranks, ranks + len(sums)))}
    below = [Send(root, leaf, size_bytes, result[root]) for leaf in leaves if leaf != root]
    result |= {send.dst: (ranks + len(sums) + i,) for i, send in enumerate(below)}
    down = [Send(send.dst, send.src, size_bytes, result[send.dst]) for send in up]
    return [*up, *sums, *below, *down]


def equal_parts(sizes: Sequence[int]) -> list[list[int]]:
    """Bytes that each rank has for each, of its size the same for all, to a byte."""
    edges = {size: bounds(len(sizes), size) for size in set(sizes)}
    rows = {size: [end - begin for begin, end in pairwise(edge)] for size, edge in edges.items()}
    return [rows[size] for size in sizes]


def _all_to_all(parts: Sequence[Sequence[int]]) -> list[Send]:
    """All at once; a rank starts with its next one, so that not all start with the same."""
    ranks = len(parts)
    pairs = [(r, (r + k) % ranks) for k in range(1, ranks) for r in range(ranks)]
    return [Send(src, dst, size) for src, dst in pairs if (size := parts[src][dst])]


def _hierarchical_all_to_all(parts: Sequence[Sequence[int]], node_ranks: int) -> list[Send]:
    """Two levels: data for a rank of another node goes to the rank at the same place in the sender's node,
    which sends all of the node's data for it together. ``node_ranks`` neighbours are a node.
    """
    count = len(parts)
    sendings: list[Send] = []
    ready: dict[tuple[int, int], list[int]] = {}  # for a rank of another node, by who passes it on
    for away in (*range(node_ranks, count, node_ranks), 0):
        for k in range(1, node_ranks):
            for r in range(count):
                node, place = divmod(r, node_ranks)
                by = node * node_ranks + (place + k) % node_ranks
                to = (by + away) % count
                if parts[r][to]:
                    ready.setdefault((by, to), []).append(len(sendings))
                    sendings.append(Send(r, by, parts[r][to]))
    for away in range(node_ranks, count, node_ranks):
        for r in range(count):
            begin, to = r // node_ranks * node_ranks, (r + away) % count
            if size := sum(parts[near][to] for near in range(begin, begin + node_ranks)):
                sendings.append(Send(r, to, size, tuple(ready.get((r, to), ()))))
    return sendings


def ranks_of_a_node(ranks: Sequence[int], node_ranks: int) -> int:
    """Number of these ranks that each node has, of ``node_ranks`` neighbours; 1 if nodes differ."""
    counts = set(Counter(rank // node_ranks for rank in ranks).values())
    return counts.pop() if len(counts) == 1 else 1


def _pipeline(ranks: int, size_bytes: int) -> list[Send]:
    return [Send(r, r + 1, size_bytes, (r - 1,) if r else ()) for r in range(ranks - 1)]


_ALGORITHMS: dict[str, Callable[[int, int], list[Send]]] = {
    "ring_all_reduce": lambda ranks, size: _ring(ranks, size, 2 * (ranks - 1)),
    "halving_doubling_all_reduce": _halving_doubling,
    "tree_all_reduce": _tree,
    "reduce_scatter": lambda ranks, size: _ring(ranks, size, ranks - 1),
    "all_gather": lambda ranks, size: _ring(ranks, size, ranks - 1),
    "broadcast": _down,
    "pipeline": _pipeline,
}

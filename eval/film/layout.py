# SPDX-License-Identifier: GPL-2.0-or-later
"""Places of a network's nodes in a picture: a chain, tiers, or a graph's layout."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ns3_env.scenario.topology import Network

#: (n, 2) by node: x to the right, y down, in units of about one node's room.
Places = npt.NDArray[np.float64]

#: Maximum number of hosts in a row at a switch of a tier.
_HOSTS_IN_ROW = 8
#: Nodes up to which the best shape is computed by springs: the time grows with their cube.
_MANY_NODES = 150


def places(network: Network) -> Places:
    """Places each node: switches in a row are a chain, switches in tiers lie above their hosts."""
    neighbours = _neighbours(network)
    switches = [node for node, kind in enumerate(network.nodes) if kind == "switch"]
    chain = _chain(switches, neighbours)
    if chain:
        return _along(chain, network, neighbours)
    tiers = _tiers(network, neighbours)
    return _graph(network) if tiers is None else _in_tiers(network, tiers, neighbours)


def _neighbours(network: Network) -> dict[int, list[int]]:
    neighbours: dict[int, list[int]] = defaultdict(list)
    for link in network.links:
        neighbours[link.a].append(link.b)
        neighbours[link.b].append(link.a)
    return neighbours


def _hosts_at(switch: int, network: Network, neighbours: Mapping[int, Sequence[int]]) -> list[int]:
    return sorted(node for node in neighbours[switch] if network.nodes[node] != "switch")


def _chain(switches: Sequence[int], neighbours: Mapping[int, Sequence[int]]) -> list[int]:
    """The switches from one end to the other, the lower id first; [] if they form no chain."""
    nodes = set(switches)
    beside = {switch: [node for node in neighbours[switch] if node in nodes] for switch in switches}
    ends = sorted(switch for switch in switches if len(beside[switch]) == 1)
    if len(ends) != 2 or any(len(others) > 2 for others in beside.values()):
        return []
    chain = [ends[0]]
    while len(chain) < len(switches):
        onward = [node for node in beside[chain[-1]] if node not in chain[-2:]]
        if not onward:
            return []
        chain += onward
    return chain


def _along(chain: Sequence[int], network: Network, neighbours: Mapping[int, Sequence[int]]) -> Places:
    """Switches from left to right; hosts left of the first, right of the last, above and below the rest."""
    places = np.zeros((len(network.nodes), 2))
    for place, switch in enumerate(chain):
        x = 3.0 * place
        places[switch] = x, 0.0
        hosts = _hosts_at(switch, network, neighbours)
        if place in (0, len(chain) - 1):
            side = -1 if place == 0 else 1
            columns = math.ceil(len(hosts) / 24)
            rows = math.ceil(len(hosts) / max(columns, 1))
            for i, host in enumerate(hosts):
                column, row = divmod(i, rows)
                here = min(rows, len(hosts) - column * rows)
                spread = 0.6 if here < 12 else 7.0 / here
                places[host] = x + side * (2.2 + 0.8 * column), (row - (here - 1) / 2) * spread
            continue
        for i, host in enumerate(hosts):
            side = 1 if i % 2 else -1
            along = (i // 2 - (len(hosts) // 2 - 1) / 2) * 0.6 if len(hosts) > 1 else 0.0
            places[host] = x + along, 1.5 * side
    return places


def _tiers(network: Network, neighbours: Mapping[int, Sequence[int]]) -> list[list[int]] | None:
    """Nodes by their distance from the hosts; None if a link joins two of one tier."""
    rank = dict.fromkeys(network.access, 0)
    todo = list(rank)
    for node in todo:
        for other in neighbours[node]:
            if other not in rank:
                rank[other] = rank[node] + 1
                todo.append(other)
    if any(abs(rank[link.a] - rank[link.b]) != 1 for link in network.links):
        return None
    return [[n for n in sorted(rank) if rank[n] == tier] for tier in range(max(rank.values()) + 1)]


def _in_tiers(
    network: Network, tiers: Sequence[Sequence[int]], neighbours: Mapping[int, Sequence[int]]
) -> Places:
    """Hosts in blocks below their switch, the highest tier at the top."""
    places = np.zeros((len(network.nodes), 2))
    access = tiers[1]
    most = max(len(_hosts_at(switch, network, neighbours)) for switch in access)
    columns = min(most, _HOSTS_IN_ROW, max(4, math.ceil(48 / len(access))))
    block, rows = 0.5 * columns + 0.6, math.ceil(most / columns)
    width = block * len(access)
    step = max(1.2, 0.42 * width / (len(tiers) + 0.35 * rows))
    for i, switch in enumerate(access):
        centre = (i + 0.5) * block
        places[switch] = centre, 0.0
        hosts = _hosts_at(switch, network, neighbours)
        for k, host in enumerate(hosts):
            row, column = divmod(k, columns)
            here = min(columns, len(hosts) - row * columns)
            places[host] = centre + (column - (here - 1) / 2) * 0.5, 0.75 * step + row * 0.42 * min(step, 1.6)
    for height, tier in enumerate(tiers[2:], start=1):
        for i, switch in enumerate(tier):
            places[switch] = (i + 0.5) * width / len(tier), -height * step
    return places


def _graph(network: Network) -> Places:
    """Places nodes as springs would, by networkx's layouts."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(len(network.nodes)))
    graph.add_edges_from((link.a, link.b) for link in network.links)
    few = len(network.nodes) <= _MANY_NODES
    layout = networkx.kamada_kawai_layout(graph) if few else networkx.spring_layout(graph, seed=1)
    scale = 1.2 * math.sqrt(len(network.nodes))
    return np.array([layout[node] for node in range(len(network.nodes))], np.float64) * scale

# SPDX-License-Identifier: GPL-2.0-or-later
"""Random networks and traffic on which the published simulator and this one have to agree.

One host rate, link rates of HPCC's table, at most five switches between two hosts, buffers of whole MiB
(docs/against-the-published-simulator.md).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ns3_env.eval.papers.published.published_files import (
    HPCC_RATES,
    NetworkFlow,
    NetworkLink,
    PublishedNetwork,
)
from ns3_env.scenario.topology.published import nanoseconds

_HOST_RATES = HPCC_RATES[:4]
#: Flows start from here on, as in the published files (s).
_FIRST_START_S = 2
_MOST_BYTES = 30_000_000  # of one network's flows: a minute of the published simulator
_RESERVE_BYTES = 4096

#: The number of hosts of each switch, and the pairs of linked switches.
Shape = tuple[list[int], list[tuple[int, int]]]


def _dumbbell(random: np.random.Generator) -> Shape:
    """Two switches: up to 16 hosts at one, up to three at the other."""
    return [int(random.integers(2, 17)), int(random.integers(1, 4))], [(0, 1)]


def _chain(random: np.random.Generator) -> Shape:
    n = int(random.integers(3, 6))
    return [int(x) for x in random.integers(1, 5, n)], [(i, i + 1) for i in range(n - 1)]


def _tree(random: np.random.Generator) -> Shape:
    """A root, its children, and theirs, which have the hosts."""
    middle = int(random.integers(2, 4))
    hosts, links = [0] * (1 + middle), [(0, 1 + i) for i in range(middle)]
    for i in range(middle):
        for _ in range(int(random.integers(1, 4))):
            links.append((1 + i, len(hosts)))
            hosts.append(int(random.integers(1, 5)))
    return hosts, links


def _leaf_spine(random: np.random.Generator) -> Shape:
    leaves, spines = int(random.integers(2, 5)), int(random.integers(1, 5))
    hosts = [int(x) for x in random.integers(1, 9, leaves)] + [0] * spines
    return hosts, [(leaf, leaves + spine) for leaf in range(leaves) for spine in range(spines)]


def _mesh(random: np.random.Generator) -> Shape:
    """Up to five switches with random links."""
    n = int(random.integers(3, 6))
    links = {(int(random.integers(0, b)), b) for b in range(1, n)}
    for _ in range(int(random.integers(1, n))):
        a, b = sorted(int(x) for x in random.choice(n, 2, replace=False))
        links.add((a, b))
    return [int(x) for x in random.integers(1, 5, n)], sorted(links)


_FAMILIES: dict[str, Callable[[np.random.Generator], Shape]] = {
    "dumbbell": _dumbbell,
    "chain": _chain,
    "tree": _tree,
    "leaf_spine": _leaf_spine,
    "mesh": _mesh,
}


def draw_network(seed: int, number: int) -> PublishedNetwork:
    """The network of this number; families alternate. The same seed and number: the same network."""
    random = np.random.default_rng([seed, number])
    family = list(_FAMILIES)[number % len(_FAMILIES)]
    hosts, joined = _FAMILIES[family](random)
    if sum(hosts) < 2:
        hosts[hosts.index(1)] = 2
    nodes = len(hosts) + sum(hosts)
    ids = [int(x) for x in random.permutation(nodes)]
    switches, ends = ids[: len(hosts)], iter(ids[len(hosts) :])
    host_rate = int(random.choice(_HOST_RATES))
    core_rates = random.choice(HPCC_RATES, int(random.integers(1, 3)))
    access_delay = _delay(random)
    links = [
        NetworkLink(next(ends), switches[at], host_rate, access_delay)
        for at, count in enumerate(hosts)
        for _ in range(count)
    ]
    links += [
        NetworkLink(switches[a], switches[b], int(random.choice(core_rates)), _delay(random))
        for a, b in joined
    ]
    links = [links[i] for i in random.permutation(len(links))]
    return PublishedNetwork(
        name=f"{number:03d}-{family}",
        nodes=nodes,
        switches=sorted(switches),
        links=links,
        flows=_flows(random, ids[len(hosts) :]),
        host_rate_gbps=host_rate,
        buffer_mib=_buffer_mib(random, switches, links),
    )


def _delay(random: np.random.Generator) -> str:
    """A delay in whole nanoseconds, or with decimals that a double cannot represent."""
    ns = int(random.choice([100, 350, 500, 1000, 2000, 5000]))
    if random.random() < 0.5:
        ns += int(random.integers(0, 50)) * 10
    return str(random.choice([f"{ns}ns", f"{ns / 1e3:g}us", f"{ns / 1e6:g}ms"]))


def _buffer_mib(random: np.random.Generator, switches: list[int], links: list[NetworkLink]) -> int:
    """A buffer small enough to lose packets, but more than twice the committed bytes of every switch."""
    committed = dict.fromkeys(switches, 0.0)
    for link in links:
        delay_s = _delay_ns(link.delay) * 1e-9
        for end in (link.a, link.b):
            if end in committed:
                committed[end] += 3 * link.rate_gbps * 1e9 / 8 * delay_s + _RESERVE_BYTES
    least = 2 * max(committed.values()) / 2**20
    return next((size for size in random.permutation([1, 2, 4, 8, 16, 32]).tolist() if size > least), 64)


def _delay_ns(delay: str) -> int:
    unit = delay.lstrip("0123456789.")
    return nanoseconds(delay.removesuffix(unit), unit)


def _flows(random: np.random.Generator, hosts: list[int]) -> list[NetworkFlow]:
    """Flows of 1 kB to 2 MB between random hosts within 200 us, and incasts among them."""
    span_ns = int(random.choice([1000, 50_000, 200_000]))
    rows: list[tuple[int, int, int, int]] = []
    total = 0
    while total < _MOST_BYTES and len(rows) < 8 * len(hosts):
        size = int(10 ** random.uniform(3, 6.3))
        start = int(random.integers(0, span_ns))
        if random.random() < 0.2:
            receiver, *senders = random.permutation(hosts)[: int(random.integers(2, 17))].tolist()
            apart = int(random.choice([0, 1, 140]))
            rows += [(start + i * apart, sender, receiver, size) for i, sender in enumerate(senders)]
            total += size * len(senders)
        else:
            src, dst = random.choice(hosts, 2, replace=False).tolist()
            rows.append((start, src, dst, size))
            total += size
    return [
        NetworkFlow(src, dst, size, f"{_FIRST_START_S}.{start:09d}")
        for start, src, dst, size in sorted(rows, key=lambda row: row[0])
    ]

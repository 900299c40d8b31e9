# SPDX-License-Identifier: GPL-2.0-or-later
"""Families of networks and traffic that episodes are drawn from, each with its own parameters.

Sizes come from parametric distributions, given by their quantiles; no published workload is among them. They
are small or large relative to the bandwidth-delay product (BDP) of a drawn network's longest path.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator

Ends = tuple[int | float, int | float]


def ascending(ends: Ends) -> Ends:
    """The ends of a range. Raises ValueError if they are invalid."""
    if not 0 < ends[0] <= ends[1]:
        raise ValueError(f"a range is [least, largest], above 0: not {list(ends)}")
    return ends


#: Least and largest value; whole numbers if both are.
Range = Annotated[Ends, AfterValidator(ascending)]


def draw(ends: Ends, random: np.random.Generator) -> int | float:
    """A number of the range, its logarithm uniform: 25 to 100 is as likely as 100 to 400."""
    value = float(np.exp(random.uniform(np.log(ends[0]), np.log(ends[1]))))
    return round(value) if all(isinstance(end, int) for end in ends) else value


Keys = dict[str, Any]
Random = np.random.Generator
Points = list[list[float]]

#: Quantiles that describe a distribution, percent, and the least and largest size, bytes.
_PERCENTS = (0, 1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.9, 100)
_LEAST, _MOST = 64.0, 2e7
_PAYLOAD = 1000
#: Share of the capacity of links between switches: beyond it queues grow while flows arrive.
_BUSIEST = 0.85
#: Limits that PFC's headrooms in a switch's buffer set: bits on a host's link, an uplink's rate, senders.
_MOST_ON_LINK, _FASTEST, _MOST_SENDERS = 6e5, 1.6e12, 32


@dataclass(frozen=True)
class Ranges:
    """Ranges that networks and traffic are drawn from, and bytes of an episode."""

    rates_bps: Ends
    delays_ns: Ends
    oversubscription: Ends
    loads: Ends
    fan_in: Ends
    incast_flows: Ends
    flows: int
    packets: int


@dataclass(frozen=True)
class Place:
    """A drawn network: its keys, hosts, the BDP of its longest path (bytes), the load that it can carry."""

    topology: Keys
    hosts: int
    rate_bps: float
    bdp: float
    most_load: float


def fabric(of: Ranges, random: Random) -> Place:
    """A leaf-spine network, or, two times of five, a three-level fat-tree of 16 hosts, not oversubscribed."""
    rate, delay = _link(of, random)
    if random.random() < 0.4:
        tree = {"kind": "fat_tree_3", "rate_bps": rate, "fabric_bps": 4 * rate, "delay_ns": delay}
        return Place(tree, 16, rate, _bdp(rate, delay, 6), 1.0)
    per_leaf, spines = int(random.integers(3, 9)), int(random.integers(1, 5))
    over = float(draw(of.oversubscription, random))
    leaves = {"kind": "leaf_spine", "leaves": 4, "spines": spines, "hosts_per_leaf": per_leaf}
    uplink = min(rate * per_leaf / (spines * over), _FASTEST)
    topology = {**leaves, "rate_bps": rate, "uplink_bps": uplink, "delay_ns": delay}
    return Place(topology, 4 * per_leaf, rate, _bdp(rate, delay, 4), min(1.0, _BUSIEST / (0.75 * over)))


def dumbbell(of: Ranges, random: Random, senders: int) -> Place:
    """Senders to one receiver over one link; several flows each if there are many."""
    rate, delay = _link(of, random)
    senders = min(senders, _MOST_SENDERS)
    topology = {"kind": "dumbbell", "senders": senders, "rate_bps": rate, "delay_ns": delay}
    return Place(topology, senders + 1, rate, _bdp(rate, delay, 3), 1.0)


def _link(of: Ranges, random: Random) -> tuple[float, int]:
    """Rate (bit/s) and delay (ns) of a host's link."""
    rate, delay = float(draw(of.rates_bps, random)), float(draw(of.delays_ns, random))
    return rate, round(max(min(delay, _MOST_ON_LINK * 1e9 / rate), of.delays_ns[0]))


def _bdp(rate_bps: float, delay_ns: float, links: int) -> float:
    return rate_bps / 8e9 * 2 * links * delay_ns + links * 1048


def _points(quantile: Callable[[float], float]) -> Points:
    """Points (bytes, percent) of a distribution, within the least and the largest size."""
    shares = [min(max(percent / 100, 5e-4), 1 - 5e-4) for percent in _PERCENTS]
    sizes = [round(min(max(quantile(share), _LEAST), _MOST)) for share in shares]
    return [[float(size), float(percent)] for size, percent in zip(sizes, _PERCENTS, strict=True)]


def _lognormal(median: float, sigma: float) -> Points:
    return _points(lambda share: median * math.exp(sigma * NormalDist().inv_cdf(share)))


def _mixture(small: float, large: float, share_small: float, sigma: float) -> Points:
    """Two lognormal distributions, their medians apart, by their common quantiles."""
    grid = np.geomspace(_LEAST, _MOST, 400)
    normal = NormalDist(0.0, sigma)
    below = [
        share_small * normal.cdf(math.log(x / small)) + (1 - share_small) * normal.cdf(math.log(x / large))
        for x in grid
    ]
    return _points(lambda share: float(np.interp(share, below, grid)))


def _weibull(scale: float, shape: float) -> Points:
    return _points(lambda share: scale * (-math.log1p(-share)) ** (1 / shape))


def _uniform(least: float, most: float) -> Points:
    return [[float(round(max(least, _LEAST))), 0.0], [float(round(most)), 100.0]]


def _mean(points: Points) -> float:
    return sum((q - p) / 100 * (x + y) / 2 for (x, p), (y, q) in itertools.pairwise(points))


def _arrivals(of: Ranges, place: Place, sizes: Points, load: float, share: float = 1.0) -> Keys:
    """Poisson arrivals for as long as ``share`` of an episode's flows and packets need."""
    load = min(load, place.most_load)
    mean = _mean(sizes)
    count = share * min(of.flows, of.packets / max(mean / _PAYLOAD, 1.0))
    duration = max(count * 8e9 * mean / (load * place.rate_bps * place.hosts), 1000.0)
    return {"kind": "poisson", "sizes": sizes, "load": round(load, 4), "duration_ns": round(duration)}


def _mixed_sizes(random: Random) -> Points:
    if random.random() < 0.5:
        return _lognormal(draw((1e3, 1e5), random), random.uniform(0.8, 2.2))
    medians = draw((300.0, 2e4), random), draw((1e5, 3e6), random)
    return _mixture(*medians, random.uniform(0.3, 0.9), 0.9)


def _bursts(of: Ranges, random: Random, sizes: Points) -> Keys:
    """Repeated incasts among arrivals of these sizes: 2 to 15 % of the load."""
    place = fabric(of, random)
    load = min(float(draw(of.loads, random)), 0.6)
    part = _arrivals(of, place, sizes, load, 0.6)
    size = round(place.bdp * draw((0.15, 3.0), random))
    fan_in = min(round(draw(of.fan_in, random)), place.hosts - 1)
    again = float(draw((0.02, 0.15), random))
    # The number that fits into an episode's packets, once arrivals have started.
    most = 0.4 * of.packets * _PAYLOAD * 8e9 / (again * place.rate_bps * place.hosts)
    duration = round(max(min(part["duration_ns"], most), 1000.0))
    incast = {"kind": "poisson_incast", "fan_in": fan_in, "size_bytes": size, "load": round(again, 4)}
    traffic = {"kind": "mix", "parts": [part, {**incast, "duration_ns": duration}]}
    return {"topology": place.topology, "traffic": traffic}


def _over(of: Ranges, random: Random, sizes: Callable[[Place], Points]) -> Keys:
    place = fabric(of, random)
    traffic = _arrivals(of, place, sizes(place), float(draw(of.loads, random)))
    return {"topology": place.topology, "traffic": traffic}


def workload(of: Ranges, random: Random) -> Keys:
    """Poisson arrivals; sizes lognormal, or of two lognormal kinds."""
    return _over(of, random, lambda place: _mixed_sizes(random))


def short(of: Ranges, random: Random) -> Keys:
    """Poisson arrivals of flows that are nearly all sent before the first ACK."""

    def sizes(place: Place) -> Points:
        return _lognormal(place.bdp * draw((0.02, 0.4), random), random.uniform(0.3, 0.8))

    return _over(of, random, sizes)


def bursts(of: Ranges, random: Random) -> Keys:
    """Incasts of equal flows, of a sixth of a BDP to three, again and again among a workload's flows."""
    return _bursts(of, random, _mixed_sizes(random))


def incast(of: Ranges, random: Random) -> Keys:
    """Equal flows, of a third of a BDP to thirty, into one receiver within 100 µs."""
    flows = round(draw(of.incast_flows, random))
    place = dumbbell(of, random, flows)
    size = min(place.bdp * draw((0.3, 30.0), random), of.packets * _PAYLOAD / flows)
    spread = round(random.uniform(0, 1e5))
    return {
        "topology": place.topology,
        "traffic": {
            "kind": "incast",
            "flows": flows,
            "size_bytes": round(max(size, _LEAST)),
            "spread_ns": spread,
        },
    }


def joining(of: Ranges, random: Random) -> Keys:
    """Two to six long flows of different sizes join one link at different times."""
    flows = int(random.integers(2, 7))
    place = dumbbell(of, random, flows)
    sizes = [min(place.bdp * draw((5.0, 200.0), random), of.packets * _PAYLOAD / flows) for _ in range(flows)]
    busy_ns = sum(sizes) * 8e9 / place.rate_bps
    starts = np.sort(random.uniform(0, 0.6 * busy_ns, flows))
    return _listed(place, sizes, starts.tolist())


def heavy(of: Ranges, random: Random) -> Keys:
    """Poisson arrivals of Weibull sizes, some very much larger than most."""
    scale, shape = float(draw((1e3, 2e4), random)), random.uniform(0.35, 0.7)
    return _over(of, random, lambda place: _weibull(scale, shape))


def even(of: Ranges, random: Random) -> Keys:
    """Poisson arrivals of sizes uniform up to a tenth of a BDP, or up to ten."""
    return _over(of, random, lambda place: _uniform(_LEAST, place.bdp * draw((0.1, 10.0), random)))


def heavy_bursts(of: Ranges, random: Random) -> Keys:
    """Incasts again and again among flows of Weibull sizes."""
    return _bursts(of, random, _weibull(draw((1e3, 2e4), random), random.uniform(0.35, 0.7)))


def unequal(of: Ranges, random: Random) -> Keys:
    """Flows of lognormal sizes into one receiver within 100 µs."""
    flows = round(draw(of.incast_flows, random))
    place = dumbbell(of, random, flows)
    raw_sizes = place.bdp * draw((0.3, 10.0), random) * np.exp(random.normal(0.0, 1.0, flows))
    sizes = raw_sizes * min(1.0, of.packets * _PAYLOAD / raw_sizes.sum())
    return _listed(place, sizes.tolist(), random.uniform(0, 1e5, flows).tolist())


def _listed(place: Place, sizes: Sequence[float], starts: Sequence[float]) -> Keys:
    receiver = place.hosts - 1
    listed = [
        {
            "src": i % receiver,
            "dst": receiver,
            "start_ns": round(start),
            "size_bytes": round(max(size, _LEAST)),
        }
        for i, (size, start) in enumerate(zip(sizes, starts, strict=True))
    ]
    return {"topology": place.topology, "traffic": {"kind": "list", "flows": listed}}


#: Every family, by the name that a configuration gives it.
FAMILIES: dict[str, Callable[[Ranges, Random], Keys]] = {
    family.__name__: family
    for family in (workload, short, bursts, incast, joining, heavy, even, heavy_bursts, unequal)
}

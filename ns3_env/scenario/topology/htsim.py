# SPDX-License-Identifier: GPL-2.0-or-later
"""Fat-trees of htsim's topology files (.topo)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, TextIO

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS
from ns3_env.config.model import shown
from ns3_env.scenario.topology.file_topology import FileTopology
from ns3_env.scenario.topology.kind import GBPS, Graph, GraphLink

_WHOLE = re.compile(r"\d{1,9}")
_HEADS = ("nodes", "tiers", "podsize")
#: Of a tier; those of queues are ignored: a scenario's switches have one buffer for all ports.
_OF_TIER = (
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "radix_down",
    "radix_up",
    "switch_latency_ns",
    "bundle",
    "oversubscribed",
    "queue_up",
    "queue_down",
)
#: Keys that a tier must have; the last one not in the highest tier.
_NEEDED = ("downlink_speed_gbps", "downlink_latency_ns", "radix_down", "radix_up")


@dataclass
class _Tier:
    """Numbers of a tier's switches, and of their links down, by their names in small letters."""

    line: int
    numbers: dict[str, int] = field(default_factory=dict)

    def get(self, name: str) -> int:
        """A number, or the default if the file omits it."""
        return self.numbers.get(name, 1 if name == "bundle" else 0)


class HtsimTopology(FileTopology):
    """A fat-tree of two or three tiers as a .topo file of htsim has it (csg-htsim, ATLAHS, ASTRA-sim).

    Numbers of hosts, tiers and hosts of a pod, then of each tier from below the radix of its switches, rate
    and latency of its links down, and how many of them run side by side (``Bundle``), which are one link with
    their rates together. A switch's latency is shared by the links at it, a half each. Hosts come first, then
    ToRs, aggregation and core switches.
    """

    kind: Literal["htsim"] = "htsim"

    def _take(self, text: TextIO) -> None:
        heads: dict[str, int] = {}
        tiers: list[_Tier] = []
        for line, row in enumerate(text, start=1):
            words = row.partition("#")[0].split()
            if not words:
                continue
            name = words[0].lower()
            if len(words) != 2 or not _WHOLE.fullmatch(words[1]):
                self._wrong.add(line, f"{shown(row.strip())} where a name and a whole number should stand")
            elif name == "tier" and int(words[1]) == len(tiers) < 3:
                tiers.append(_Tier(line))
            elif name in (_OF_TIER if tiers else _HEADS):
                (tiers[-1].numbers if tiers else heads)[name] = int(words[1])
            else:
                places = ", ".join(_OF_TIER if tiers else _HEADS)
                self._wrong.add(line, f"{shown(row.strip())}; {places} may stand here, or the next Tier")
        for i, tier in enumerate(tiers):
            needed = _NEEDED if i + 1 < len(tiers) else _NEEDED[:-1]
            if missing := [name for name in needed if name not in tier.numbers]:
                self._wrong.add(tier.line, f"{', '.join(missing)} is missing in this Tier")
                continue
            keys = {"a": 0, "b": 1, "rate_bps": _rate(tier), "delay_ns": _delay_ns(tiers, i)}
            self._link(tier.line, keys, "links down, those of a Bundle together: ")
        if len(self._wrong):
            return
        try:
            missing = [name for name in _HEADS if not heads.get(name)]
            if missing or heads["tiers"] != len(tiers) or len(tiers) < 2:
                raise ValueError(f"Nodes, Podsize and 2 or 3 Tiers should stand here; there are {len(tiers)}")
            self._graph = _fat_tree(heads["nodes"], heads["podsize"], tiers)
        except ValueError as error:
            self._wrong.add(tiers[-1].line if tiers else 0, str(error))


def _fat_tree(nodes: int, podsize: int, tiers: list[_Tier]) -> Graph:
    """The network of these tiers. Raises ValueError if their numbers do not fit together."""
    down, bundle = ([tier.get(name) for tier in tiers] for name in ("radix_down", "bundle"))
    up = [tier.get("radix_up") for tier in tiers[:-1]]
    pods = nodes // podsize
    if nodes > MAX_HOSTS:
        raise ValueError(f"{nodes} nodes; there may be at most {MAX_HOSTS}: {WHY_HOSTS}")
    if nodes % podsize or (len(tiers) == 2 and pods > 1):
        raise ValueError(f"{nodes} nodes are no multiple of Podsize, {podsize} (with two tiers: one pod)")
    if not all(down) or podsize % down[0] or not all(bundle):
        raise ValueError(f"Podsize, {podsize}, is no multiple of the ToRs' Radix_Down, {down[0]}")
    tors = podsize // down[0]  # of a pod
    for i, below in enumerate((tors, pods)[: len(up)]):
        if up[i] % bundle[i + 1] or down[i + 1] != below * bundle[i + 1]:
            text = f"Radix_Down of tier {i + 1} is {down[i + 1]}, must be {below} switches times its Bundle"
            raise ValueError(f"{text}, {bundle[i + 1]}; that divides Radix_Up of tier {i}, {up[i]}")
    wide = [up[i] // bundle[i + 1] for i in range(len(up))]  # switches above that each has a link to
    aggregation, cores = wide[0] * pods, wide[0] * wide[1] if len(up) > 1 else 0
    switches = tors * pods + aggregation + cores
    count = nodes + tors * pods * wide[0] + (aggregation * wide[1] if cores else 0)
    if switches > MAX_SWITCHES or count > MAX_LINKS:
        most = f"there may be at most {MAX_SWITCHES} and {MAX_LINKS}: {WHY_HOSTS}"
        raise ValueError(f"{switches} switches and {count} links; {most}")
    tor, above, core = nodes, nodes + tors * pods, nodes + tors * pods + aggregation  # the first of each
    links = [(0, host, tor + host // down[0]) for host in range(nodes)]
    links += [
        (1, tor + i, above + i // tors * wide[0] + k) for i in range(tors * pods) for k in range(wide[0])
    ]
    if cores:
        links += [
            (2, above + i, core + i % wide[0] + wide[0] * k)
            for i in range(aggregation)
            for k in range(wide[1])
        ]
    kinds: list[Literal["host", "switch"]] = ["host"] * nodes
    kinds += ["switch"] * switches
    rates, delays = [_rate(tier) for tier in tiers], [_delay_ns(tiers, i) for i in range(len(tiers))]
    rows = [GraphLink(a=a, b=b, rate_bps=rates[i], delay_ns=delays[i]) for i, a, b in links]
    return Graph(nodes=kinds, links=rows)


def _rate(tier: _Tier) -> float:
    return tier.get("downlink_speed_gbps") * GBPS * tier.get("bundle")


def _delay_ns(tiers: list[_Tier], i: int) -> int:
    """Delay of a link down from a tier: its latency, and half of those of the switches at its ends."""
    halves = sum(tier.get("switch_latency_ns") for tier in tiers[max(0, i - 1) : i + 1])
    return tiers[i].get("downlink_latency_ns") - (-halves // 2)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures of links and switches, given or drawn from the seed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

import numpy as np
from pydantic import BeforeValidator, Field

from ns3_env.config.bounds import MAX_LINKS, WHY_HOSTS, Nanoseconds, PortNumber, few
from ns3_env.config.model import Strict, named_by
from ns3_env.scenario.topology.network import Network

#: Maximum expected number of drawn outages of a scenario.
MAX_DRAWN = 100_000
#: Added to the scenario's seed, so that failures are drawn apart from traffic.
_STREAM = 0xFA11


class Outage(Strict):
    """A link between two nodes, or a switch with all its links, is down for a time."""

    link: tuple[PortNumber, PortNumber] | None = None
    switch: PortNumber | None = None
    at_ns: Nanoseconds = Field(ge=0)
    until_ns: Nanoseconds | None = Field(default=None, gt=0, description="none: it does not come back")

    def links(self, network: Network) -> list[tuple[int, int]]:
        """Links that are down."""
        if self.link is not None:
            return [network.link_ends(*self.link)]
        return [(link.a, link.b) for link in network.links if self.switch in (link.a, link.b)]

    def fault(self, network: Network) -> str | None:
        if (self.link is None) == (self.switch is None):
            return "says either link: [NODE, NODE] or switch: NODE"
        if self.until_ns is not None and self.until_ns <= self.at_ns:
            return f"until_ns: {self.until_ns} is not after at_ns, {self.at_ns}"
        if self.switch is not None:
            switches = [i for i, kind in enumerate(network.nodes) if kind == "switch"]
            if self.switch in switches:
                return None
            return f"switch: node {self.switch} is none; switches are {_few(switches)}"
        a, b = self.link or (0, 0)
        if any({link.a, link.b} == set(network.link_ends(a, b)) for link in network.links):
            return None
        near = sorted({link.a + link.b - a for link in network.links if a in (link.a, link.b)})
        return f"link: no link joins {a} and {b}; node {a} is joined to {_few(near) if near else 'none'}"


class DrawnOutages(Strict):
    """Each link, or switch, is up and down in turn, for exponential times drawn from the scenario's seed."""

    of: Literal["fabric_links", "links", "switches"] = Field(
        default="fabric_links", description="fabric_links: those between switches"
    )
    mean_up_ns: Nanoseconds = Field(gt=0)
    mean_down_ns: Nanoseconds = Field(gt=0)

    def elements(self, network: Network) -> list[Outage]:
        """Each link or switch that may fail, as a failure at the start and for ever."""
        if self.of == "switches":
            nodes = enumerate(network.nodes)
            return [Outage(switch=i, at_ns=0) for i, kind in nodes if kind == "switch"]
        fabric = self.of == "fabric_links"
        return [
            Outage(link=(link.a, link.b), at_ns=0)
            for link in network.links
            if not fabric or network.nodes[link.a] == network.nodes[link.b] == "switch"
        ]

    def draw(self, network: Network, seed: int, time_limit_ns: int) -> Iterator[Outage]:
        random = np.random.default_rng((seed, _STREAM))
        for element in self.elements(network):
            now = 0
            while True:
                at = now + max(1, round(random.exponential(self.mean_up_ns)))
                now = at + max(1, round(random.exponential(self.mean_down_ns)))
                if at >= time_limit_ns:
                    break
                until = now if now < time_limit_ns else None
                yield element.model_copy(update={"at_ns": at, "until_ns": until})


class Failures(Strict):
    """Links and switches that fail and come back. Routes are those of the links that were up
    ``convergence_ns`` ago; packets sent to a link that is down are lost, with those that wait for it in a
    switch or are on the wire."""

    convergence_ns: Nanoseconds = Field(default=0, ge=0)
    outages: Annotated[list[Outage], few(MAX_LINKS, WHY_HOSTS)] = Field(default=[])
    drawn: DrawnOutages | None = None

    def faults(self, network: Network, time_limit_ns: int) -> list[str]:
        """Lists conflicts with the network, as "key: text"."""
        faults = [f"outages.{i}: {fault}" for i, x in enumerate(self.outages) if (fault := x.fault(network))]
        if self.drawn is not None:
            cycle = self.drawn.mean_up_ns + self.drawn.mean_down_ns
            if (many := len(self.drawn.elements(network)) * time_limit_ns / cycle) > MAX_DRAWN:
                faults.append(
                    f"drawn: about {many:.3g} outages until time_limit_ns; there may be {MAX_DRAWN}: "
                    "a longer mean_up_ns would do"
                )
        return faults

    def content(self, network: Network, seed: int, time_limit_ns: int) -> dict[str, Any]:
        """Returns the simulator's input: outages of single links, −1 the end of one that does not come
        back."""
        random_outages = () if self.drawn is None else self.drawn.draw(network, seed, time_limit_ns)
        rows = [
            {"a": a, "b": b, "at_ns": x.at_ns, "until_ns": -1 if x.until_ns is None else x.until_ns}
            for x in (*self.outages, *random_outages)
            for a, b in x.links(network)
        ]
        return {"convergence_ns": self.convergence_ns, "outages": rows}


def _few(numbers: list[int]) -> str:
    text = ", ".join(map(str, numbers[:8]))
    return text if len(numbers) <= 8 else f"{text}, ..."


class Ecmp(Strict):
    """Each flow keeps the path that its hash picks."""

    kind: Literal["ecmp"] = "ecmp"


class Flowlet(Strict):
    """A switch sends a flow's packets by one port; after a pause of more than the gap it draws one anew
    (Vanini 2017, LetFlow). The first is ECMP's."""

    kind: Literal["flowlet"] = "flowlet"
    gap_ns: Nanoseconds = Field(default=50_000, ge=0)


class Spray(Strict):
    """A switch chooses for each packet: at random, in turn for each destination, or the shortest queue."""

    kind: Literal["spray"] = "spray"
    by: Literal["random", "round_robin", "least_queue"] = "random"


class Reps(Strict):
    """A sender chooses each packet's path by an entropy that switches hash, and uses those of ACKs without a
    mark again (Bonato 2025, REPS)."""

    kind: Literal["reps"] = "reps"
    freezing_ns: Nanoseconds = Field(
        default=1_000_000, ge=0, description="after a loss, during which no random entropy is drawn"
    )


class Valiant(Strict):
    """Each flow keeps a path of two: a shortest one to the switch of a host that its hash picks, and one from
    there (Valiant 1982). ACKs go by another host."""

    kind: Literal["valiant"] = "valiant"


_Kinds = Ecmp | Flowlet | Spray | Reps | Valiant


def _alone(value: Any) -> Any:
    """A bare name means {kind: NAME}."""
    kinds = {model.model_fields["kind"].default for model in get_args(_Kinds)}
    return {"kind": value} if isinstance(value, str) and value in kinds else value


LoadBalancing = Annotated[
    _Kinds, Field(discriminator="kind"), BeforeValidator(named_by("kind", _Kinds)), BeforeValidator(_alone)
]


def balancing_content(balancing: _Kinds) -> dict[str, Any] | None:
    """Returns the simulator's input; None if each flow keeps its path."""
    if isinstance(balancing, Ecmp):
        return None
    if isinstance(balancing, Flowlet):
        return {"by": "flowlet", "gap_ns": balancing.gap_ns}
    if isinstance(balancing, Reps):
        return {"by": balancing.kind, "freezing_ns": balancing.freezing_ns}
    if isinstance(balancing, Valiant):
        return {"by": balancing.kind}
    return {"by": balancing.by}

# SPDX-License-Identifier: GPL-2.0-or-later
"""Keys that select links of a network, in one direction or in both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeVar

from pydantic import Field, model_validator
from typing_extensions import Self

from ns3_env.config.model import Strict
from ns3_env.scenario.topology.network import Network


class LinkDirections(Strict):
    """A link, or all links, in one direction or in both."""

    link: tuple[int, int] | Literal["all"] = Field(description="[node, node], or all")
    towards: int | None = Field(
        default=None, description="the end that the affected packets are on their way to; none: either"
    )

    @model_validator(mode="after")
    def _one_link(self) -> Self:
        if self.towards is not None and self.link == "all":
            raise ValueError("towards: names an end of one link; write link: [node, node]")
        return self

    def fault(self, joined: frozenset[tuple[int, int]]) -> str | None:
        """Describes the fault in its ends; ``joined``: the nodes that links join, from and to."""
        if self.link == "all":
            return None
        if self.link not in joined:
            near = sorted(b for a, b in joined if a == self.link[0])
            beside = f"; beside node {self.link[0]} are {', '.join(map(str, near))}" if near else ""
            return f"link: no link joins nodes {self.link[0]} and {self.link[1]}{beside}"
        if self.towards is not None and self.towards not in self.link:
            return f"towards: {self.towards} is no end of the link; write {self.link[0]} or {self.link[1]}"
        return None

    def directions(self, network: Network) -> Iterator[tuple[int, int]]:
        """From and to which node."""
        ends = [(link.a, link.b) for link in network.links] if self.link == "all" else [self.link]
        for a, b in ends:
            yield from ((x, y) for x, y in ((a, b), (b, a)) if self.towards in (None, y))


D = TypeVar("D", bound=LinkDirections)


def direction_faults(key: str, entries: Sequence[LinkDirections], network: Network) -> list[str]:
    """Entries of a key whose links the network does not have, a line each."""
    links = {(link.a, link.b) for link in network.links} if entries else set()
    joined = frozenset(links | {(b, a) for a, b in links})
    return [f"{key}.{i}.{fault}" for i, x in enumerate(entries) if (fault := x.fault(joined)) is not None]


def by_direction(entries: Sequence[D], network: Network) -> dict[tuple[int, int], D]:
    """The entry of each direction that is affected, by its nodes; the last one that names it counts."""
    return {ends: entry for entry in entries for ends in entry.directions(network)}

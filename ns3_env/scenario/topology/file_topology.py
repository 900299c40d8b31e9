# SPDX-License-Identifier: GPL-2.0-or-later
"""Base of topologies that are read from a file of another simulator."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, TextIO

from pydantic import PrivateAttr, ValidationError, model_validator
from typing_extensions import Self

from ns3_env.config.files import LineFaults, NamedFile
from ns3_env.config.model import describe
from ns3_env.scenario.topology.kind import Graph, GraphLink, TopologyKind
from ns3_env.scenario.topology.network import Network

_LINK_FAULT = re.compile(r"links\.(\d+): (.*)", re.DOTALL)


class FileTopology(TopologyKind):
    """A topology from a file of nodes and links; a relative path starts from the scenario's folder."""

    file: NamedFile

    #: The line of each link; empty where the file has none for each.
    _lines: list[int] = PrivateAttr(default_factory=list)
    _graph: Graph = PrivateAttr(default_factory=lambda: Graph(nodes=[], links=[]))
    _wrong: LineFaults = PrivateAttr(default_factory=LineFaults)

    @model_validator(mode="after")
    def _read(self) -> Self:
        self._wrong = LineFaults(self.file)
        self._wrong.read("topology", self._take)
        return self

    @abstractmethod
    def _take(self, text: TextIO) -> None:
        """Reads the file into ``_graph``; faults go into ``_wrong``."""

    def _link(self, line: int, link: dict[str, Any], what: str = "") -> GraphLink | None:
        """The link of these keys; None if one is out of bounds, which is a fault of the file's line.

        Args:
            line: number of the line that declares the link.
            link: the keys of a ``GraphLink``.
            what: start of the fault's text.
        """
        try:
            return GraphLink.model_validate(link)
        except ValidationError as error:
            for fault in describe(error, link):
                self._wrong.add(line, what + fault)
            return None

    def counts(self) -> tuple[int, int, int]:
        return self._graph.counts()

    def build(self) -> Network:
        return self._graph.build()

    def faults(self, network: Network) -> list[str]:
        """Faults of the file with their lines, or else those of the network."""
        return self._wrong.texts() if len(self._wrong) else self._network_faults(network)

    def _network_faults(self, network: Network) -> list[str]:
        """Faults of the network, those of links with their lines."""
        if not self._lines:
            return network.faults()
        graph = LineFaults(self.file)
        for fault in network.faults():
            of_link = _LINK_FAULT.fullmatch(fault)
            if of_link is None:
                graph.add(0, fault.partition(": ")[2])
            else:
                graph.add(self._lines[int(of_link[1])], of_link[2])
        return graph.texts()

    def without_files(self) -> Graph:
        """Returns the graph, written out."""
        return self._graph

# SPDX-License-Identifier: GPL-2.0-or-later
"""Topology from a GraphML file: the Internet Topology Zoo's, networkx's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TextIO
from xml.parsers import expat

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS
from ns3_env.config.model import shown
from ns3_env.scenario.topology.map_topology import Edge, MapTopology, Site

_CHUNK = 1 << 16
#: Longest text of an attribute that is read.
_MOST_TEXT = 1000
#: Attributes of nodes and edges that are read, and other projects' names of them.
_OF_NODES = {"kind": "kind", "type": "kind", "Latitude": "latitude", "Longitude": "longitude"}
_OF_EDGES = {"rate_bps": "rate", "LinkSpeedRaw": "rate", "delay_ns": "delay"}


class GraphmlTopology(MapTopology):
    """The graph of a GraphML file: nodes are switches with hosts, or of their ``kind`` (``type``).

    If it is ``host`` for a node, the file has all nodes: the rest are switches, and no host is added.
    Edges have ``rate_bps`` or the Topology Zoo's ``LinkSpeedRaw`` (bit/s), and ``delay_ns``, or else the
    delay between their nodes' ``Latitude`` and ``Longitude``.
    """

    kind: Literal["graphml"] = "graphml"

    def _take(self, text: TextIO) -> None:
        reader = _Reader()
        try:
            reader.read(text)
        except expat.ExpatError as error:
            self._wrong.add(error.lineno, f"no XML: {expat.ErrorString(error.code)}")
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            self._wrong.add(reader.line, str(error))
        else:
            self._assemble(reader.sites, reader.edges, reader.directed)


class _Reader:
    """Collects nodes and edges of a file while it is parsed; faults are ValueErrors.

    Attributes:
        sites: nodes by their ids.
        edges: edges in the order of the file.
        directed: whether edges have a direction.
    """

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}
        self.edges: list[Edge] = []
        self.directed = False
        self._graphs = 0
        #: Of each attribute's key: nodes' or edges', and the name here; and what those without it have.
        self._keys: dict[str, str] = {}
        self._defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        #: Elements around, the last one being the innermost.
        self._around: list[tuple[str, Mapping[str, str]]] = []
        self._attributes: dict[str, str] = {}
        self._text = ""
        self._line = 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._take_text
        self._parser.EntityDeclHandler = self._refuse_entity

    @property
    def line(self) -> int:
        """The line being parsed, the first being 1."""
        return self._parser.CurrentLineNumber

    def read(self, text: TextIO) -> None:
        """Parses the file, a part at a time. Raises ValueError and ExpatError."""
        while part := text.read(_CHUNK):
            self._parser.Parse(part)
        self._parser.Parse("", True)
        if not self._graphs:
            raise ValueError("there is no graph in it: GraphML has <graph> in <graphml>")

    @staticmethod
    def _refuse_entity(name: str, *_: object) -> None:
        raise ValueError(f"an entity {shown(name)}; GraphML needs none")

    def _start(self, tag: str, names: Mapping[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "graph":
            self._graphs += 1
            if self._graphs > 1:
                raise ValueError("a second graph; one is read, without others in its nodes")
            self.directed = names.get("edgedefault") == "directed"
        elif name == "hyperedge":
            raise ValueError("a hyperedge; a link has two ends: write edges")
        elif name == "key":
            self._declare(names)
        elif name in ("node", "edge"):
            self._attributes = dict(self._defaults[name])
            self._line = self.line
        self._text = ""
        self._around.append((name, names))

    def _declare(self, names: Mapping[str, str]) -> None:
        domain, title = names.get("for", "all"), names.get("attr.name", "")
        for element, spellings in (("node", _OF_NODES), ("edge", _OF_EDGES)):
            if domain in (element, "all") and title in spellings:
                self._keys[names.get("id", "")] = f"{element} {spellings[title]}"

    def _take_text(self, text: str) -> None:
        if self._around and self._around[-1][0] in ("data", "default"):
            self._text += text[:_MOST_TEXT] if len(self._text) < _MOST_TEXT else ""

    def _end(self, _: str) -> None:
        name, names = self._around.pop()
        parent = self._around[-1] if self._around else ("", {})
        if name == "data" and parent[0] in ("node", "edge"):
            element, _, attribute = self._keys.get(names.get("key", ""), "").partition(" ")
            if element == parent[0]:
                self._attributes[attribute] = self._text.strip()
        elif name == "default":
            element, _, attribute = self._keys.get(parent[1].get("id", ""), "").partition(" ")
            if element:
                self._defaults[element][attribute] = self._text.strip()
        elif name == "node":
            self._add_node(names.get("id"))
        elif name == "edge":
            self._add_edge(names)
        self._text = ""

    def _add_node(self, name: str | None) -> None:
        if name is None or name in self.sites:
            raise ValueError("a node without an id" if name is None else f"a second node {shown(name)}")
        if len(self.sites) >= MAX_HOSTS + MAX_SWITCHES:
            raise ValueError(f"there may be at most {MAX_HOSTS + MAX_SWITCHES} nodes: {WHY_HOSTS}")
        is_host = self._attributes.get("kind", "").lower() == "host"
        self.sites[name] = Site(self._line, is_host, self._place())

    def _place(self) -> tuple[float, float] | None:
        texts = [self._attributes.get(key, "") for key in ("latitude", "longitude")]
        if not all(texts):
            return None
        try:
            latitude, longitude = map(float, texts)
        except ValueError:
            latitude = longitude = math.nan
        if not (abs(latitude) <= 90 and abs(longitude) <= 360):
            raise ValueError(
                f"the place is {', '.join(map(shown, texts))}, must be degrees, such as 48.1, 11.6"
            )
        return latitude, longitude

    def _add_edge(self, names: Mapping[str, str]) -> None:
        if len(self.edges) >= MAX_LINKS:
            raise ValueError(f"there may be at most {MAX_LINKS} edges: {WHY_HOSTS}")
        ends = names.get("source", ""), names.get("target", "")
        self.edges.append(
            Edge(self._line, *ends, self._attributes.get("rate", ""), self._attributes.get("delay", ""))
        )

# SPDX-License-Identifier: GPL-2.0-or-later
"""Topology from a topology.txt of the published simulator."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Literal, TextIO

from ns3_env.config.bounds import MAX_HOSTS, MAX_LINKS, MAX_SWITCHES, WHY_HOSTS
from ns3_env.config.model import shown
from ns3_env.errors import ScenarioWarning
from ns3_env.scenario.topology.file_topology import FileTopology
from ns3_env.scenario.topology.kind import Graph, GraphLink

#: Nanoseconds of the units that its times have.
UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_COUNT = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9.]+")


def nanoseconds(number: str, unit: str) -> int:
    """Reads a time as the published simulator does.

    It is a double, cut to 64 binary places, then multiplied by the unit and cut to whole nanoseconds.
    Half of all times with decimals become a nanosecond less: 0.35 us are 349 ns, 0.0001 ms are 99 ns.

    Raises ValueError for a text that is no number, or an infinite time.
    """
    return math.floor(Fraction(float(number)) * 2**64) * UNITS_NS[unit] >> 64


class PublishedText:
    """A file's words in turn, each with its line."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = enumerate(lines, start=1)
        self._words: list[str] = []
        self.line = 0

    def next(self, what: str) -> str:
        """The next word. Raises ValueError if the file ends before ``what``."""
        while not self._words:
            number, text = next(self._lines, (0, ""))
            if not number:
                raise ValueError(f"the file ends where {what} should stand")
            self.line = number
            self._words = text.split()[::-1]
        return self._words.pop()

    def count(self, what: str) -> int:
        """The next word, a whole number. Raises ValueError."""
        return self.whole(self.next(what), what)

    @staticmethod
    def whole(word: str, what: str) -> int:
        """A word that is a whole number. Raises ValueError."""
        if not _COUNT.fullmatch(word):
            raise ValueError(f"{what} is {shown(word)}, must be a whole number")
        return int(word)

    def line_of_words(self, what: str) -> list[str]:
        """The words left on the next line with any. Raises ValueError if the file ends."""
        words = [self.next(what), *self._words[::-1]]
        self._words = []
        return words

    def width(self, what: str) -> int:
        """Words left on the next line with any. Raises ValueError if the file ends."""
        words = self.line_of_words(what)
        self.put_back(words)
        return len(words)

    def put_back(self, words: Sequence[str]) -> None:
        """Puts these words of the line back."""
        self._words = list(words[::-1])

    def row(self, columns: Sequence[str], what: str) -> list[str]:
        """The next line's words, one for each column. Raises ValueError if their number differs."""
        words = self.line_of_words(what)
        if len(words) != len(columns):
            raise ValueError(f"{len(words)} values where {what} should stand: {' '.join(columns)}")
        return words

    def pass_over(self, file: str, columns: Sequence[str], what: str) -> None:
        """Reads to the file's end, which is a comment; a warning if that has more rows of numbers."""
        rows, first = 0, 0
        while True:
            if len(self._words) == len(columns) and all(_NUMBER.match(word) for word in self._words):
                rows, first = rows + 1, first or self.line
            number, text = next(self._lines, (0, ""))
            if not number:
                break
            self.line, self._words = number, text.split()
        if rows:
            warnings.warn(
                f"{file}:{first}: {rows} rows more than the first line announces ({what}) are a comment, as "
                "for the published simulator: they are not played",
                ScenarioWarning,
                stacklevel=2,
            )


_COLUMNS = ("src", "dst", "rate", "delay", "error_rate")
_HEADER = ("nodes", "switches", "links")
_SIMAI_WORDS = 6  # first line: nodes, GPUs of a server, its switches, other switches, links, type of GPU
_DELAY = re.compile(rf"([0-9]{{1,19}}(?:\.[0-9]{{0,30}})?)({'|'.join(UNITS_NS)})")


class PublishedTopology(FileTopology):
    """A topology.txt of the published simulator, as it is (docs/sources/published-simulator.md, "Files").

    Numbers of nodes, switches and links (or SimAI's: nodes, GPUs of a server, switches within servers, other
    switches, links, type of GPU); the ids of the switches; then a row for each link: src, dst, rate
    (100Gbps), delay (1us), error rate, which must be 0. A host may have several links (docs/clusters.md).
    Nodes keep their ids and links their order, so that ports and paths are the published simulator's.
    """

    kind: Literal["published"] = "published"

    def _take(self, lines: TextIO) -> None:
        text = PublishedText(lines)
        links: list[GraphLink] = []
        header = 0
        try:
            header = text.width("the number of nodes")
            nodes, switches, rows = self._head(text)
            if nodes > MAX_HOSTS + MAX_SWITCHES or rows > MAX_LINKS:
                most = f"{MAX_HOSTS + MAX_SWITCHES} and {MAX_LINKS}"
                raise ValueError(f"{nodes} nodes and {rows} links; there may be at most {most}: {WHY_HOSTS}")
            kinds: list[Literal["host", "switch"]] = ["host"] * nodes
            for _ in range(switches):
                switch = text.count("a switch's id")
                if switch >= nodes:
                    raise ValueError(f"there is no node {switch}; nodes are 0 to {nodes - 1}")
                kinds[switch] = "switch"
            for _ in range(rows):
                src, dst, rate, delay, error_rate = text.row(_COLUMNS, f"one of {rows} links")
                self._check(error_rate, delay, text.line)
                keys = {"a": src, "b": dst, "rate_bps": rate, "delay_ns": _delay_ns(delay)}
                if (link := self._link(text.line, keys)) is not None:
                    links.append(link)
                    self._lines.append(text.line)
            text.pass_over(self.file, _COLUMNS, f"{rows} links")
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            more = f"; the first line has {header} numbers, and should have three: nodes, switches, links"
            self._wrong.add(text.line, str(error) + (more if header > len(_HEADER) else ""))
            return
        if not len(self._wrong):
            self._graph = Graph(nodes=kinds, links=links)

    @staticmethod
    def _head(text: PublishedText) -> tuple[int, int, int]:
        """Numbers of nodes, switches and links.

        SimAI's files specify the number and type of a node's GPUs, and count its switches separately.
        """
        words = text.line_of_words("the number of nodes")
        if len(words) >= _SIMAI_WORDS:
            nodes, _, inner, outer, rows = (text.whole(word, "a number of nodes") for word in words[:5])
            return nodes, inner + outer, rows
        text.put_back(words)
        nodes, switches, rows = (text.count(f"the number of {x}") for x in _HEADER)
        return nodes, switches, rows

    def _check(self, error_rate: str, delay: str, line: int) -> None:
        """Refuses features that this simulator lacks, and values that it would have to guess."""
        try:
            lossless = float(error_rate) == 0
        except ValueError:
            self._wrong.add(line, f"the error rate is {shown(error_rate)}, must be a number")
            return
        if not lossless:
            self._wrong.add(
                line,
                f"the error rate is {shown(error_rate)[1:-1]}: write 0 here, and in the scenario "
                "corruption for this link, or loss_probability for all links",
            )
        if not delay[-1:].isalpha():
            self._wrong.add(line, f"the delay {shown(delay)} has no unit; write 1us, or 0.001ms")


def _delay_ns(text: str) -> int | str:
    """Reads a delay as the published simulator does; other texts stay as they are."""
    match = _DELAY.fullmatch(text)
    return text if match is None else nanoseconds(match[1], match[2])

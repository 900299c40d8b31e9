# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedules of ranks in the GOAL language, which LogGOPSim and ATLAHS run."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import MAX_BYTES, MAX_TIME_NS
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.job import TextJob
from ns3_env.scenario.traffic.chakra.trace import ANY_TAG, AT_ONCE, COMPUTE, CPU, RECEIVE, SEND, Node
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS

#: A comment that never ends goes to the end of the text.
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_SPACE = re.compile(r"\s*")
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})\b")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")
_END = re.compile(r"\}")
_LABEL = r"(?:([A-Za-z]\w*)\s*:\s*)?"
_PLACE = r"(?:\s+cpu\s+(\d{1,9}))?(?:\s+nic\s+\d{1,9})?(?![\w-])"
_CALC = re.compile(rf"{_LABEL}calc\s+(\d{{1,20}}){_PLACE}")
_MOVE = re.compile(
    rf"{_LABEL}(send|recv)\s+(\d{{1,20}})\s*b\s+(to|from)\s+(-1|\d{{1,9}})(?:\s+tag\s+(-1|\d{{1,18}}))?{_PLACE}"
)
_NEED = re.compile(r"([A-Za-z]\w*)\s+(i?requires)\s+([A-Za-z]\w*)\b")
_STATEMENTS = (
    "[LABEL:] calc NS, [LABEL:] send BYTESb to RANK [tag N], [LABEL:] recv BYTESb from RANK [tag N], each "
    "with [cpu N], LABEL requires LABEL, LABEL irequires LABEL"
)


class Goal(TextJob):
    """Job whose ranks compute, send and receive by a schedule in GOAL.

    ``calc`` lasts its nanoseconds; a rank's cpu (``cpu N``, 0 if none is named) does one computation after
    the other, in the order of the file. Sends and receives are matched by ranks and tag, in their order; a
    receive with tag -1 gets the first send that no other receive has. An operation that ``requires`` another
    starts when that is over, one that ``irequires`` another starts when that may start. A send of at most
    ``eager_bytes`` is over when it may start, a larger one when its receiver has it.
    """

    kind: Literal["goal"] = "goal"
    eager_bytes: int = Field(
        default=65535,
        ge=0,
        le=MAX_BYTES,
        description="a send of at most this size is over at once for its rank (LogGOPSim's S), a larger one "
        "when its receiver has it",
    )
    job: str = Field(default="goal", min_length=1, description="its name in results")

    def _load(self) -> None:
        schedules: dict[int, _Schedule] = {}
        ranks, rank = 0, -1
        text, place, line = self._text(), 0, 1
        while True:
            begin = _SPACE.match(text, place).end()  # type: ignore[union-attr]
            line += text.count("\n", place, begin)
            self._at(line)
            if begin == len(text):
                break
            if rank >= 0 and (match := _END.match(text, begin)):
                rank = -1
            elif rank >= 0:
                match = schedules[rank].add(text, begin)
            elif match := _RANKS.match(text, begin):
                ranks = int(match[1])
                if not 1 <= ranks <= MAX_RANKS:
                    raise TraceError(f"{ranks} ranks; there may be 1 to {MAX_RANKS}: {WHY_RANKS}")
            elif match := _RANK.match(text, begin):
                rank = int(match[1])
                if rank >= ranks or rank in schedules:
                    raise TraceError(f"rank {rank}; each of 0 to {ranks - 1} (num_ranks) may stand once")
                schedules[rank] = _Schedule(self.eager_bytes, self._budget)
            else:
                raise TraceError(f"{_line(text, begin)} where num_ranks N, or rank N {{, should stand")
            place = match.end()
            line += text.count("\n", begin, place)
        if rank >= 0:
            raise TraceError(f"the file ends within rank {rank}")
        self._traces = [schedules[i].nodes() if i in schedules else [] for i in range(ranks)]

    def _text(self) -> str:
        """The schedule with its lines, and without comments. Raises TraceError if one never ends."""
        text = "\n".join(self._lines())
        for comment in _COMMENT.finditer(text):
            if comment[0].startswith("/*") and (len(comment[0]) < 4 or not comment[0].endswith("*/")):
                self._at(text.count("\n", 0, comment.start()) + 1)
                raise TraceError("a comment begins here, and never ends")
        return _COMMENT.sub(lambda comment: " " + "\n" * comment[0].count("\n"), text)


def _line(text: str, place: int) -> str:
    """The rest of a line, as an error shows it."""
    return shown(text[place : place + 200].partition("\n")[0].strip())


@dataclass
class _Schedule:
    """One rank's operations in the order of the file, with the numbers of those that each needs."""

    eager_bytes: int
    budget: Budget
    _nodes: list[Node] = field(default_factory=list)
    _needs: list[list[int]] = field(default_factory=list)
    #: For each operation those with which it may start.
    _beside: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _labels: dict[str, int] = field(default_factory=dict)

    def add(self, text: str, place: int) -> re.Match[str]:
        """Adds the operation on the line, or a dependency of one. Raises TraceError."""
        if match := _NEED.match(text, place):
            operation, other = self._number(match[1]), self._number(match[3])
            (self._needs if match[2] == "requires" else self._beside)[operation].append(other)
        elif match := _CALC.match(text, place):
            if int(match[2]) > MAX_TIME_NS:
                raise TraceError(f"calc {match[2]}; at most {MAX_TIME_NS} ns")
            self._add(match[1], COMPUTE, int(match[2]), {CPU: int(match[3] or 0)})
        elif (match := _MOVE.match(text, place)) and (match[2] == "send") == (match[4] == "to"):
            peer, tag = int(match[5]), int(match[6] or 0)
            if peer < 0:
                raise TraceError("a receive from any rank (-1) is not played: no send can be told to be its")
            if match[2] == "send" and tag < 0:
                raise TraceError("a send has a tag of its own; -1, any tag, is a receive's")
            numbers = {"comm_size": int(match[3])} | ({"comm_tag": tag} if tag >= 0 else {ANY_TAG: 1})
            if match[2] == "recv":
                self._add(match[1], RECEIVE, 0, {"comm_src": peer, **numbers})
            else:
                eager = {AT_ONCE: 1} if int(match[3]) <= self.eager_bytes else {}
                self._add(match[1], SEND, 0, {"comm_dst": peer, **numbers, **eager})
        else:
            raise TraceError(f"{_line(text, place)} is none of: {_STATEMENTS}")
        return match

    def _add(self, label: str | None, kind: int, ns: int, numbers: dict[str, int]) -> None:
        if label is not None and self._labels.setdefault(label, len(self._nodes)) != len(self._nodes):
            raise TraceError(f"the label {shown(label)[1:-1]} stands twice")
        self.budget.spend(nodes=1)
        self._nodes.append(Node(len(self._nodes), kind, label or "", (), ns / 1000, numbers))
        self._needs.append([])

    def _number(self, label: str) -> int:
        if label not in self._labels:
            raise TraceError(f"there is no operation {shown(label)[1:-1]} before this line")
        return self._labels[label]

    def nodes(self) -> list[Node]:
        """The operations as nodes. One with which another starts has a node before it, its beginning, which
        both wait for."""
        begins = dict.fromkeys(other for others in self._beside.values() for other in others)
        number = {operation: len(self._nodes) + i for i, operation in enumerate(begins)}
        nodes = []
        for node, needs in zip(self._nodes, self._needs, strict=True):
            after = dict.fromkeys((*needs, *(number[other] for other in self._beside.get(node.id, ()))))
            if node.id in begins:
                nodes.append(Node(number[node.id], 0, node.name, tuple(after), 0, {AT_ONCE: 1}))
                after = {number[node.id]: None}
            nodes.append(
                Node(node.id, node.type, node.name, tuple(after), node.duration_micros, node.numbers)
            )
        return nodes

# SPDX-License-Identifier: GPL-2.0-or-later
"""Schedules of ranks in the GOAL language, which LogGOPSim and ATLAHS play."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from ns3_env.config.bounds import MAX_TIME_NS
from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.job import TextJob
from ns3_env.scenario.traffic.chakra.trace import COMPUTE, RECEIVE, SEND, Node
from ns3_env.scenario.traffic.chakra.wire import WireError
from ns3_env.scenario.traffic.jobs.collective import MAX_RANKS, WHY_RANKS

_COMMENT = re.compile(r"//.*|/\*.*?\*/")
_RANKS = re.compile(r"num_ranks\s+(\d{1,9})")
_RANK = re.compile(r"rank\s+(\d{1,9})\s*\{")
_LABEL = r"(?:([A-Za-z]\w*)\s*:\s*)?"
_PLACE = r"(?:\s+(?:cpu|nic)\s+\d+)*"
_CALC = re.compile(rf"{_LABEL}calc\s+(\d{{1,20}}){_PLACE}")
_MOVE = re.compile(
    rf"{_LABEL}(send|recv)\s+(\d{{1,20}})b\s+(to|from)\s+(-?\d{{1,9}})(?:\s+tag\s+(-?\d{{1,18}}))?{_PLACE}"
)
_NEED = re.compile(r"([A-Za-z]\w*)\s+(i?requires)\s+([A-Za-z]\w*)")
_STATEMENTS = (
    "[LABEL:] calc NS, [LABEL:] send BYTESb to RANK [tag N], [LABEL:] recv BYTESb from RANK [tag N], "
    "LABEL requires LABEL, LABEL irequires LABEL"
)


class Goal(TextJob):
    """Job whose ranks compute, send and receive as a schedule in GOAL says.

    ``calc`` takes its nanoseconds; sends and receives are matched by ranks and tag, in their order. What
    ``requires`` another begins when that is over (a send when its receiver has it), what ``irequires``
    another begins with it. Computations that need not wait for each other run beside each other.
    """

    kind: Literal["goal"] = "goal"
    job: str = Field(default="goal", min_length=1, description="its name in results")

    def _load(self) -> None:
        schedules: dict[int, _Schedule] = {}
        ranks, rank = 0, -1
        for line, text in enumerate(self._lines(), start=1):
            self._at(line)
            statement = _COMMENT.sub("", text).strip()
            if rank >= 0 and statement == "}":
                rank = -1
            elif rank >= 0 and statement:
                schedules[rank].add(statement)
            elif head := _RANKS.fullmatch(statement):
                ranks = int(head[1])
                if not 1 <= ranks <= MAX_RANKS:
                    raise WireError(f"{ranks} ranks; there may be 1 to {MAX_RANKS}: {WHY_RANKS}")
            elif head := _RANK.fullmatch(statement):
                rank = int(head[1])
                if rank >= ranks or rank in schedules:
                    raise WireError(f"rank {rank}; each of 0 to {ranks - 1} (num_ranks) may stand once")
                schedules[rank] = _Schedule()
            elif statement:
                raise WireError(f"{shown(statement)} where num_ranks N, or rank N {{, should stand")
        if rank >= 0:
            raise WireError(f"the file ends within rank {rank}")
        self._traces = [schedules.get(i, _Schedule()).nodes() for i in range(ranks)]


@dataclass
class _Schedule:
    """One rank's operations in the order of the file, with the numbers of those that each needs."""

    _nodes: list[Node] = field(default_factory=list)
    _needs: list[list[int]] = field(default_factory=list)
    #: For each operation those with which it may begin.
    _beside: list[list[int]] = field(default_factory=list)
    _labels: dict[str, int] = field(default_factory=dict)

    def add(self, statement: str) -> None:
        """Adds an operation, or what one needs. Raises WireError."""
        if need := _NEED.fullmatch(statement):
            places = self._needs if need[2] == "requires" else self._beside
            places[self._number(need[1])].append(self._number(need[3]))
        elif calc := _CALC.fullmatch(statement):
            if int(calc[2]) > MAX_TIME_NS:
                raise WireError(f"calc {calc[2]}; at most {MAX_TIME_NS} ns")
            self._add(calc[1], COMPUTE, int(calc[2]), {"in_turn": 0})
        elif (move := _MOVE.fullmatch(statement)) and (move[2] == "send") == (move[4] == "to"):
            if int(move[5]) < 0:
                raise WireError("a receive from any rank (-1) is not played: no send can be told to be its")
            kind, end = (SEND, "comm_dst") if move[2] == "send" else (RECEIVE, "comm_src")
            numbers = {end: int(move[5]), "comm_size": int(move[3]), "comm_tag": int(move[6] or 0)}
            self._add(move[1], kind, 0, numbers)
        else:
            raise WireError(f"{shown(statement)} is none of: {_STATEMENTS}")

    def _add(self, label: str | None, kind: int, ns: int, numbers: dict[str, int]) -> None:
        if label is not None and self._labels.setdefault(label, len(self._nodes)) != len(self._nodes):
            raise WireError(f"the label {label} stands twice")
        self._nodes.append(Node(len(self._nodes), kind, label or "", (), ns / 1000, numbers))
        self._needs.append([])
        self._beside.append([])

    def _number(self, label: str) -> int:
        if label not in self._labels:
            raise WireError(f"there is no operation {label} before this line")
        return self._labels[label]

    def nodes(self) -> list[Node]:
        """The operations as nodes: what begins with another needs what that needs."""
        nodes = []
        for i, node in enumerate(self._nodes):
            needs, todo, visited = dict.fromkeys(self._needs[i]), [*self._beside[i]], {i}
            while todo:
                other = todo.pop()
                if other not in visited:
                    visited.add(other)
                    needs |= dict.fromkeys(self._needs[other])
                    todo += self._beside[other]
            after = tuple(needs)
            nodes.append(Node(node.id, node.type, node.name, after, node.duration_micros, node.numbers))
        return nodes

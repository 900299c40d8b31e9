# SPDX-License-Identifier: GPL-2.0-or-later
"""Flows of a connection matrix (.cm) of htsim."""

from __future__ import annotations

import re
from typing import ClassVar, Literal, TextIO

from pydantic import PrivateAttr

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.flow_file import FlowsInFile
from ns3_env.scenario.traffic.tasks import Tasks, Wait, circle_in, graph_of

_PAIR = re.compile(r"(\d{1,9})->(\d{1,9})")
_WHOLE = re.compile(r"\d{1,18}")
_PICOSECONDS = re.compile(r"(\d{1,20})(?:\.\d{0,30})?")
_HEADS = ("Nodes", "Connections", "Triggers", "Failures")
_KINDS = ("oneshot", "multishot", "barrier")
_TRIGGER = "id N oneshot, id N multishot, or id N barrier count N"
#: Keys of a connection with a number; the first three have no effect here.
_NUMBERS = ("id", "prio", "trigger", "size", "send_done_trigger", "recv_done_trigger")


class Connections(FlowsInFile):
    """A connection matrix of htsim, as it is (csg-htsim, Ultra Ethernet's htsim).

    Numbers of nodes and connections, then a line for each: ``src->dst``, ``start`` in picoseconds or the
    ``trigger`` that starts it, ``size`` in bytes (none, or 0: it never ends), and the triggers that it fires
    when it is sent or received, which is the same here: when its receiver has it. A trigger's line specifies
    whether it starts all its connections, when it is fired once (``oneshot``) or ``count`` times
    (``barrier``), or the next of them in the file's order each time (``multishot``).
    """

    kind_of_file: ClassVar[str] = "connection matrix"

    kind: Literal["connections"] = "connections"

    #: Line of each trigger, and how often it is fired before it starts its connections; -1 of a multishot.
    _triggers: dict[int, tuple[int, int]] = PrivateAttr(default_factory=dict)
    #: Flows that fire a trigger, and flows that it starts.
    _fires: dict[int, list[int]] = PrivateAttr(default_factory=dict)
    _starts: dict[int, list[int]] = PrivateAttr(default_factory=dict)

    def _take(self, text: TextIO) -> None:
        counts = dict.fromkeys(_HEADS, (0, 0))  # line, number
        totals = dict.fromkeys(_HEADS, 0)
        for line, row in enumerate(text, start=1):
            words = row.partition("#")[0].split()
            if not words:
                continue
            if self._is_full(line):
                return
            if words[0] in _HEADS and len(words) == 2 and _WHOLE.fullmatch(words[1]):
                counts[words[0]] = line, int(words[1])
            elif pair := _PAIR.fullmatch(words[0]):
                totals["Connections"] += 1
                self._connection(line, int(pair[1]), int(pair[2]), words[1:])
            elif words[0] == "trigger":
                totals["Triggers"] += 1
                self._trigger(line, words[1:])
            elif words[0] == "failure":
                self._wrong.add(line, "failures are no traffic: write them as the scenario's failures")
            else:
                self._wrong.add(line, f"{shown(row.strip())} is no src->dst, trigger or {', '.join(_HEADS)}")
        for head in ("Connections", "Triggers"):
            if counts[head][1] != totals[head] and not len(self._wrong):
                text_ = f"{head} {counts[head][1]}, and there are {totals[head]}"
                self._wrong.add(counts[head][0], text_)
        nodes = counts["Nodes"][1]
        for flow, line in enumerate(self._lines):
            if max(self._flows.src[flow], self._flows.dst[flow]) >= nodes:
                self._wrong.add(line, f"there are nodes 0 to {nodes - 1}")
        if not self._lines and not len(self._wrong):
            self._wrong.add(0, "no connections")
        if not len(self._wrong):
            self._tie()

    def _connection(self, line: int, src: int, dst: int, words: list[str]) -> None:
        numbers: dict[str, int] = {}
        start = None
        entries = iter(words)
        for name in entries:
            value = next(entries, "")
            if name == "start" and (time := _PICOSECONDS.fullmatch(value)):
                start = int(time[1]) // 1000
            elif name in _NUMBERS and _WHOLE.fullmatch(value):
                numbers[name] = int(value)
            else:
                entry = shown(f"{name} {value}".strip())
                self._wrong.add(line, f"{entry} where start, {', '.join(_NUMBERS)} may stand")
                return
        if (start is None) == ("trigger" not in numbers):
            self._wrong.add(line, "say either start or trigger")
            return
        size = numbers.get("size", 0)
        if not self._add(line, src, dst, size, start or 0, endless=not size):
            return
        flow = len(self._lines) - 1
        if "trigger" in numbers:
            self._starts.setdefault(numbers["trigger"], []).append(flow)
        for name in ("send_done_trigger", "recv_done_trigger"):
            if numbers.get(name):
                self._fires.setdefault(numbers[name], []).append(flow)

    def _trigger(self, line: int, words: list[str]) -> None:
        kinds = [word for word in words if word in _KINDS]
        rest = [word for word in words if word not in _KINDS]
        numbers = {
            name: int(x) for name, x in zip(rest[::2], rest[1::2], strict=False) if _WHOLE.fullmatch(x)
        }
        expected = {"id", "count"} if kinds == ["barrier"] else {"id"}
        if len(kinds) != 1 or set(numbers) != expected or len(rest) != 2 * len(expected):
            self._wrong.add(line, f"{shown(' '.join(words))} where {_TRIGGER} should stand")
        elif numbers["id"] in self._triggers:
            self._wrong.add(line, f"trigger {numbers['id']} stands twice")
        else:
            self._triggers[numbers["id"]] = line, numbers.get("count", -1 if kinds == ["multishot"] else 1)

    def _tie(self) -> None:
        """Makes connections wait for those that fire their triggers."""
        waits: dict[int, Wait] = {}
        for trigger, flows in self._starts.items():
            line, count = self._triggers.get(trigger, (0, 0))
            fires = tuple(self._fires.get(trigger, ()))
            if not line:
                self._wrong.add(self._lines[flows[0]], f"there is no trigger {trigger}")
            elif count < 0 and len(flows) > len(fires):
                text = (
                    f"trigger {trigger} is fired {len(fires)} times, and {len(flows)} connections wait for it"
                )
                self._wrong.add(line, f"{text}: the last would never start")
            elif count < 0:
                waits |= {flow: Wait(fires, 0, number) for number, flow in enumerate(flows, start=1)}
            elif count != len(fires):
                text = f"trigger {trigger} waits for {count} of the {len(fires)} connections that fire it"
                self._wrong.add(line, f"{text}; it can be played where it waits for each")
            else:
                waits |= dict.fromkeys(flows, Wait(fires, 0))
        self._flows.tasks = Tasks.waiting(waits)
        if circle := circle_in(*graph_of(waits)):
            self._wrong.add(self._lines[circle[0]], "it waits for itself, so that it never starts")

# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces of PyTorch's profiler (Kineto): what one rank's GPU did, and when.

A kernel with a ``Collective name`` is a collective, every other one computation on its stream; copies and
fills of memory are computation too. A kernel lasts as long as it did, and longer by its stream's idle time
before it that nothing explains: the processor had not launched it. A kernel waits for those that explain
idle time: launched before it on another stream, and ended while its own was idle. A collective waits for
kernels launched before it on each stream of computation, and for the one before it on its own.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from ns3_env.config.model import shown
from ns3_env.scenario.traffic.chakra.budget import Budget, TraceError
from ns3_env.scenario.traffic.chakra.operators import (
    collective_type,
    element_bytes,
    group_node,
    group_text,
    letters,
    split_text,
)
from ns3_env.scenario.traffic.chakra.pytorch_trace import take_objects
from ns3_env.scenario.traffic.chakra.trace import (
    COLLECTIVE,
    COMPUTE,
    CPU,
    Node,
    checked_bits,
)

_EVENTS = re.compile(rb'"traceEvents"\s*:\s*(?=\[)')
_LONGEST_HEAD = 1 << 20
_ON_GPU = ("kernel", "gpu_memcpy", "gpu_memset")
_LAUNCHES = ("cuda_runtime", "cuda_driver")
_MOST_STREAMS = 32


@dataclass(frozen=True, eq=False, slots=True)
class _Event:
    """Work of a GPU, in microseconds; ``collective`` has its arguments, None of computation."""

    line: int
    name: str
    stream: int
    begin: float
    end: float
    correlation: Any
    collective: dict[str, Any] | None


def find_kineto_events(data: bytes) -> int | None:
    """The place where the list of events starts; None in a file of another form."""
    head = _EVENTS.search(data, 0, _LONGEST_HEAD)
    return None if head is None else head.end()


def read_kineto(data: bytes, begin: int, budget: Budget) -> list[Node]:
    """The nodes of a trace that Chakra's would have; one event is in memory at a time.

    Raises:
        TraceError: its fault, with the line.
    """
    trace = _Trace()
    take_objects(data, begin, trace.take)
    return list(trace.nodes(_groups_in_head(data[:begin]), budget))


def _groups_in_head(head: bytes) -> dict[str, list[Any]]:
    """Ranks of process groups (``distributedInfo``); empty if the head has none."""
    try:
        rows = json.loads(head + b"[]}")["distributedInfo"]["pg_config"]
        return {str(row["pg_name"]): list(row["ranks"]) for row in rows}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


@dataclass
class _Trace:
    _events: list[_Event] = field(default_factory=list)
    #: When the processor launched a kernel, by the number that both have.
    _launches: dict[Any, float] = field(default_factory=dict)

    def take(self, line: int, content: Mapping[str, Any]) -> None:
        """Reads an event of the file. Raises TraceError."""
        kind, arguments = content.get("cat"), content.get("args", {})
        if content.get("ph") != "X" or kind not in (*_ON_GPU, *_LAUNCHES) or not isinstance(arguments, dict):
            return
        begin, correlation = _micros(content, "ts", line), arguments.get("correlation")
        correlation = correlation if isinstance(correlation, int) else None
        if kind in _LAUNCHES:
            if correlation is not None:
                self._launches[correlation] = begin
            return
        name, stream = str(content.get("name", "")), arguments.get("stream", 0)
        if type(stream) is not int:
            raise TraceError(f"line {line}: stream is {shown(stream)}, must be a whole number")
        is_collective = "Collective name" in arguments
        if name.startswith("nccl") and not is_collective:
            text = f"the kernel {shown(name)} has no Collective name"
            raise TraceError(f"line {line}: {text}: PyTorch 2.4 and later write it")
        end = begin + _micros(content, "dur", line)
        collective = arguments if is_collective else None
        self._events.append(_Event(line, name, stream, begin, end, correlation, collective))

    def nodes(self, groups: Mapping[str, list[Any]], budget: Budget) -> Iterator[Node]:
        """Yields the nodes in the order of their launches. Raises TraceError."""
        streams: dict[int, list[_Event]] = defaultdict(list)
        for event in sorted(self._events, key=attrgetter("begin")):
            streams[event.stream].append(event)
        if len(streams) > _MOST_STREAMS:
            raise TraceError(f"{len(streams)} streams of a GPU; there may be at most {_MOST_STREAMS}")
        collectives = [event.collective for event in self._events if event.collective is not None]
        if not collectives:
            raise TraceError("no kernel has a Collective name: PyTorch 2.4 and later write it, of NCCL")
        order = _Order(streams, self._launched)
        for text in dict.fromkeys(_group_text(collective, groups) for collective in collectives):
            if text:
                budget.spend(nodes=1)
                yield order.metadata(text)
        for event in sorted(self._events, key=self._launched):
            budget.spend(nodes=1)
            yield order.computation(event) if event.collective is None else order.communication(event)

    def _launched(self, event: _Event) -> tuple[float, float]:
        """Time of an event's launch, or its start if that is not known, and its start."""
        return self._launches.get(event.correlation, event.begin), event.begin


class _Order:
    """Makes nodes with what each waits for.

    Args:
        streams: events of each stream, in their order.
        launched: gives the time at which an event was launched.
    """

    def __init__(
        self, streams: Mapping[int, list[_Event]], launched: Callable[[_Event], tuple[float, float]]
    ) -> None:
        self._number = {stream: i for i, stream in enumerate(streams)}
        self._before = {
            event: events[i - 1] for events in streams.values() for i, event in enumerate(events) if i
        }
        self._id: dict[_Event, int] = {}
        self._streams = streams
        self._ends = {stream: [event.end for event in events] for stream, events in streams.items()}
        self._launched = launched
        self._first = min(events[0].begin for events in streams.values())
        self._nodes = 0
        #: The last computation of each stream.
        self._last: dict[int, _Event] = {}

    def metadata(self, text: str) -> Node:
        """The node of a process group."""
        return group_node(self._next(), text)

    def computation(self, event: _Event) -> Node:
        """The node of a computation."""
        before = self._before.get(event)
        ready = self._first if before is None else before.end
        waits = list(self._ended_while_idle(event, ready))
        after = [self._id[other] for other in [*waits, *([before] if before else [])] if other in self._id]
        micros = event.end - max([ready, *(other.end for other in waits)])
        self._last[event.stream] = event
        self._id[event] = self._next()
        numbers = {"is_cpu_op": 0, CPU: self._number[event.stream]}
        return Node(self._id[event], COMPUTE, event.name, tuple(after), max(micros, 0), numbers)

    def communication(self, event: _Event) -> Node:
        """The node of a collective. Raises TraceError."""
        arguments = event.collective or {}
        before = self._before.get(event)
        earlier = [other for stream, other in self._last.items() if stream != event.stream]
        earlier += [before] if before else []
        after = [self._id[other] for other in earlier if other in self._id]
        self._id[event] = self._next()
        where = f"line {event.line}"
        kind = collective_type(arguments["Collective name"], where)
        elements = arguments.get("In msg nelems")
        if letters(arguments["Collective name"]) == "barrier":
            size_bytes = 0
        elif type(elements) is int:
            size_bytes = elements * element_bytes(arguments.get("dtype"), where)
        else:
            raise TraceError(f"{where}: In msg nelems is {shown(elements)}, must be a whole number")
        numbers = {"is_cpu_op": 0, "comm_type": kind, "comm_size": checked_bits(size_bytes, where)}
        texts = {"pg_name": str(arguments.get("Process Group Name", ""))}
        texts |= split_text(arguments.get("In split size"))
        name = letters(arguments["Collective name"])
        return Node(self._id[event], COLLECTIVE, name, tuple(after), 0, numbers, texts)

    def _ended_while_idle(self, event: _Event, ready: float) -> Iterator[_Event]:
        """Yields the last event of each other stream that was launched before one, and ended after its
        stream was ready for it."""
        for stream, events in self._streams.items():
            place = bisect_right(self._ends[stream], event.begin)
            if stream != event.stream and place and events[place - 1].end > ready:
                other = events[place - 1]
                if self._launched(other) < self._launched(event):
                    yield other

    def _next(self) -> int:
        self._nodes += 1
        return self._nodes


def _group_text(collective: Mapping[str, Any], groups: Mapping[str, list[Any]]) -> str:
    """A process group as PyTorch records it; "" if its ranks are not known."""
    name, ranks = str(collective.get("Process Group Name", "")), collective.get("Process Group Ranks")
    try:
        ranks = json.loads(ranks) if isinstance(ranks, str) else ranks
    except (ValueError, RecursionError):  # many are cut: [0, 1, ..., 63]
        ranks = None
    ranks = ranks or groups.get(name)
    if not name or not isinstance(ranks, list) or not all(type(rank) is int for rank in ranks):
        return ""
    return group_text(name, ranks)


def _micros(content: Mapping[str, Any], key: str, line: int) -> float:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise TraceError(f"line {line}: {key} is {shown(value)}, must be microseconds")
    return float(value)

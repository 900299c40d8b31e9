# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of a flow list: the waits between flows and steps of computation, and their jobs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

#: A flow by its index; a step as -1 - its index, so that flows may come behind.
Task = int
Key = TypeVar("Key", bound=Hashable)


class Wait(NamedTuple):
    """Tasks that a flow waits for, how long it waits then (ns), and how many of them it needs (None: all)."""

    after: tuple[Task, ...]
    delay_ns: int
    needed: int | None = None


class Step(NamedTuple):
    """Computation: it starts when ``after`` is over, not before ``start_ns``, and lasts ``delay_ns``."""

    delay_ns: int
    after: tuple[Task, ...] = ()
    start_ns: int = 0


class Label(NamedTuple):
    """Job of a task; ``peer`` is the rank that receives, -1 of a step."""

    job: str
    iteration: int
    part: str
    rank: int
    peer: int = -1


#: Columns of tasks, and their values of a flow without a wait and a job.
NOTHING = {
    "after_count": 0,
    "delay_ns": 0,
    "job": -1,
    "part": -1,
    "iteration": -1,
    "rank": -1,
    "peer": -1,
}
Columns = dict[str, list[int]]


def _no_columns() -> Columns:
    return {name: [] for name in NOTHING}


@dataclass
class Tasks:
    """Waits of flows, steps, and labels of either, in columns; empty if each flow starts at its own time.

    Args:
        of_flows: a row for each flow, or for the first ones; job and part are places in the lists of names.
        of_steps: a row for each step.
        flows_after: tasks that flows wait for, ``after_count`` of each.
        steps_after: the same of steps.
        step_start_ns: earliest start of each step.
        jobs: names of jobs.
        parts: names of their parts.
        needed: by flow, how many of its tasks must be over, unless all.
    """

    of_flows: Columns = field(default_factory=_no_columns)
    of_steps: Columns = field(default_factory=_no_columns)
    flows_after: list[Task] = field(default_factory=list)
    steps_after: list[Task] = field(default_factory=list)
    step_start_ns: list[int] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    needed: dict[int, int] = field(default_factory=dict)

    @classmethod
    def waiting(cls, waits: Mapping[int, Wait]) -> Tasks:
        """Flows that wait, by their indices, without steps and jobs."""
        tasks, nothing = cls(), Wait((), 0)
        rows = [waits.get(flow, nothing) for flow in range(max(waits, default=-1) + 1)]
        tasks._pad(len(rows))
        tasks.of_flows["after_count"] = [len(wait.after) for wait in rows]
        tasks.of_flows["delay_ns"] = [wait.delay_ns for wait in rows]
        tasks.flows_after = [task for wait in rows for task in wait.after]
        tasks.needed = {flow: wait.needed for flow, wait in waits.items() if wait.needed is not None}
        return tasks

    def __bool__(self) -> bool:
        return bool(self.step_start_ns or self.flows_after) or any(self.of_flows["delay_ns"])

    @property
    def waits(self) -> dict[int, Wait]:
        """Waits of flows, by flow."""
        rows = zip(
            _split(self.flows_after, self.of_flows["after_count"]), self.of_flows["delay_ns"], strict=True
        )
        return {flow: Wait(*row, self.needed.get(flow)) for flow, row in enumerate(rows) if any(row)}

    @property
    def steps(self) -> list[Step]:
        """All steps."""
        after = _split(self.steps_after, self.of_steps["after_count"])
        return list(map(Step, self.of_steps["delay_ns"], after, self.step_start_ns))

    @property
    def labels(self) -> dict[Task, Label]:
        """Labels by task, of those that have one."""
        labels: dict[Task, Label] = {}
        for columns, first, by in ((self.of_flows, 0, 1), (self.of_steps, -1, -1)):
            rows = zip(*(columns[name] for name in ("job", "iteration", "part", "rank", "peer")), strict=True)
            for i, (job, iteration, part, *ranks) in enumerate(rows):
                if job >= 0:
                    labels[first + i * by] = Label(self.jobs[job], iteration, self.parts[part], *ranks)
        return labels

    def extend(self, other: Tasks, flows: int) -> None:
        """Appends further tasks, whose flows follow ``flows`` of these; jobs keep their own names."""
        steps, names = len(self.step_start_ns), set(self.jobs)
        first_job, first_part = len(self.jobs), len(self.parts)
        moved = [
            [task + flows if task >= 0 else task - steps for task in after]
            for after in (other.flows_after, other.steps_after)
        ]
        self._pad(flows)
        self.needed |= {flow + flows: needed for flow, needed in other.needed.items()}
        for mine, others in ((self.of_flows, other.of_flows), (self.of_steps, other.of_steps)):
            for name, column in others.items():
                first = {"job": first_job, "part": first_part}.get(name, 0)
                mine[name] += [x + first if x >= 0 else x for x in column] if first else column
        self.flows_after += moved[0]
        self.steps_after += moved[1]
        self.step_start_ns += other.step_start_ns
        self.jobs += [_free(job, names) for job in other.jobs]
        self.parts += other.parts

    def start_after(self, first: int, count: int, after: Sequence[Task]) -> None:
        """Makes these steps, the first ones of a job that has just been appended, wait for earlier tasks."""
        begin = len(self.steps_after) - sum(self.of_steps["after_count"][first:])
        self.of_steps["after_count"][first : first + count] = [len(after)] * count
        self.steps_after[begin:begin] = [*after] * count

    def _pad(self, flows: int) -> None:
        """Appends rows of flows without waits and jobs, up to a number of flows."""
        for name, column in self.of_flows.items():
            column += [NOTHING[name]] * (flows - len(column))

    def content(self, flows: int) -> dict[str, Any]:
        """Returns the simulator's input on them, for ``flows`` flows."""
        columns = {
            name: column + [NOTHING[name]] * (flows - len(column)) + self.of_steps[name]
            for name, column in self.of_flows.items()
        }
        content: dict[str, Any] = {
            "step_start_ns": self.step_start_ns.copy(),
            "delay_ns": columns["delay_ns"],
            "after_count": columns["after_count"],
            "after": [
                task if task >= 0 else flows - 1 - task for task in chain(self.flows_after, self.steps_after)
            ],
        }
        if self.needed:
            content["needed"] = [self.needed.get(i, n) for i, n in enumerate(columns["after_count"])]
        if self.jobs:
            jobs, columns["job"] = _numbered(self.jobs, columns["job"])
            parts, columns["part"] = _numbered(self.parts, columns["part"])
            labels = ("job", "part", "iteration", "rank", "peer")
            content |= {"jobs": jobs, "parts": parts} | {name: columns[name] for name in labels}
        return content


def _numbered(names: Sequence[str], places: Sequence[int]) -> tuple[list[str], list[int]]:
    """Names in the order in which they first appear, and their places there."""
    number: dict[str, int] = {}
    numbers = {-1: -1}
    for place in dict.fromkeys(places):
        if place >= 0:
            numbers[place] = number.setdefault(names[place], len(number))
    return list(number), [numbers[place] for place in places]


def _split(values: Sequence[Task], counts: Iterable[int]) -> Iterator[tuple[Task, ...]]:
    """The values in groups of these sizes."""
    rest = iter(values)
    return (tuple(islice(rest, count)) for count in counts)


def _free(name: str, names: set[str]) -> str:
    number, free = 2, name
    while free in names:
        free, number = f"{name} {number}", number + 1
    names.add(free)
    return free


def named_waits(
    names: Sequence[str | None],
    after: Sequence[Sequence[str]],
    delays_ns: Sequence[int],
    needed: Sequence[int | None] | None = None,
) -> tuple[dict[int, Wait], dict[int, str]]:
    """Waits of flows that name each other.

    Args:
        names: name of each flow, or None.
        after: names of the flows that each flow waits for.
        delays_ns: delay of each flow, ns.
        needed: how many of them each flow waits for; None: all.

    Returns:
        The waits by flow, and the faults by flow: an unknown or ambiguous name, too few flows, a circle.
    """
    number: dict[str, int] = {}
    wrong: dict[int, str] = {}
    for flow, name in enumerate(names):
        if name is not None and number.setdefault(name, flow) != flow:
            wrong[flow] = f"name: {name!r} is another flow's as well"
    waits = {}
    several = needed or [None] * len(names)
    for flow, (predecessors, delay, enough) in enumerate(zip(after, delays_ns, several, strict=True)):
        if strange := [name for name in predecessors if name not in number]:
            wrong.setdefault(flow, f"after: there is no flow named {strange[0]!r}")
        elif enough is not None and enough > len(predecessors):
            wrong.setdefault(flow, f"needed: {enough} of the {len(predecessors)} flows in after")
        elif predecessors or delay:
            waits[flow] = Wait(tuple(number[name] for name in predecessors), delay, enough)
    if not wrong and (circle := circle_in(*graph_of(waits))):
        circle_text = " after ".join(str(names[flow]) for flow in [*circle, circle[0]])
        wrong[circle[0]] = f"after: these wait for each other, so that none ever starts: {circle_text}"
    return waits, wrong


def graph_of(waits: Mapping[int, Wait]) -> tuple[dict[int, tuple[Task, ...]], dict[int, int]]:
    """The arguments of :func:`circle_in` for waits by flow."""
    needed = {flow: wait.needed for flow, wait in waits.items() if wait.needed is not None}
    return {flow: wait.after for flow, wait in waits.items()}, needed


def circle_in(after: Mapping[Key, Sequence[Key]], needed: Mapping[Key, int] = {}) -> list[Key]:
    """Tasks each of which waits for the next one, and the last for the first; empty without such a circle.

    ``needed``: how many of its tasks must be over for it to start, unless all.
    """
    remaining = {task: needed.get(task, len(others)) for task, others in after.items()}
    followers: dict[Key, list[Key]] = {}
    for task, others in after.items():
        for other in others:
            remaining[task] -= other not in remaining
            followers.setdefault(other, []).append(task)
    ready = [task for task, count in remaining.items() if count <= 0]
    while ready:
        over = ready.pop()
        del remaining[over]
        for follower in followers.get(over, ()):
            if follower in remaining and (left := remaining[follower]) > 0:
                remaining[follower] = left - 1
                if left == 1:
                    ready.append(follower)
    if not remaining:
        return []
    way: list[Key] = []
    place: dict[Key, int] = {}
    task = next(iter(remaining))
    while task not in place:  # each remaining one waits for another remaining one
        place[task] = len(way)
        way.append(task)
        task = next(other for other in after[task] if other in remaining)
    return way[place[task] :]

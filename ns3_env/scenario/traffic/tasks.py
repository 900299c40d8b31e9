# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of a flow list: the waits between flows and steps of computation, and their jobs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple, TypeVar

#: A flow by its index, or a step as ``step_task`` numbers it.
Task = int
Key = TypeVar("Key", bound=Hashable)


def step_task(index: int) -> Task:
    """The step of this index as a task: steps count down from -1, so that flows may come behind."""
    return -1 - index


class Wait(NamedTuple):
    """Tasks that a flow waits for, and how long it waits then (ns)."""

    after: tuple[Task, ...]
    delay_ns: int


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


@dataclass
class Tasks:
    """Waits of flows, steps, and labels of either; empty if each flow starts at its own time."""

    waits: dict[int, Wait] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    labels: dict[Task, Label] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.waits or self.steps)

    def add_step(self, step: Step, label: Label | None = None) -> Task:
        """Appends a step; its task."""
        self.steps.append(step)
        task = step_task(len(self.steps) - 1)
        if label is not None:
            self.labels[task] = label
        return task

    def needs(self, task: Task) -> tuple[Task, ...]:
        """Tasks that this one waits for by itself."""
        if task < 0:
            return self.steps[-1 - task].after
        return self.waits[task].after if task in self.waits else ()

    def extend(self, other: Tasks, flows: int) -> None:
        """Appends further tasks, whose flows follow ``flows`` of these; jobs keep their own names."""
        steps = len(self.steps)

        def moved(task: Task) -> Task:
            return task + flows if task >= 0 else task - steps

        job_names = {label.job for label in self.labels.values()}
        jobs = dict.fromkeys(label.job for label in other.labels.values())
        names = {job: _free(job, job_names) for job in jobs}
        self.waits.update(
            (flow + flows, Wait(tuple(map(moved, wait.after)), wait.delay_ns))
            for flow, wait in other.waits.items()
        )
        self.steps += [step._replace(after=tuple(map(moved, step.after))) for step in other.steps]
        self.labels.update(
            (moved(task), label._replace(job=names[label.job])) for task, label in other.labels.items()
        )

    def content(self, flows: int) -> dict[str, Any]:
        """Returns the simulator's input on them, for ``flows`` flows."""
        nothing = Wait((), 0)
        waits = [self.waits.get(flow, nothing) for flow in range(flows)]
        after = [wait.after for wait in waits] + [step.after for step in self.steps]
        content: dict[str, Any] = {
            "step_start_ns": [step.start_ns for step in self.steps],
            "delay_ns": [wait.delay_ns for wait in waits] + [step.delay_ns for step in self.steps],
            "after_count": list(map(len, after)),
            "after": [task if task >= 0 else flows - 1 - task for task in chain.from_iterable(after)],
        }
        if self.labels:
            content |= self._labels(flows)
        return content

    def _labels(self, flows: int) -> dict[str, Any]:
        none = Label("", -1, "", -1)
        tasks = [*range(flows), *map(step_task, range(len(self.steps)))]
        rows = [self.labels.get(task, none) for task in tasks]
        jobs, parts = _numbered(row.job for row in rows), _numbered(row.part for row in rows)
        return {
            "jobs": list(jobs),
            "parts": list(parts),
            "job": [jobs.get(row.job, -1) for row in rows],
            "part": [parts.get(row.part, -1) for row in rows],
            "iteration": [row.iteration for row in rows],
            "rank": [row.rank for row in rows],
            "peer": [row.peer for row in rows],
        }


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """Numbers names by first appearance, except for the unnamed."""
    return {name: i for i, name in enumerate(name for name in dict.fromkeys(names) if name)}


def _free(name: str, names: set[str]) -> str:
    number, free = 2, name
    while free in names:
        free, number = f"{name} {number}", number + 1
    names.add(free)
    return free


def named_waits(
    names: Sequence[str | None], after: Sequence[Sequence[str]], delays_ns: Sequence[int]
) -> tuple[dict[int, Wait], dict[int, str]]:
    """Waits of flows that name each other.

    Args:
        names: name of each flow, or None.
        after: names of the flows that each flow waits for.
        delays_ns: delay of each flow, ns.

    Returns:
        The waits by flow, and the faults by flow: an unknown or ambiguous name, a circle.
    """
    number: dict[str, int] = {}
    wrong: dict[int, str] = {}
    for flow, name in enumerate(names):
        if name is not None and number.setdefault(name, flow) != flow:
            wrong[flow] = f"name: {name!r} is another flow's as well"
    waits = {}
    for flow, (predecessors, delay) in enumerate(zip(after, delays_ns, strict=True)):
        if strange := [name for name in predecessors if name not in number]:
            wrong.setdefault(flow, f"after: there is no flow named {strange[0]!r}")
        elif predecessors or delay:
            waits[flow] = Wait(tuple(number[name] for name in predecessors), delay)
    if not wrong and (circle := circle_in({flow: wait.after for flow, wait in waits.items()})):
        circle_text = " after ".join(str(names[flow]) for flow in [*circle, circle[0]])
        wrong[circle[0]] = f"after: these wait for each other, so that none ever starts: {circle_text}"
    return waits, wrong


def circle_in(after: Mapping[Key, Sequence[Key]]) -> list[Key]:
    """Tasks each of which waits for the next one, and the last for the first; empty without such a circle."""
    remaining = dict.fromkeys(after, 0)
    followers: dict[Key, list[Key]] = {}
    for task, others in after.items():
        for other in others:
            remaining[task] += other in remaining
            followers.setdefault(other, []).append(task)
    ready = [task for task, count in remaining.items() if count == 0]
    while ready:
        over = ready.pop()
        del remaining[over]
        for follower in followers.get(over, ()):
            remaining[follower] -= 1
            if remaining[follower] == 0:
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

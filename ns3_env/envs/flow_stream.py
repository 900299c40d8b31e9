# SPDX-License-Identifier: GPL-2.0-or-later
"""Stream of many flows in many simulators: ``recv()`` due decisions, ``send()`` actions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Self, TypedDict

from ns3_env import _native
from ns3_env.decision import observations
from ns3_env.decision.action_faults import action_fault, action_rows
from ns3_env.decision.outcomes import Batch
from ns3_env.decision.rewards import DEFAULT_REWARD
from ns3_env.decision.task import ActionLike, RewardLike, Task, WithTask
from ns3_env.envs.slots import SlotAllocator
from ns3_env.errors import ScenarioError
from ns3_env.scenario import Scenario, ScenarioLike
from ns3_env.simulator import (
    DecisionBatch,
    EpisodeEnd,
    HealthCheck,
    JointDecisions,
    LockStep,
    Script,
    Simulator,
    wait_any,
)

#: The scenario of an episode, by the episode's number. A mapping is sent as it is, but for its seed.
Sampler = Callable[[int], "Scenario | Script | Mapping[str, Any]"]


def episode_seed(base_seed: int, episode: int) -> int:
    """Seed of an episode, in [1, 2^31): a function of the base seed and the episode's number only."""
    raw_seed = np.random.SeedSequence([base_seed & (2**64 - 1), episode]).generate_state(1)[0]
    return int(raw_seed) % (2**31 - 1) + 1


T = TypeVar("T")


def around(original: T, shared: Iterable[object], **replaced: Any) -> T:
    """A copy of the object without its constructor, its attributes copied deeply.

    Args:
        original: the object to copy.
        shared: objects that both refer to, also within attributes.
        replaced: new attributes of the copy.
    """
    memo = {id(thing): thing for thing in shared}
    duplicate = object.__new__(type(original))
    rest = {name: value for name, value in original.__dict__.items() if name not in replaced}
    duplicate.__dict__.update(copy.deepcopy(rest, memo), **replaced)
    return duplicate


#: Number of consecutive episodes without a decision after which waiting is given up.
SILENT_EPISODES = 100


def never_decides(episodes: int) -> str:
    """Describes the fault of an environment in which no flow will ever decide."""
    return (
        f"{episodes} episodes in a row ended without a decision of a flow under 'agent': flows that are over "
        "before their first ACK decide nothing, nor do those that no feedback frame reaches under the clock "
        "'per_notification'"
    )


def sampler_of(form: Sampler | ScenarioLike | Script) -> Sampler:
    """The sampler itself, or a function that returns a fixed scenario for every episode's number.

    A mapping without ``topology`` is the simulator's own JSON, and stays as it is. Raises ScenarioError.
    """
    if callable(form):
        return form
    as_it_is = isinstance(form, Script) or (isinstance(form, Mapping) and "topology" not in form)
    only: Scenario | Script | Mapping[str, Any] = form if as_it_is else Scenario.of(form)  # type: ignore[arg-type, assignment]
    return lambda episode: only


class StreamOptions(TypedDict, total=False):
    """The keywords of :class:`FlowStream`, for functions that pass them on."""

    program: str | PathLike[str] | None
    args: Sequence[str]

    num_simulators: int
    slots: int
    fields: Sequence[str]
    reward: RewardLike
    action: ActionLike | None
    task: Task | None
    seed: int
    seeds: Sequence[int]
    ordered: bool
    executable: str | PathLike[str] | None
    telemetry_bytes: int | None


class FlowStream(WithTask):
    """The flows under the agent in many simulators, one slot per flow.

    :meth:`recv` and :meth:`send`, as EnvPool names them, return the flows that are due and accept their
    actions, so that simulators compute while the learner does.

    Simulator i of n runs the episodes i, i + n, i + 2n, ...; an episode depends on the base seed and its
    number only, so the episodes are the same however many simulators there are.

    After a SimulatorError, :meth:`start` starts missing simulators and continues with the next episodes. A
    scenario whose transport lacks a field that the task observes or the reward reads raises a ScenarioError.

    Args:
        sampler: the scenario of each episode's number, or one for all: a Scenario, its keys, its YAML file or
            its name. Its seed is replaced by the episode's.
        program, args: an ns-3 script as it was built (docs/ns3.md) and its arguments, instead of ``sampler``;
            a run for each episode.
        num_simulators: number of simulator processes.
        slots: flows under the agent that may be under way at once in one scenario; flow slots are
            0 ... slots - 1.
        fields, reward, action, telemetry_bytes, task: see :class:`ns3_env.decision.task.Task`; ``task``
            replaces the first four.
        seed: base seed.
        seeds: seeds of the episodes themselves, the last one for all that follow; () draws them from the base
            seed.
        ordered: rows come in an order that depends on no timing, so that training can be reproduced; else
            from whichever simulators have answered.
        executable: see :class:`ns3_env.simulator.Simulator`.
    """

    def __init__(
        self,
        sampler: Sampler | ScenarioLike | Script | None = None,
        *,
        program: str | PathLike[str] | None = None,
        args: Sequence[str] = (),
        num_simulators: int = 1,
        slots: int = 1,
        fields: Sequence[str] = observations.FDCC_FIELDS,
        reward: RewardLike = DEFAULT_REWARD,
        action: ActionLike | None = None,
        task: Task | None = None,
        seed: int = 1,
        seeds: Sequence[int] = (),
        ordered: bool = True,
        executable: str | PathLike[str] | None = None,
        telemetry_bytes: int | None = None,
    ) -> None:
        if num_simulators < 1 or slots < 1:
            raise ValueError(f"num_simulators ({num_simulators}) and slots ({slots}) must be at least 1")
        if (sampler is None) == (program is None):
            raise TypeError("sampler or program: give the one that is played")
        if program is not None:
            sampler = Script(program, tuple(args), slots=slots)
        assert sampler is not None
        self.sampler = sampler_of(sampler)
        self.num_simulators = num_simulators
        self.slots = slots
        self.ordered = ordered
        self.task = Task.of(task, fields, reward, action, telemetry_bytes)
        self._simulators = [
            Simulator(max(64, 2 * slots), executable=executable) for _ in range(num_simulators)
        ]
        self._base_seed = seed
        self._given_seeds = tuple(seeds)
        self._episodes = [-1] * num_simulators  # number of the episode each runs
        self._next_episodes = list(range(num_simulators))
        self._episode_seeds = [0] * num_simulators
        self._owed: list[NDArray[np.int64] | None] = [None] * num_simulators  # slots that wait for actions
        self._owed_records: list[NDArray[np.float64]] = [np.empty((0, 0))] * num_simulators
        self._lanes = [SlotAllocator(slots) for _ in range(num_simulators)]
        self._scenarios: dict[int, Scenario | Script | Mapping[str, Any]] = {}  # that each simulator runs
        self._checked: Scenario | Script | Mapping[str, Any] | None = None  # the last one checked
        self._cursor = 0
        self._results: list[tuple[int, dict[str, Any]]] = []
        self._one_action = self.task.action_space
        shape = self._one_action.shape or ()
        self._actions = np.zeros((num_simulators * slots, *shape), dtype=np.float64)
        self._untouched = [False] * num_simulators  # no slot of those that are owed has its action yet
        self._pending = np.zeros(num_simulators * slots, dtype=np.bool_)  # slots whose action is to come
        self._closed = False
        self._health = HealthCheck(self._simulators)
        self._together = LockStep(self._simulators, slots)
        self._joint: JointDecisions | None = None  # all of their messages, received together

    def start(self) -> None:
        """Starts a new episode in every simulator, without waiting; :meth:`recv` has its first rows."""
        if self._closed:
            raise RuntimeError("the environment is closed")
        self._results.clear()
        self._pending[:] = False
        self._cursor = 0
        self._joint = None
        for i in range(self.num_simulators):
            self._owed[i] = None
        for i in range(self.num_simulators):
            self._begin_episode(i)

    @property
    def next_episodes(self) -> list[int]:
        """Number of the episode that each simulator starts next."""
        return list(self._next_episodes)

    def go_on_with(self, episodes: Sequence[int]) -> None:
        """Sets the episodes that the next :meth:`start` starts with.

        Args:
            episodes: ``next_episodes`` of an environment with the same seed. With another number of
                simulators, all continue after the last one of them.
        """
        if len(episodes) != self.num_simulators:
            first = max(episodes)
            episodes = range(first, first + self.num_simulators)
        self._next_episodes = list(episodes)

    def _begin_episode(self, i: int, *, replace: bool = True) -> None:
        episode = self._next_episodes[i]
        self._next_episodes[i] += self.num_simulators
        seeds = self._given_seeds
        seed = seeds[min(episode, len(seeds) - 1)] if seeds else episode_seed(self._base_seed, episode)
        scenario = self.sampler(episode)
        if scenario is not self._checked or isinstance(scenario, Mapping):
            self.task.check(scenario)
            self._checked = scenario
        seeded: Scenario | Script | Mapping[str, Any]
        if isinstance(scenario, Mapping):
            seeded = {**scenario, "seed": seed}
        else:
            seeded = self.task.posed_on(scenario).with_seed(seed)
        self._lanes[i].forget()
        self._scenarios[i] = seeded
        self._simulators[i].send_reset(seeded, replace=replace)
        self._episodes[i], self._episode_seeds[i] = episode, seed

    def recv(self, *, wait_all: bool = False) -> Batch:
        """Waits for the rows of at least one simulator; at least one row comes.

        Args:
            wait_all: true to wait until every running simulator has rows that need an action.

        Raises:
            SimulatorError: a simulator died or hung, or was stopped, whether its rows are waited for or not:
                within a second. :meth:`start` starts again.
            ScenarioError: a simulator refuses its scenario, or more flows are under way than there are slots.
            RuntimeError: nothing was requested: :meth:`start` or :meth:`send` come first.
        """
        parts: list[tuple[int, DecisionBatch]] = []
        if wait_all and self._joint is None:
            if (together := self._receive_together()) is not None:
                return together
            for i in self._waiting():
                self._receive(i, parts, until_due=True)
        elif self.ordered:
            waiting = self._waiting()
            if waiting:
                i = min(waiting, key=lambda j: (j - self._cursor) % self.num_simulators)
                self._cursor = (i + 1) % self.num_simulators
                self._receive(i, parts)
        else:
            while not parts and (waiting := self._waiting()):
                ready = waiting.pop(wait_any([self._simulators[i] for i in waiting], self._health))
                self._receive_one(ready, parts)
                for i in waiting:
                    if self._simulators[i].answered():
                        self._receive_one(i, parts)
        if not parts:
            raise RuntimeError("no simulator is at work: start() or send() come first")
        return self._batch(parts)

    def _receive_together(self) -> Batch | None:
        """The rows of all simulators, if all flows continue and each has the slot of its number."""
        self._health()
        if not all(lane.is_plain for lane in self._lanes):
            return None
        joint = self._together.receive(self._health)
        if joint is None:
            return None
        self._joint = joint
        return self._batch_of(joint[:8], goes_on=True)

    def _untie(self) -> None:
        """Keeps the actions owed for a joint message by simulator from now on."""
        if (joint := self._joint) is not None:
            self._joint, at = None, 0
            for i, count in enumerate(joint.counts):
                rows = slice(at, at := at + count)
                self._owe(i, joint.slots[rows], joint.records[rows])

    def _waiting(self) -> list[int]:
        return [i for i, simulator in enumerate(self._simulators) if simulator.waiting]

    def _receive(self, i: int, parts: list[tuple[int, DecisionBatch]], *, until_due: bool = False) -> None:
        """Appends the next rows of simulator i; after an episode's end the next episode's first rows."""
        count = len(parts) + 1
        last = self._next_episodes[i] + SILENT_EPISODES * self.num_simulators
        while len(parts) < count or (until_due and self._owed[i] is None):
            self._receive_one(i, parts)
            if self._next_episodes[i] >= last and self._owed[i] is None:
                self._simulators[i].kill()
                raise ScenarioError(never_decides(SILENT_EPISODES))

    def _receive_one(self, i: int, parts: list[tuple[int, DecisionBatch]]) -> None:
        self._health()
        simulator = self._simulators[i]
        message = simulator.receive(self._health)
        if isinstance(message, EpisodeEnd):
            end = {**message.results, "episode": self._episodes[i], "seed": self._episode_seeds[i]}
            self._results.append((i, end))
            self._begin_episode(i, replace=False)
            return
        try:
            message = self._lanes[i].place(message)
        except ScenarioError:
            simulator.kill()
            raise
        if message.goes_on:
            self._owe(i, message.slots + i * self.slots, message.records)
        elif (due := message.due).any():
            self._owe(i, message.slots[due] + i * self.slots, message.records[due])
        else:
            simulator.send_actions(())
        if len(message.slots):
            parts.append((i, message))

    def _owe(self, i: int, slots: NDArray[np.int64], records: NDArray[np.float64]) -> None:
        """Simulator i waits for the actions of these slots, which sent these records."""
        self._owed[i], self._owed_records[i], self._untouched[i] = slots, records, True
        self._pending[slots] = True

    def _batch(self, parts: list[tuple[int, DecisionBatch]]) -> Batch:
        columns = _native.join(
            [
                (i, i * self.slots, m.flows, m.slots, m.first, m.terminated, m.truncated, m.due, m.records)
                for i, m in parts
            ]
        )
        return self._batch_of(columns, goes_on=all(message.goes_on for _, message in parts))

    def _batch_of(self, columns: _native.JointColumns, *, goes_on: bool) -> Batch:
        """The rows, with the task's observations and rewards."""
        flows, slots, first, terminated, truncated, due, records, simulators = columns
        outcomes = self.task.outcomes(records, first, terminated, truncated)
        batch = Batch.__new__(Batch)  # as DecisionBatch.of
        batch.__dict__.update(
            slots=slots,
            observations=self.task.observe(records),
            rewards=outcomes.rewards,
            elapsed=outcomes.elapsed,
            final=outcomes.final,
            slowdowns=outcomes.slowdowns,
            first=first,
            terminated=terminated,
            truncated=truncated,
            records=records,
            flows=flows,
            simulators=simulators,
            results=self._results,
            due=due,
            goes_on=goes_on,
        )
        self._results = []
        return batch

    def send(self, actions: ArrayLike, slots: ArrayLike) -> None:
        """Accepts the actions (m, A) of slots (m,) that are due.

        A simulator continues once all its due slots are answered.

        Raises ValueError for a slot that is not due, or named twice, and for an action of another shape or
        that is no number (:mod:`ns3_env.decision.action_faults`): its slot stays due.
        """
        chosen = np.asarray(slots, dtype=np.int64).reshape(-1)
        values = action_rows(actions, "slots", chosen, self._one_action.shape or ())
        if self._send_together(values, chosen):
            return
        if whole := self._whole(chosen):
            for i, rows in whole:
                self._hand_over(i, chosen[rows], values[rows])
            return
        pending = self._pending
        if wrong := sorted({int(slot) for slot in chosen if not pending[slot]}):
            raise ValueError(f"slots that are not due: {wrong}")
        if len(np.unique(chosen)) != len(chosen):
            raise ValueError("a slot is answered twice")
        self._actions[chosen] = values
        pending[chosen] = False
        for i, part in enumerate(self._owed):
            if part is not None and not pending[part].all():
                self._untouched[i] = False
                if not pending[part].any():
                    self._hand_over(i, part, self._actions[part])

    def _send_together(self, values: NDArray[np.float64], chosen: NDArray[np.int64]) -> bool:
        """Sends actions for all rows received together, if in their order; returns whether they were."""
        joint = self._joint
        if joint is not None and chosen.tobytes() == joint.slots.tobytes():
            try:
                self._together.send(self.task.action(values, joint.records), joint.counts)
                self._joint = None
                return True
            except ValueError:
                pass  # one by one it shows whose action is invalid
        self._untie()
        return False

    def _whole(self, chosen: NDArray[np.int64]) -> list[tuple[int, slice]]:
        """Simulators, with their rows, if slots (m,) are all that each waits for, one simulator after the
        other; empty if they are anything else."""
        matches, at, text = [], 0, chosen.tobytes()
        for i, part in enumerate(self._owed):
            if (
                part is not None
                and self._untouched[i]
                and text.startswith(part.tobytes(), at * part.itemsize)
            ):
                matches.append((i, slice(at, at + len(part))))
                at += len(part)
        return matches if at == len(chosen) else []

    def _hand_over(self, i: int, slots: NDArray[np.int64], actions: NDArray[np.float64]) -> None:
        """Simulator i continues with the actions (m, A) of its due slots (m,), all of them."""
        try:
            self._simulators[i].send_actions(self.task.action(actions, self._owed_records[i]))
        except ValueError as error:
            self._pending[slots], self._untouched[i] = True, True
            raise action_fault(actions, "slots", slots.tolist(), self._one_action) or error from None
        self._pending[slots] = False
        self._owed[i], self._untouched[i] = None, False

    def branch(self) -> Self:
        """A copy of all simulations at the decisions that they wait for (:meth:`Simulator.branch`).

        The copy's :meth:`send` accepts the actions that are due; those already given need not be repeated.

        Raises:
            RuntimeError: a simulator computes: ``recv(wait_all=True)`` comes first.
            SimulatorError: there is no memory or process for it.
        """
        self._untie()
        if self._waiting() or not all(owed is not None for owed in self._owed):
            raise RuntimeError(
                "a simulator computes, and has to wait for actions: recv(wait_all=True) comes first"
            )
        simulators: list[Simulator] = []
        try:
            simulators.extend(branch for simulator in self._simulators for branch in simulator.branch())
        except BaseException:
            for simulator in simulators:
                simulator.kill()
            raise
        shared = (self.sampler, self.task, self._checked, *self._scenarios.values())
        return around(
            self,
            shared,
            _simulators=simulators,
            _health=HealthCheck(simulators),
            _together=LockStep(simulators, self.slots),
        )

    def too_few_slots(self) -> str | None:
        """Returns the message on ``slots`` if a running scenario has more flows under the agent than
        that."""
        counts = [x.agent_count for x in self._scenarios.values() if not isinstance(x, Mapping)]
        if (most := max(counts, default=0)) <= self.slots:
            return None
        return (
            f"slots is {self.slots}, and the scenario has {most} flows under the agent: more than "
            f"{self.slots} of them at once will not do, slots={most} always does"
        )

    def close(self) -> None:
        """Ends all simulators; may be called again."""
        self._closed = True
        self._together.forget()
        for simulator in self._simulators:
            simulator.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def pids(self) -> list[int | None]:
        """Process id of each simulator, None if it is not running."""
        return [simulator.pid for simulator in self._simulators]

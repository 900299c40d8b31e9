# SPDX-License-Identifier: GPL-2.0-or-later
"""Several simulators: waited for, checked, or stepped together by one call for all of them."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ns3_env import _native
from ns3_env.simulator.messages import DecisionBatch
from ns3_env.simulator.process import LOOK_S, SLICE_S
from ns3_env.simulator.shared import SharedProcess
from ns3_env.simulator.simulator import Simulator


class JointDecisions(NamedTuple):
    """Decisions of several simulators, k rows, one simulator's after the other's; all of flows that continue.

    Attributes:
        flows, first, terminated, truncated, due, records: see :class:`DecisionBatch`.
        slots: (k,) simulator x slots per simulator + slot of the flow.
        simulators: (k,) simulator of each row.
        counts: rows of each simulator.
        times_ns: simulated time of each simulator.
    """

    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    due: NDArray[np.bool_]
    records: NDArray[np.float64]
    simulators: NDArray[np.int64]
    counts: list[int]
    times_ns: list[float]

    def batch(self, rows: slice, time_ns: float) -> DecisionBatch:
        """These rows, of one simulator, as its own message."""
        return DecisionBatch(
            time_ns,
            self.flows[rows],
            self.slots[rows],
            self.first[rows],
            self.terminated[rows],
            self.truncated[rows],
            self.records[rows],
        )


class LockStep:
    """Simulators of which all are waited for before any continues.

    Attributes:
        simulators: the simulators, in the constructor's order.

    If any message is not decisions of flows that continue, nothing is received, and
    :meth:`Simulator.receive` of each has it.
    """

    def __init__(self, simulators: Sequence[Simulator], slots: int) -> None:
        """
        Args:
            simulators: at least one.
            slots: slots of each simulator; a flow in another slot is also left to :meth:`Simulator.receive`.
        """
        self.simulators = simulators
        self._slots = slots
        self._ends: tuple[_native.AgentChannel | None, ...] = ()
        self._group: _native.ChannelGroup | None = None

    def receive(
        self, meanwhile: Callable[[], object] = lambda: None, *, partly: bool = False
    ) -> JointDecisions | None:
        """Waits for all of them; None if they have to be taken one by one.

        Args:
            partly: true to accept the messages that can be merged; the remaining simulators have no rows.
            meanwhile: function called every 0.02 s during the wait; an exception that it
                raises ends the wait.

        Raises as :meth:`Simulator.receive`.
        """
        group = self._of_now()
        if group is None or not group.waiting:
            return None
        while not group.wait(SLICE_S):
            for simulator in self.simulators:
                simulator.check()
            meanwhile()
        message = group.take(self._slots, partly)
        if message is None:
            return None
        columns, counts, times_ns = message
        return JointDecisions(*columns, counts, times_ns)

    def send(self, actions: NDArray[np.float64], counts: list[int]) -> None:
        """Answers all of them, as :meth:`Simulator.send_actions`: actions (k, 3), a number of rows of each;
        negative: it was sent something else.

        Raises ValueError for an invalid action: then nothing is sent to any simulator.
        """
        group = self._of_now()
        assert group is not None
        group.step(actions, counts)

    def forget(self) -> None:
        """Lets go of the channels, which keep their descriptors as long as they are known here."""
        self._ends, self._group = (), None

    def _of_now(self) -> _native.ChannelGroup | None:
        """The simulators' channels; None if one has none. A simulator that was replaced has another."""
        ends = tuple([simulator._agent for simulator in self.simulators])
        if ends != self._ends:
            present = tuple(end for end in ends if end is not None)
            self._group = _native.ChannelGroup(present) if len(present) == len(ends) else None
            self._ends = ends
        return self._group


def share(simulators: Sequence[Simulator], processes: int) -> list[SharedProcess]:
    """Has simulators that have not started share up to ``processes`` processes, each those of neighbours.

    A simulator without a neighbour in its process has an ordinary one, and so has one with plugins, with a
    script, or with another transport than its neighbours.
    """
    bounds = np.linspace(0, len(simulators), min(processes, len(simulators)) + 1).astype(int)
    shared = []
    for first, end in itertools.pairwise(bounds.tolist()):
        if end - first > 1:
            shared.append(SharedProcess(end - first))
            for place, simulator in enumerate(simulators[first:end]):
                simulator.share(shared[-1], place)
    return shared


def wait_any(simulators: Sequence[Simulator], meanwhile: Callable[[], object] | None = None) -> int:
    """Index of a simulator that has answered; all those given must be waiting.

    ``meanwhile`` is called every 0.02 s while it waits; its exception ends the wait.

    Raises SimulatorDied or SimulatorHung for one that never will.
    """
    ends = [s._agent for s in simulators if s._agent is not None and not s._agent.our_turn]
    if len(ends) != len(simulators) or not ends:
        raise RuntimeError("there is a simulator of which nothing was asked")
    while True:
        index = _native.wait_any(ends, SLICE_S)
        if index >= 0:
            return index
        for simulator in simulators:
            simulator.check()
        if meanwhile is not None:
            meanwhile()


class HealthCheck:
    """Checks several simulators at most every 0.1 s; calls in between cost nothing."""

    def __init__(self, simulators: Sequence[Simulator]) -> None:
        """
        Args:
            simulators: the simulators to check.
        """
        self._simulators = simulators
        self._next_look = 0.0

    def __call__(self) -> None:
        """Raises SimulatorError for any that has died, is stopped or hangs, no matter whose turn it is."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + LOOK_S
            for simulator in self._simulators:
                simulator.check()

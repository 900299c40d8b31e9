# SPDX-License-Identifier: GPL-2.0-or-later
"""Slots that flows occupy in turn, and the mask of those that decide in a step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.errors import PaddingError, ScenarioError
from ns3_env.simulator import DecisionBatch


class SlotAllocator:
    """The slots of one simulator: the maximum number of flows under way at once, whatever their total.

    A flow gets the slot of its number if that is free, otherwise the slot that has been free longest, so that
    all slots are used. A slot whose flow ends may get the next flow in the same message.
    """

    def __init__(self, slots: int) -> None:
        """
        Args:
            slots: most flows under way at once.
        """
        self.slots = slots
        self.forget()

    def forget(self) -> None:
        """A new episode: no flow is under way."""
        self._of: NDArray[np.int64] = np.arange(self.slots)  # slot of each flow, by the flow's own number
        self._taken = np.zeros(self.slots, dtype=np.bool_)
        self._left = np.zeros(self.slots, dtype=np.int64)  # when each slot was left, in slots left before
        self._leavings = 0

    @property
    def is_plain(self) -> bool:
        """True if each flow so far had the slot of its number."""
        return len(self._of) <= self.slots

    def place(self, message: DecisionBatch) -> DecisionBatch:
        """The message with slots in [0, slots) instead of the numbers that the simulator gives flows.

        Raises ScenarioError: more flows are under way than there are slots.
        """
        numbers = message.slots
        least, most = message.slot_range
        if least < 0 or most >= MAX_FLOWS:
            wrong = least if least < 0 else most
            raise ScenarioError(f"a flow under the agent has the number {wrong}, which none can have")
        if most >= len(self._of):
            more = np.arange(len(self._of), 2 * most + 1)
            self._of = np.concatenate([self._of, np.where(more < self.slots, more, 0)])
        if message.goes_on:
            return message if self.slots >= len(self._of) else replace(message, slots=self._of[numbers])
        over = ~message.due
        going = ~message.first
        self._leave(self._of[numbers[over & going]])
        for row in np.flatnonzero(message.first):
            number = int(numbers[row])
            slot = number if number < self.slots and not self._taken[number] else self._longest_free()
            if slot < 0:
                raise ScenarioError(
                    f"a flow begins to decide while {self.slots} other flows do, and the environment has "
                    f"{self.slots} slots per simulator: slots is the most flows under the agent at once"
                )
            self._of[number] = slot
            self._taken[slot] = True
        self._leave(self._of[numbers[over & message.first]])
        return replace(message, slots=self._of[numbers])

    def _leave(self, slots: NDArray[np.int64]) -> None:
        self._taken[slots] = False
        self._left[slots] = self._leavings + np.arange(1, len(slots) + 1)
        self._leavings += len(slots)

    def _longest_free(self) -> int:
        """The slot that is free longest; -1 without one."""
        free = np.flatnonzero(~self._taken)
        return int(free[self._left[free].argmin()]) if len(free) else -1


class Mask:
    """Mask of the rows whose actions the last step applied, and whether a learner heeds it.

    A row without a flow repeats what it saw last, and its action has no effect. Code that stores rows asks
    ``decided`` which ones to store, and confirms with :meth:`acknowledge`; without that, the step that
    would have such a row is an error.

    Attributes:
        decided: (n,) the last step's action was applied to a flow.
        elapsed: (n,) base RTTs of the last step for each such flow.
    """

    def __init__(self, rows: int) -> None:
        """
        Args:
            rows: n, those of each step.
        """
        self.decided: NDArray[np.bool_] = np.zeros(rows, dtype=np.bool_)
        self.elapsed: NDArray[np.float64] = np.zeros(rows)
        self.heeded = False
        self._under_way = 0  # rows whose outcome the last step does not report

    def acknowledge(self) -> None:
        """Confirms that only the rows in ``decided`` are stored."""
        self.heeded = True

    def before_step(self, due: NDArray[np.bool_]) -> None:
        """Starts a step with the actions of the rows that are ``due`` (n,). Raises PaddingError."""
        self.decided = due.copy()
        if self.heeded or np.count_nonzero(due) == len(due):
            return
        idle = int((~due).sum())
        raise PaddingError(
            f"{idle} of {len(due)} rows have no flow that decides in this step: an algorithm that stores "
            "them learns from padding. Give it buffers that leave them out, "
            "ns3_env.envs.sb3_buffers.masked(algorithm); take only decisions with recv() and send(); or, "
            'where you look at info["due"] yourself, call env.mask.acknowledge()'
        )

    def after_step(
        self, due: NDArray[np.bool_], done: NDArray[np.bool_], elapsed: NDArray[np.float64]
    ) -> None:
        """Records the outcome: rows that decide next, rows that ended, and ``elapsed``, (n,) each."""
        self.elapsed = elapsed
        self._under_way = int(np.count_nonzero(self.decided & ~(due | done)))

    def outcomes(self) -> NDArray[np.bool_]:
        """(n,) rows of the last step to be stored: action, reward, next observation or end.

        Raises PaddingError: the outcome of some actions is not known yet.
        """
        if self._under_way:
            raise PaddingError(
                f"{self._under_way} rows decided and their flows go on, but do not decide next: what their "
                "actions led to is not known yet. step() needs the clock 'synchronous'; recv() and send() "
                "take any"
            )
        return self.decided

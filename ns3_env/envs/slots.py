# SPDX-License-Identifier: GPL-2.0-or-later
"""Slots of flows: a flow takes a free one as it begins, and leaves it at its end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ns3_env.config.bounds import MAX_FLOWS
from ns3_env.errors import ScenarioError
from ns3_env.simulator import Decisions


class SlotAllocator:
    """The slots of one simulator: so many flows may be under way at once, however many there are in all.

    A flow gets the slot of its own number where that is free, otherwise the one that is free longest: so
    each slot has its flows. The slot of a flow that ends may be the next one's in the same message.
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

    def place(self, message: Decisions) -> Decisions:
        """The message with slots in [0, slots) in the place of the numbers that the simulator gives flows.

        Raises ScenarioError: more flows are under way than there are slots.
        """
        numbers = message.slots
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < MAX_FLOWS):
            wrong = min(numbers.min(), 0) or numbers.max()
            raise ScenarioError(f"a flow under the agent has the number {wrong}, which none can have")
        if len(numbers) and int(numbers.max()) >= len(self._of):
            more = np.arange(len(self._of), 2 * int(numbers.max()) + 1)
            self._of = np.concatenate([self._of, np.where(more < self.slots, more, 0)])
        over = ~message.due
        if not (message.first.any() or over.any()):
            return message if self.slots >= len(self._of) else replace(message, slots=self._of[numbers])
        going = ~message.first
        self._leave(self._of[numbers[over & going]])
        for row in np.flatnonzero(message.first):
            number = int(numbers[row])
            slot = number if number < self.slots and not self._taken[number] else self._longest_free()
            if slot < 0:
                raise ScenarioError(
                    f"a flow begins to decide while {self.slots} others do, and the environment has "
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
        """-1 where none is free."""
        free = np.flatnonzero(~self._taken)
        return int(free[self._left[free].argmin()]) if len(free) else -1

# SPDX-License-Identifier: GPL-2.0-or-later
"""What must an object offer to decide for flows? The protocol, and states of flows that decide apart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ns3_env.policy import FloatArray, Policy, State

__all__ = ["FloatArray", "Policy", "SlotStates", "State"]


class SlotStates:
    """Keeps the policy states of flows that do not decide at the same instants.

    ``Policy.predict`` returns a state whose rows belong to the rows of its batch. Under an asynchronous
    clock a batch holds the due flows only, so the rows are put away by slot and gathered again when the slot
    is due.
    """

    def __init__(self, policy: Policy, slots: int) -> None:
        """
        Args:
            policy: the policy asked.
            slots: number of slots (flows that can live at once).
        """
        self.policy = policy
        self.slots = slots
        self._state: State | None = None
        self._fresh = np.ones(slots, dtype=bool)

    def forget(self, slots: npt.NDArray[np.intp]) -> None:
        """A new episode begins in each of ``slots`` (m,)."""
        self._fresh[slots] = True

    def predict(
        self, observations: FloatArray, slots: npt.NDArray[np.intp], deterministic: bool = True
    ) -> FloatArray:
        """Actions (m, A) for the due ``slots`` (m,), all different, whose ``observations`` are (m, D)."""
        rows = None if self._state is None else tuple(part[slots] for part in self._state)
        start = self._fresh[slots]
        actions, state = self.policy.predict(observations, rows, start, deterministic)
        if state is not None:
            if self._state is None:
                self._state = tuple(np.zeros((self.slots, *part.shape[1:]), part.dtype) for part in state)
            for kept, part in zip(self._state, state, strict=True):
                kept[slots] = part
        self._fresh[slots] = False
        return actions

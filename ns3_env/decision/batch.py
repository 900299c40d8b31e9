# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch of decisions: rows of flows, and what a task makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Batch:
    """What ``FlowStream.recv()`` returns: k rows, those of one simulator next to each other.

    Attributes:
        slots: (k,) slot of each row: simulator x slots per simulator + slot of the flow. A flow keeps
            its slot from its first row to its last; then it is another flow's.
        observations: (k, D) float32.
        rewards, elapsed, final, slowdowns: (k,) each, of the decision before; see
            :class:`ns3_env.decision.outcomes.Outcomes`.
        first: (k,) a flow's first decision; opens a new episode of the slot.
        terminated: (k,) the flow is done; no action.
        truncated: (k,) the episode was cut; no action.
        records: (k, fields) the whole telemetry records.
        flows: (k,) index of each flow in its scenario.
        simulators: (k,) simulator of each row.
        results: (simulator, results) of each episode that has ended since the last call; the results also
            hold "episode", the episode's number, and "seed".
    """

    slots: NDArray[np.int64]
    observations: NDArray[np.float32]
    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    final: NDArray[np.bool_]
    slowdowns: NDArray[np.float64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]
    flows: NDArray[np.int64]
    simulators: NDArray[np.int64]
    results: list[tuple[int, dict[str, Any]]] = field(default_factory=list)

    @cached_property
    def due(self) -> NDArray[np.bool_]:
        """(k,) rows that need an action."""
        return ~(self.terminated | self.truncated)

    @cached_property
    def goes_on(self) -> bool:
        """Each row is of a flow that decided before and decides now."""
        return not self.first.any() and bool(self.due.all())

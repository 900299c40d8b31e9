# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcomes of decisions: reward, elapsed time and, if a flow is over, its slowdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcomes:
    """Outcomes of k decisions, each reported by the row that follows it.

    Attributes:
        rewards: (k,); 0 on a flow's first row, which no decision led to.
        elapsed: (k,) base RTTs since the flow's last decision, the unit of discounting (Bradtke and Duff
            1994); 0 on its first row.
        final: (k,) true if the following value is 0: the flow is done, or it was cut and the reward has
            charged its remaining bytes.
        cut: (k,) true if the episode ended before the flow.
        slowdowns: (k,) time over ideal time of a flow that ended, of which the time of a truncated flow
            includes that of its remaining bytes at the ideal rate; 0 of endless flows; NaN on earlier rows.
    """

    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    final: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    slowdowns: NDArray[np.float64]

    def infos(self) -> list[dict[str, Any]]:
        """Returns the info of each row: "elapsed", "slowdown" (0 until its flow is over) and
        "cut"."""
        columns = zip(self.elapsed.tolist(), self.slowdowns.tolist(), self.cut.tolist(), strict=True)
        return [
            {"elapsed": since, "slowdown": slowdown if slowdown == slowdown else 0.0, "cut": cut}
            for since, slowdown, cut in columns
        ]


@dataclass(frozen=True)
class Batch:
    """Rows that ``FlowStream.recv()`` returns: k of them, those of one simulator next to each other.

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
        results: (simulator, results) of each episode that has ended since the last call; the results include
            the keys "episode", the episode's number, and "seed".
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

# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of a simulator: decisions that are due, transitions, or an episode's end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from ns3_env import _native


@dataclass(frozen=True)
class DecisionBatch:
    """The flows due at one instant: k rows.

    Attributes:
        time_ns: simulated time.
        flows: (k,) index of each flow in the scenario's flow list.
        slots: (k,) slot of each flow.
        first: (k,) true for the flow's first decision, which carries no reward.
        terminated: (k,) true if the flow is done and needs no action.
        truncated: (k,) true if the episode was cut; no action is needed.
        records: (k, fields) telemetry, in the units of :data:`ns3_env.decision.observations.FIELDS`.
    """

    time_ns: float
    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]

    @cached_property
    def due(self) -> NDArray[np.bool_]:
        """(k,) rows that need an action, in the order of :meth:`Simulator.send_actions`."""
        return ~(self.terminated | self.truncated)

    @cached_property
    def goes_on(self) -> bool:
        """There are rows, and each is of a flow that decided before and decides now."""
        return len(self.slots) > 0 and not self.first.any() and bool(self.due.all())

    @cached_property
    def slot_range(self) -> tuple[int, int]:
        """Least and largest slot; (0, 0) without rows."""
        return (int(self.slots.min()), int(self.slots.max())) if len(self.slots) else (0, 0)

    @classmethod
    def of(cls, agent: _native.AgentChannel, **more: NDArray[np.float64]) -> Self:
        """Reads the channel's message, with ``more`` members."""
        flows, slots, first, terminated, truncated, records, due, goes_on, least, most = agent.rows()
        batch = cls.__new__(cls)  # a frozen class's own constructor costs as much as all the rest
        batch.__dict__.update(
            time_ns=agent.time_ps / 1000,
            flows=flows,
            slots=slots,
            first=first,
            terminated=terminated,
            truncated=truncated,
            records=records,
            due=due,
            goes_on=goes_on,
            slot_range=(least, most),
            **more,
        )
        return batch


@dataclass(frozen=True)
class Transitions(DecisionBatch):
    """Transitions of flows under a policy in the simulator: k rows, in the order of time.

    Attributes:
        actions: (k,) in [-1, 1], exploration included; 0 on rows that needed none.
        windows: (k, 2) resulting window (B) and pacing rate (bit/s).
    """

    actions: NDArray[np.float64]
    windows: NDArray[np.float64]


@dataclass(frozen=True)
class EpisodeEnd:
    """The episode is over; ``results`` is the simulator's account of it (flows, queues, totals)."""

    results: dict[str, Any]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Messages of a simulator: decisions that are due, transitions, or an episode's end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DecisionBatch:
    """The flows due at one instant: k rows.

    Attributes:
        time_ns: simulated time.
        flows: (k,) index of each flow in the scenario's flow list.
        slots: (k,) slot of each flow.
        first: (k,) the flow's first decision, which carries no reward.
        terminated: (k,) the flow is done and needs no action.
        truncated: (k,) the episode was cut; no action is needed.
        records: (k, fields) telemetry, in the units of :data:`ns3_env.task.observations.FIELDS`.
    """

    time_ns: float
    flows: NDArray[np.int64]
    slots: NDArray[np.int64]
    first: NDArray[np.bool_]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    records: NDArray[np.float64]

    @property
    def due(self) -> NDArray[np.bool_]:
        """(k,) rows that need an action, in the order in which :meth:`Simulator.send_actions` takes them."""
        return ~(self.terminated | self.truncated)


@dataclass(frozen=True)
class Transitions(DecisionBatch):
    """What flows under a policy in the simulator saw and did: k rows, in the order of time.

    Attributes:
        actions: (k,) in [-1, 1], exploration included; 0 where none was needed.
        windows: (k, 2) what came of it: window (B) and pacing rate (bit/s).
    """

    actions: NDArray[np.float64]
    windows: NDArray[np.float64]


@dataclass(frozen=True)
class EpisodeEnd:
    """The episode is over; ``results`` is the simulator's account of it (flows, queues, totals)."""

    results: dict[str, Any]

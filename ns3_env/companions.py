# SPDX-License-Identifier: GPL-2.0-or-later
"""Who steers the flows that are not the agent's own? A policy that lives beside the environment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ns3_env.actions import make_action_map
from ns3_env.policy import Policy, State
from ns3_env.telemetry import column


class Companions:
    """Asks one policy for many flows, each with a state of its own."""

    def __init__(self, policy: Policy) -> None:
        """Raises KeyError where the policy's action map is unknown."""
        self._policy = policy
        self._to_actions = make_action_map(policy.action_map)
        self._states: dict[int, State | None] = {}

    def forget(self) -> None:
        """A new episode begins for every flow."""
        self._states.clear()

    def actions(self, records: NDArray[np.float64], flows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Windows, rates and echoes (m, 3) for the due ``flows`` (m,) and their telemetry (m, fields)."""
        answers = np.empty((len(flows), 3))
        for row, flow in enumerate(flows.tolist()):
            record = records[row : row + 1]
            seen = np.stack([column(record, name) for name in self._policy.fields], axis=1)
            chosen, self._states[flow] = self._policy.predict(seen, self._states.get(flow), None, True)
            answers[row] = self._to_actions(chosen, record)[0]
        return answers

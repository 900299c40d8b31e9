# SPDX-License-Identifier: GPL-2.0-or-later
"""Policy in Python for background flows, those that are not the agent's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ns3_env.decision.observations import columns, declared
from ns3_env.policies.policy import Policy, SlotStates, action_map_for


class BackgroundPolicy:
    """Asks one policy for many flows, each with its own state."""

    def __init__(self, policy: Policy) -> None:
        """Raises KeyError if one of the policy's fields or its action map is unknown, ValueError for a wrong
        formula."""
        declared(policy.fields)
        self._fields = policy.fields
        self._to_actions = action_map_for(policy)
        self._states = SlotStates(policy)

    def forget(self) -> None:
        """A new episode starts for every flow."""
        self._states.forget()

    def actions(self, records: NDArray[np.float64], flows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Windows, rates and echoes (m, 3) for the due ``flows`` (m,) and their telemetry (m, fields)."""
        if len(flows) == 0:
            return np.empty((0, 3))
        chosen = self._states.predict(columns(records, self._fields), flows)
        return self._to_actions(chosen, records)

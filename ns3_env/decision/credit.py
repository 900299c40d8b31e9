# SPDX-License-Identifier: GPL-2.0-or-later
"""Difference rewards of decisions, worked out in branches of the simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ns3_env.decision.observations import column
from ns3_env.decision.rewards import Difference
from ns3_env.simulator import EpisodeEnd, Simulator
from ns3_env.simulator.results import charged_slowdowns

Rows = NDArray[np.float64]


class Credits:
    """Credits of decisions under a :class:`Difference` reward.

    Attributes:
        branches: that were played so far.
    """

    def __init__(self, reward: Difference) -> None:
        """Draws hang on the episode's seed, the time and the slot alone."""
        self.reward = reward
        self.branches = 0

    def of(
        self, simulator: Simulator, records: Rows, slots: NDArray[np.int64], actions: Rows, seed: int
    ) -> Rows:
        """Rewards (m,) of the actions (m, 3) that are about to be sent.

        Args:
            simulator: waits for them.
            records: (m, fields) of the rows that are due.
            slots: (m,), their flows'.
            actions: windows, rates and echoes.
            seed: of the episode.

        Raises SimulatorError.
        """
        credits = np.zeros(len(actions))
        current = np.column_stack([column(records, name) for name in ("window_bytes", "rate_bps")])
        others = [
            row
            for row in np.flatnonzero((actions[:, :2] != current).any(axis=1))
            if self._is_drawn(seed, column(records, "time_ns")[row], slots[row])
        ]
        if not others:
            return credits
        until = None
        if self.reward.horizon_rtts is not None:
            ahead = self.reward.horizon_rtts * float(column(records, "base_rtt_ns").max())
            until = float(column(records, "time_ns")[0]) + ahead
        cost = self._cost(simulator, actions, until)
        for row in others:
            alone = actions.copy()
            alone[row, :2] = current[row]
            credits[row] = (self._cost(simulator, alone, until) - cost) / self.reward.share
        return credits

    def _is_drawn(self, seed: int, time_ns: float, slot: int) -> bool:
        if self.reward.share == 1.0:
            return True
        draw = np.random.default_rng([seed, round(time_ns * 1000), int(slot)])
        return bool(draw.random() < self.reward.share)

    def _cost(self, simulator: Simulator, actions: Rows, until_ns: float | None) -> float:
        """Sum of all flows' slowdowns where nothing is decided after these actions."""
        self.branches += 1
        (branch,) = simulator.branch(until_ns=until_ns, asks=False)
        with branch:
            branch.send_actions(actions)
            message = branch.receive()
        assert isinstance(message, EpisodeEnd)
        return float(np.nansum(charged_slowdowns(message.results)))

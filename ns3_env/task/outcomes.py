# SPDX-License-Identifier: GPL-2.0-or-later
"""Outcomes of decisions: reward, elapsed time and, where a flow is over, its slowdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ns3_env.task.observations import column, elapsed
from ns3_env.task.rewards import Reward, settles


@dataclass(frozen=True)
class Outcomes:
    """What came of k decisions, each told by the row that follows it.

    Attributes:
        rewards: (k,); 0 on a flow's first row, which no decision led to.
        elapsed: (k,) base RTTs since the flow's last decision: what a discount counts in (Bradtke and
            Duff 1994); 0 on its first row.
        final: (k,) nothing follows that would be worth anything: the flow is done, or it was cut and the
            reward has charged what was left of it.
        cut: (k,) the episode ended before the flow.
        slowdowns: (k,) NaN but where the flow is over: its completion time over its ideal one, or, where it
            was cut, its time and what its remaining bytes would take at the ideal rate. 0: it has no end.
    """

    rewards: NDArray[np.float64]
    elapsed: NDArray[np.float64]
    final: NDArray[np.bool_]
    cut: NDArray[np.bool_]
    slowdowns: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        reward: Reward,
        records: NDArray[np.float64],
        first: NDArray[np.bool_],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> Outcomes:
        """Those that rows tell: records (k, fields), and (k,) what each row is."""
        rewards = reward(records)
        rewards[first] = 0.0
        since = elapsed(records)
        since[first] = 0.0
        over = terminated | truncated
        return cls(
            rewards=rewards,
            elapsed=since,
            cut=truncated & ~terminated,
            final=over if settles(reward) else terminated,
            slowdowns=np.where(over, column(records, "slowdown"), np.nan),
        )

    def info(self, row: int) -> dict[str, Any]:
        """What an environment's info says of a row: "elapsed", and where its flow is over "slowdown" and
        "cut"."""
        info: dict[str, Any] = {"elapsed": float(self.elapsed[row])}
        slowdown = float(self.slowdowns[row])
        return info if np.isnan(slowdown) else {**info, "slowdown": slowdown, "cut": bool(self.cut[row])}

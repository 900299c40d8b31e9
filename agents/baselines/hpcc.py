# SPDX-License-Identifier: GPL-2.0-or-later
"""HPCC's law as a policy that decides once an RTT (Li 2019, Algorithm 1, without its per-ACK steps)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ns3_env.policies.policy import FloatArray, State

ETA = 0.95  # target utilisation
MAX_STAGE = 5  # additive steps before a multiplicative one
#: Of the flow's BDP that a window grows in an RTT: a host's link leaves 5 % to 20 flows.
INCREASE = (1 - ETA) / 20


class HpccOncePerRtt:
    """Windows from the utilisation of the most congested hop; the simulator's ``hpcc`` decides on every ACK.

    The state of n flows is the number of additive steps (n,) since the last multiplicative one.
    """

    fields: tuple[str, ...] = ("qlen", "switch_rate", "window_bytes", "bdp_bytes")
    action_map: str = "absolute_window"

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Windows (n, 1) in bytes for observations (n, 4)."""
        queue, rate, window, bdp = np.asarray(observation, dtype=np.float64).T
        stage = np.zeros(len(queue), np.int64) if state is None else state[0].copy()
        if episode_start is not None:
            stage[episode_start] = 0
        utilisation = queue + rate  # U, eq. 2
        divides = (utilisation >= ETA) | (stage >= MAX_STAGE)
        reference_window = np.divide(
            window, utilisation / ETA, out=window.copy(), where=divides & (utilisation > 0)
        )
        windows = np.clip(reference_window + INCREASE * bdp, INCREASE * bdp, bdp)
        return windows[:, None], (np.where(divides, 0, stage + 1),)

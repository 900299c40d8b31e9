# SPDX-License-Identifier: GPL-2.0-or-later
"""Which window does MPCC choose, asked from Python? The simulator's own law (C++) as a batched policy.

Zheng 2024, chapters 3 and 4. The same numbers give the same windows, bit for bit, as the in-simulator
controller ``mpcc`` gives at the same instants.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ns3_env import _native
from ns3_env.policy import FloatArray, State


@dataclass(frozen=True)
class MpccSettings:
    """The law's free parameters; the attributes of the simulator's ``mpcc`` have the same names and defaults.

    Attributes:
        horizon: P, steps predicted.
        weight_queue: W_Q, the cost of the queue in BDPs, squared (eq. 4.5).
        weight_window: W_R, the cost of the window's distance from its fair share in BDPs, squared.
        floor_packets: least window in packets; below one the flow is paced.
        floor_share: least window as a share of the fair share.
        delay_scale: factor on the delay that is compensated (eq. 3.7); 0 for none.
        interval_scale: factor on the model's interval (eq. A.1).
        acks_per_decision: ACKs from one decision to the next, the model's step; 0 for a round trip. The
            environment's clock has to match: it is what makes the policy decide.
        solver: "qp" (the QP's optimum) or "lqr" (the closed form inside the constraints, unproven).
        shortcut: with "qp", take the closed form where it is proven to be the optimum; otherwise ask qpOASES
            for every decision.
    """

    horizon: int = 5
    weight_queue: float = 1.0
    weight_window: float = 10.0
    floor_packets: float = 0.01
    floor_share: float = 0.1
    delay_scale: float = 1.0
    interval_scale: float = 1.0
    acks_per_decision: int = 1
    solver: Literal["qp", "lqr"] = "qp"
    shortcut: bool = True


class MpccPolicy:
    """Model predictive congestion control as a policy: telemetry in, windows in bytes out.

    The state of n flows is one object array (n,) of their laws, each with its remembered inputs and its
    hot-started solver. Observations are raw telemetry in float64; float32 works, its windows then differ in
    the seventh digit.
    """

    fields: tuple[str, ...] = tuple(_native.mpcc_fields())
    action_map: str = "absolute_window"

    def __init__(self, settings: MpccSettings | None = None) -> None:
        """Raises ValueError for a horizon below 1, weights that are not positive or an unknown solver."""
        self.settings = settings or MpccSettings()
        self._new_law()

    def _new_law(self) -> _native.MpccLaw:
        return _native.MpccLaw(**asdict(self.settings))

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Windows (n, 1) in bytes, float64, for observations (n, D) of the declared ``fields``.

        Raises ValueError where a row holds what no flow can have (no BDP, a negative queue, NaN).
        """
        rows = np.ascontiguousarray(observation, dtype=np.float64)
        laws = np.empty(len(rows), dtype=object)
        if state is not None:
            laws[:] = state[0]
        for i in range(len(rows)):
            if state is None or (episode_start is not None and episode_start[i]):
                laws[i] = self._new_law()
        windows = _native.mpcc_decide(laws.tolist(), rows)
        return windows.reshape(-1, 1), (laws,)

    @staticmethod
    def counters(state: State) -> dict[str, int]:
        """Sums over the flows of a state: decisions, solves, unconstrained, saturated, infeasible, failures
        and working_set_changes."""
        sums: dict[str, int] = {}
        for law in state[0]:
            for name, value in law.counters.items():
                sums[name] = sums.get(name, 0) + value
        return sums

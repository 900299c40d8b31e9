# SPDX-License-Identifier: GPL-2.0-or-later
"""MPCC as a batched policy, computed by the simulator's own controller (C++).

Zheng 2024, chapters 3 and 4. The same numbers give the same windows, bit for bit, as the in-simulator
controller ``mpcc`` gives at the same instants.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ns3_env import _native
from ns3_env.policies.policy import FloatArray, State


class MpccPolicy:
    """Model predictive congestion control as a policy: telemetry in, windows in bytes out.

    The state of n flows is one object array (n,) of their controllers with its remembered inputs and its
    hot-started solver. Observations are raw telemetry in float64; float32 works, its windows then differ in
    the seventh digit.

    Attributes:
        parameters: the controller's parameters with their values.
    """

    fields: tuple[str, ...] = tuple(_native.mpcc_fields())
    action_map: str = "absolute_window"

    def __init__(self, **parameters: Any) -> None:
        """
        Args:
            parameters: parameters of the controller, as ``_native.mpcc_parameters()`` declares them; the
                other ones keep its defaults. They are the attributes of the simulator's ``mpcc`` in
                snake_case, ``weight_window`` for ``WeightWindow``, and are described there (``rdma-sim
                --PrintAttributes=rdma::mpcc``, docs/controllers.md). With ``acks_per_decision``, the clock of
                the environment has to match: it triggers the policy's decisions.

        Raises:
            TypeError: there is no such parameter, or it cannot have that value.
            ValueError: for a horizon below 1, weights that are not positive or an unknown solver.
        """
        self.parameters: dict[str, Any] = {**_native.mpcc_parameters(), **parameters}
        self._new_controller()

    def _new_controller(self) -> _native.MpccControl:
        return _native.MpccControl(**self.parameters)

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Windows (n, 1) in bytes, float64, for observations (n, D) of the declared ``fields``.

        Raises ValueError if a row has values that no flow can have (no BDP, a negative queue, NaN).
        """
        rows = np.ascontiguousarray(observation, dtype=np.float64)
        controllers = np.empty(len(rows), dtype=object)
        if state is not None:
            controllers[:] = state[0]
        for i in range(len(rows)):
            if state is None or (episode_start is not None and episode_start[i]):
                controllers[i] = self._new_controller()
        windows = _native.mpcc_decide(controllers.tolist(), rows)
        return windows.reshape(-1, 1), (controllers,)

    @staticmethod
    def counters(state: State) -> dict[str, int]:
        """Sums over the flows of a state: decisions, solves, unconstrained, saturated, infeasible, failures
        and working_set_changes."""
        sums: dict[str, int] = {}
        for controller in state[0]:
            for name, value in controller.counters.items():
                sums[name] = sums.get(name, 0) + value
        return sums

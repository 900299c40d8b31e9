# SPDX-License-Identifier: GPL-2.0-or-later
"""What must an object offer to decide for flows?"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[Any]
State = tuple[npt.NDArray[Any], ...]


@runtime_checkable
class Policy(Protocol):
    """Stable-Baselines3's ``predict`` over a batch of flows, plus what the policy reads and what its action
    means.

    Attributes:
        fields: names of the telemetry fields it reads, in the order of its observation's columns.
        action_map: name of the action map (``ns3_env.actions``) that turns its action into a window and a
            rate.
    """

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def action_map(self) -> str: ...

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Decides for a batch of flows.

        Args:
            observation: (n, D), the declared fields of n flows that are due.
            state: what the last call returned for the same n flows; None where all of them begin.
                Every array in it has n rows, so rows may be taken out and put back flow by flow.
            episode_start: (n,) true where a flow's state must be forgotten.
            deterministic: no exploration.

        Returns:
            Actions (n, A) and the next state.
        """
        ...

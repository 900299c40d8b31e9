# SPDX-License-Identifier: GPL-2.0-or-later
"""Baseline policies that observe nothing: random actions and a constant action."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ns3_env.policies.policy import FloatArray, State


class ConstantPolicy:
    """Always the same action, e.g. 0 under ``multiplicative_window``: the window stays as it is."""

    def __init__(
        self, action: Sequence[float], fields: Sequence[str], action_map: str = "multiplicative_window"
    ) -> None:
        """
        Args:
            action: the action (A,).
            fields: fields of the observation; they are not read.
            action_map: name of the action map.
        """
        self.action = np.asarray(action, dtype=np.float32)
        self.fields = tuple(fields)
        self.action_map = action_map

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """The constant action for each row: (n, A)."""
        return np.tile(self.action, (len(observation), 1)), state


class RandomPolicy:
    """Uniform in [-1, 1], from its own seeded generator."""

    def __init__(
        self,
        fields: Sequence[str],
        action_map: str = "multiplicative_window",
        seed: int = 0,
        action_dim: int = 1,
    ) -> None:
        """
        Args:
            fields: fields of the observation; they are not read.
            action_map: name of the action map.
            seed: seed of the generator.
            action_dim: A.
        """
        self.fields = tuple(fields)
        self.action_map = action_map
        self.action_dim = action_dim
        self._random = np.random.default_rng(seed)

    def predict(
        self,
        observation: FloatArray,
        state: State | None = None,
        episode_start: npt.NDArray[np.bool_] | None = None,
        deterministic: bool = False,
    ) -> tuple[FloatArray, State | None]:
        """Random actions (n, A); ``deterministic`` has no effect."""
        actions = self._random.uniform(-1.0, 1.0, size=(len(observation), self.action_dim))
        return actions.astype(np.float32), state

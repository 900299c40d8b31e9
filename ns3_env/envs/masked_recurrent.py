# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollout buffer of decisions only for sb3-contrib's RecurrentPPO."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from ns3_env.envs.masked_rows import MaskedBufferMixin


class MaskedRecurrentRolloutBuffer(MaskedBufferMixin, RecurrentRolloutBuffer):
    """A RecurrentRolloutBuffer whose sequences hold decisions.

    Nothing is torn apart: between two rows of one flow there is no padding, and a flow's first row begins a
    sequence. Minibatches hold ``batch_size`` decisions on average, and at least two, for RecurrentPPO divides
    by the spread of their advantages.
    """

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[RecurrentRolloutBufferSamples, None, None]:
        self.decisions = self.flat_decisions()
        count = int(self.decisions.sum())
        if count < 2:
            raise ValueError(f"{count} decision in {self.buffer_size} steps: raise n_steps")
        rows = self.buffer_size * self.n_envs
        size = None if batch_size is None else -(-batch_size * rows // count)
        of_rows: Any = super().get(size)  # what _get_samples gives
        for chosen in none_alone([chosen for chosen in of_rows if len(chosen)]):
            yield super()._get_samples(chosen, self._env_change)

    def _get_samples(  # type: ignore[override]
        self, batch_inds: npt.NDArray[Any], env_change: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> npt.NDArray[Any]:
        """Which of a minibatch's rows are decisions."""
        self._env_change = env_change
        chosen: npt.NDArray[Any] = batch_inds[self.decisions[batch_inds]]
        return chosen


def none_alone(several: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Minibatches' rows, where a single one goes to the next minibatch, or the last to the one before."""
    found: list[npt.NDArray[Any]] = []
    for rows in several:
        if found and (len(found[-1]) < 2 or (rows is several[-1] and len(rows) < 2)):
            found[-1] = np.concatenate([found[-1], rows])
        else:
            found.append(rows)
    return found

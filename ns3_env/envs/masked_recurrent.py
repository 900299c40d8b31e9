# SPDX-License-Identifier: GPL-2.0-or-later
"""Rollout buffer of decisions only for sb3-contrib's RecurrentPPO."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy.typing as npt
from sb3_contrib.common.recurrent.buffers import RecurrentRolloutBuffer
from sb3_contrib.common.recurrent.type_aliases import RecurrentRolloutBufferSamples
from stable_baselines3.common.vec_env import VecNormalize

from ns3_env.envs.masked_rows import MaskedBufferMixin


class MaskedRecurrentRolloutBuffer(MaskedBufferMixin, RecurrentRolloutBuffer):
    """A RecurrentRolloutBuffer whose sequences hold decisions.

    Nothing is torn apart: between two rows of one flow there is no padding, and a flow's first row begins a
    sequence. Minibatches hold ``batch_size`` decisions on average.
    """

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[RecurrentRolloutBufferSamples, None, None]:
        self.decisions = self.flat_decisions()
        rows = self.buffer_size * self.n_envs
        size = None if batch_size is None else -(-batch_size * rows // int(self.decisions.sum()))
        for samples in super().get(size):
            if samples is not None:
                yield samples

    def _get_samples(  # type: ignore[override]
        self, batch_inds: npt.NDArray[Any], env_change: npt.NDArray[Any], env: VecNormalize | None = None
    ) -> RecurrentRolloutBufferSamples | None:
        chosen = batch_inds[self.decisions[batch_inds]]
        return super()._get_samples(chosen, env_change, env) if len(chosen) else None

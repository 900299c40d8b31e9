# SPDX-License-Identifier: GPL-2.0-or-later
"""Features extractor that compresses telemetry, which spans decades, before the network."""

from __future__ import annotations

import torch as th
from stable_baselines3.common.torch_layers import FlattenExtractor


class Symlog(FlattenExtractor):
    """sign(x)·ln(1+|x|) of each input, as a policy's file has it (``transform: symlog``).

    ``policy_kwargs={"features_extractor_class": Symlog}`` of any Stable-Baselines3 algorithm.
    """

    def forward(self, observations: th.Tensor) -> th.Tensor:
        """Observations (B, D) to features (B, D)."""
        flat = super().forward(observations)
        return th.sign(flat) * th.log1p(th.abs(flat))
